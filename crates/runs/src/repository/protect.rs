//! Protected files: kept while a hook runs, and restored if it changed them.

use accord_runs_core::hooks::{PROTECTED_FILES, is_unchanged};
use accord_trees::{Disk, atomic, read_file};

use super::{Repository, Result, limits};

#[derive(Clone, Debug)]
pub struct Protected {
    files: Vec<(String, Option<Vec<u8>>)>,
}

impl Repository {
    /// Reads the protected files, and these in addition. Fails if one of them cannot be read; the
    /// hook must not run then.
    pub fn protect(&self, more: &[String]) -> Result<Protected> {
        let paths = PROTECTED_FILES.iter().map(|path| (*path).to_owned());
        let mut files = Vec::new();
        for path in paths.chain(more.iter().cloned()) {
            let bytes = read_file(self.disk(), &path, limits::PROTECTED)?;
            files.push((path, bytes));
        }
        Ok(Protected { files })
    }
}

/// Restores what has changed, and returns its paths.
pub(super) fn restore(disk: &dyn Disk, before: &Protected) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (path, bytes) in &before.files {
        // A file that cannot be read any more (a link out of the repository, or larger than it
        // was) has changed.
        let limit = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let now = read_file(disk, path, limit).ok();
        if is_unchanged(bytes.as_deref(), now.as_ref().map(Option::as_deref)) {
            continue;
        }
        changed.push(path.clone());
        // A folder or a pipe in its place must go first: `write` does not replace it.
        if now.is_none() || bytes.is_none() {
            disk.remove_tree(path)?;
        }
        if let Some(bytes) = bytes {
            atomic::write(disk, path, bytes)?;
        }
    }
    Ok(changed)
}
