//! Files that no hook may change, kept while one runs.

use accord_runs_core::hooks::PROTECTED_FILES;
use accord_runs_core::rule;

use super::Repository;
use crate::disk::{self, Disk};
use crate::{Result, atomic, limits};

/// What protected files were like.
#[derive(Clone, Debug)]
pub struct Protected {
    files: Vec<(String, Option<Vec<u8>>)>,
}

impl Repository {
    /// Keeps the protected files, and these beside them, as they are now.
    ///
    /// # Errors
    /// When one of them cannot be read; nothing should run then.
    pub fn protect(&self, more: &[String]) -> Result<Protected> {
        let paths = PROTECTED_FILES.iter().map(|path| (*path).to_owned());
        let mut files = Vec::new();
        for path in paths.chain(more.iter().cloned()) {
            let bytes = disk::read(self.disk(), &path, limits::PROTECTED)?;
            files.push((path, bytes));
        }
        Ok(Protected { files })
    }
}

/// Puts back what is not as it was, and names it.
pub(super) fn restore(disk: &dyn Disk, before: &Protected) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (path, bytes) in &before.files {
        // What cannot be read any more, say because it is a link out of the repository or has
        // grown without end, is not what it was.
        let limit = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let now = disk::read(disk, path, limit).ok();
        if rule!(
            now.as_ref() == Some(bytes);
            TamperByLength => now.as_ref().is_some_and(|now| {
                now.as_ref().map(Vec::len) == bytes.as_ref().map(Vec::len)
            });
            TamperUnnoticed => true
        ) {
            continue;
        }
        changed.push(path.clone());
        if now.is_none() || bytes.is_none() {
            disk.remove_tree(path)?;
        }
        if let Some(bytes) = bytes {
            atomic::write(disk, path, bytes)?;
        }
    }
    Ok(changed)
}
