//! The commit that makes accepted work last.

use accord_contract::codes::Failure;

use super::Git;

impl Git {
    /// Commits these files as they are now, deleted ones included, and nothing else; gives the
    /// new commit.
    ///
    /// # Errors
    /// With `git_failed`, as when nobody is configured as the author.
    pub fn commit(&self, files: &[String], message: &str) -> Result<String, Failure> {
        let mut list = Vec::new();
        for file in files {
            // Paths in a list are relative to the folder that git runs in.
            list.extend(file.as_bytes());
            list.push(0);
        }
        let from_list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        self.ask(&["add", "--all", from_list[0], from_list[1]], list.clone())?;
        let arguments = [
            "commit",
            "--quiet",
            "--no-verify",
            "--only",
            "--message",
            message,
            from_list[0],
            from_list[1],
        ];
        self.ask(&arguments, list)?;
        let said = self.ask(&["rev-parse", "--verify", "HEAD"], Vec::new())?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }
}
