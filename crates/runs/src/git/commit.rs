//! The commit that makes accepted work last.

use std::path::Path;

use accord_contract::codes::Failure;

use super::Git;

impl Git {
    /// Commits these files as they are now, deleted ones included, and nothing else; gives the
    /// new commit, or `None` when none of them differs from the last one.
    ///
    /// # Errors
    /// `git_failed`, as when nobody is configured as the author.
    pub fn commit(&self, files: &[String], message: &str) -> Result<Option<String>, Failure> {
        // A file that somebody removed from the index already is unknown there, which `git add`
        // takes for a mistake.
        let (there, gone): (Vec<&String>, Vec<&String>) =
            files.iter().partition(|file| is_there(&self.root, file));
        for (how, files) in [("--force-remove", gone), ("--replace", there)] {
            if !files.is_empty() {
                let take = ["update-index", "--add", how, "-z", "--stdin"];
                self.ask(&take, list_of(files.into_iter()))?;
            }
        }
        let staged = self.staged()?;
        // One that was added and deleted since the last commit is no part of any.
        let is_staged =
            |file: &&String| staged.contains(format!("{}{file}", self.prefix).as_bytes());
        let mut differing: Vec<&String> = files.iter().filter(is_staged).collect();
        if differing.is_empty() {
            return Ok(None);
        }
        let mut arguments = vec!["commit", "--quiet", "--no-verify", "--message", message];
        let mut list = Vec::new();
        // Where others have staged something too, that stays as it is. Else the index is the
        // commit, which git has fewer reservations about than about a part of it.
        if differing.len() < staged.len() {
            let part = ["--only", "--pathspec-from-file=-", "--pathspec-file-nul"];
            arguments.extend(part);
            // Git would look behind what took the place of a file or its folder, which stands in
            // the list itself.
            let replaced = |file: &str| {
                !is_there(&self.root, file) && self.root.join(file).symlink_metadata().is_ok()
            };
            differing.retain(|file| !replaced(file));
            list = list_of(differing.into_iter());
        }
        self.ask(&arguments, list)?;
        let said = self.ask(&["rev-parse", "--verify", "HEAD"], Vec::new())?;
        Ok(Some(String::from_utf8_lossy(&said).trim().to_owned()))
    }
}

/// Whether git has something to take at a path: what lies behind a link is not there, and a
/// folder is its files, unless it is a repository of its own.
fn is_there(root: &Path, file: &str) -> bool {
    let place = root.join(file);
    let behind_link = place
        .ancestors()
        .skip(1)
        .take_while(|folder| *folder != root)
        .any(Path::is_symlink);
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => !behind_link && place.join(".git").exists(),
        Ok(_) => !behind_link,
        // What cannot be looked at is for git to complain about.
        Err(error) => !super::marker::is_gone(&error),
    }
}

/// Names as git reads them: relative to the folder that it runs in, each with a zero behind it.
fn list_of<'f>(files: impl Iterator<Item = &'f String>) -> Vec<u8> {
    let mut list = Vec::new();
    for file in files {
        list.extend(file.as_bytes());
        list.push(0);
    }
    list
}
