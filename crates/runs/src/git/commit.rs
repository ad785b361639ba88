//! Checkpoint commits.

use std::path::Path;

use accord_process::Ending;

use super::{Git, list_of};
use accord_runs_core::Result;

impl Git {
    /// Commits these files as they are now, deleted ones included, and nothing else. Returns the
    /// new commit, or `None` if none of the files differs from the last commit. Fails with
    /// `git_failed`, for example if no author is configured.
    pub fn commit(&self, files: &[String], message: &str) -> Result<Option<String>> {
        // `git add` fails for a file that was already removed from the index.
        let (there, gone): (Vec<&String>, Vec<&String>) =
            files.iter().partition(|file| is_there(&self.root, file));
        for (how, files) in [("--force-remove", gone), ("--replace", there)] {
            if !files.is_empty() {
                let take = ["update-index", "--add", how, "-z", "--stdin"];
                self.ask(&take, list_of(files))?;
            }
        }
        // Compared by git: the user may have staged other files, or committed these.
        let staged = self.staged()?;
        // A file that was added and deleted since the last commit is in no commit.
        let name = |file: &String| format!("{}{file}", self.prefix);
        let is_staged = |file: &&String| staged.contains(name(file).as_bytes());
        let mut differing: Vec<&String> = files.iter().filter(is_staged).collect();
        if differing.is_empty() {
            return Ok(None);
        }
        let whole = differing.len() == staged.len();
        if whole && !self.is_merging()? {
            return self.commit_index(message).map(Some);
        }
        let mut arguments = vec!["commit", "--quiet", "--no-verify", "--message", message];
        let mut list = Vec::new();
        // Other files that are staged stay staged. Without any the index is the commit: git refuses
        // partial commits in more situations than whole ones.
        if !whole {
            arguments.extend(["--only", "--pathspec-from-file=-", "--pathspec-file-nul"]);
            // Git would follow a link or folder that replaced a file or its folder; that
            // replacement is in the list itself.
            let replaced = |file: &str| {
                !is_there(&self.root, file) && self.root.join(file).symlink_metadata().is_ok()
            };
            differing.retain(|file| !replaced(file));
            list = list_of(differing);
        }
        self.ask(&arguments, list)?;
        let output = self.ask(&["rev-parse", "--verify", "HEAD"], Vec::new())?;
        Ok(Some(name_in(&output)))
    }

    /// Commits the index as it is. `git commit` would compare every tracked file with it first, and
    /// read a history that was tracked when it was empty from its beginning to its end.
    fn commit_index(&self, message: &str) -> Result<String> {
        let tree = name_in(&self.ask(&["write-tree"], Vec::new())?);
        let head = self.resolve("HEAD")?;
        let mut arguments = vec!["commit-tree", tree.as_str()];
        if let Some(head) = &head {
            arguments.extend(["-p", head]);
        }
        let commit = name_in(&self.ask(&arguments, message.as_bytes().to_vec())?);
        let about = format!("commit: {}", message.lines().next().unwrap_or_default());
        // The old value: another commit that was made meanwhile must not be lost.
        let old = head.unwrap_or_else(|| "0".repeat(commit.len()));
        self.ask(&["update-ref", "-m", &about, "HEAD", &commit, &old], Vec::new())?;
        Ok(commit)
    }

    /// Whether a merge, a cherry-pick or a revert waits for its commit, which `git commit` makes.
    fn is_merging(&self) -> Result<bool> {
        for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
            if self.resolve(name)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn resolve(&self, name: &str) -> Result<Option<String>> {
        let outcome = self.start(&["rev-parse", "--quiet", "--verify", name], Vec::new())?;
        Ok((outcome.ending == Ending::Exited(0)).then(|| name_in(&outcome.stdout)))
    }
}

fn name_in(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

/// Whether git can add a path. A file behind a link does not exist for git, and a folder is its
/// files, unless it is a repository of its own.
fn is_there(root: &Path, file: &str) -> bool {
    let place = root.join(file);
    let mut folders = place.ancestors().skip(1).take_while(|folder| *folder != root);
    let behind_link = folders.any(Path::is_symlink);
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => !behind_link && place.join(".git").exists(),
        Ok(_) => !behind_link,
        // If the path cannot be read, git reports the error.
        Err(error) => !super::marker::is_gone(&error),
    }
}
