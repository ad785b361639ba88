//! The rejections of governed runs that a memory was told and that took nothing back. No package
//! of the memory says that it knows them.
//!
//! The note is in the state folder of the user, and not in the repository: it is about one memory.
//! Without it, or if it cannot be written, a rejection is told again, which changes nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use accord_canon::sha256;
use accord_process::user_state_folder;

use crate::host::{Target, TargetArgs};

/// How many are remembered. Older rejections are not looked at.
const MOST: usize = 100;

/// What the memory of a project was told about a repository.
pub(super) struct Told {
    path: PathBuf,
}

impl Told {
    pub(super) fn of(repository: &Path, target: &TargetArgs, project: &str) -> Option<Self> {
        let place = match target.target().ok()? {
            Target::Server { url, .. } => url,
            Target::Folder(folder) => folder.canonicalize().ok()?.display().to_string(),
            Target::Attempt(_) => return None,
        };
        let repository = repository.canonicalize().ok()?.display().to_string();
        let mut name = sha256([&repository, &place, project].join("\n").as_bytes()).hex();
        name.truncate(32);
        Some(Self { path: user_state_folder()?.join("accord/told").join(name) })
    }

    /// The ids of the packages that would say so.
    pub(super) fn read(&self) -> BTreeSet<String> {
        self.lines().into_iter().collect()
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Adds one, after the memory answered.
    pub(super) fn add(&self, id: &str) {
        let mut lines = self.lines();
        lines.push(id.to_owned());
        lines.drain(..lines.len().saturating_sub(MOST));
        // Not written is told again.
        drop(self.write(&(lines.join("\n") + "\n")));
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let part = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(part.path(), text)?;
        part.as_file().sync_all()?;
        part.persist(&self.path)?;
        Ok(())
    }
}
