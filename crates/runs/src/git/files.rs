//! Questions about single files.

use std::collections::BTreeSet;

use accord_process::Ending;

use super::status::names;
use super::{Git, MAX_OUTPUT, failure};
use accord_runs_core::Result;

/// How many commits are listed.
const MOST_TITLES: usize = 50;

impl Git {
    /// Those of the files that git ignores. A file that git tracks is not ignored.
    pub(crate) fn ignored(&self, files: &[String]) -> Result<BTreeSet<String>> {
        let outcome = self.start(&["check-ignore", "-z", "--stdin"], super::list_of(files))?;
        // 1: none of them is ignored.
        if !matches!(outcome.ending, Ending::Exited(0 | 1)) {
            return Err(self.failed("check-ignore", &outcome));
        }
        self.texts(&outcome.stdout)
    }

    pub(crate) fn committed(&self, commit: &str, files: &[String]) -> Result<BTreeSet<String>> {
        let mut arguments = vec!["ls-tree", "-z", "--name-only", commit, "--"];
        arguments.extend(files.iter().map(String::as_str));
        let output = self.ask(&arguments, Vec::new())?;
        self.texts(&output)
    }

    /// The content of a file in a commit; `None` if it has none.
    pub(crate) fn content(&self, commit: &str, file: &str) -> Result<Option<Vec<u8>>> {
        let name = format!("{commit}:./{file}");
        let outcome = self.start(&["cat-file", "blob", &name], Vec::new())?;
        match outcome.ending {
            Ending::Exited(0) if !outcome.stdout_truncated => Ok(Some(outcome.stdout)),
            Ending::Exited(0) => Err(failure(format!("{file} has more than {MAX_OUTPUT} bytes"))),
            Ending::Exited(_) => Ok(None),
            _ => Err(self.failed("cat-file", &outcome)),
        }
    }

    /// The difference of a file to a commit, or the whole file where the commit does not have it.
    pub(crate) fn difference(&self, base: &str, file: &str, now: &str) -> Result<String> {
        if self.content(base, file)?.is_none() {
            return Ok(added(now));
        }
        let words = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
            base,
            "--",
            file,
        ];
        Ok(String::from_utf8_lossy(&self.ask(&words, Vec::new())?).into_owned())
    }

    /// The commits since an earlier one, newest first, each with its title.
    pub(crate) fn titles(&self, base: &str) -> Result<Vec<String>> {
        let (most, without) = (format!("--max-count={MOST_TITLES}"), format!("^{base}"));
        let list = ["rev-list", "--no-commit-header", "--format=%h %s", &most, "HEAD", &without];
        let output = self.start(&list, Vec::new())?;
        // Before the first commit there is none.
        let titles = String::from_utf8_lossy(&output.stdout);
        Ok(titles.lines().map(str::to_owned).collect())
    }

    fn texts(&self, output: &[u8]) -> Result<BTreeSet<String>> {
        let text = |name: &[u8]| {
            let name = String::from_utf8(name.to_vec());
            name.map_err(|_| failure("git printed a path that is not UTF-8".to_owned()))
        };
        names(output).map(text).collect()
    }
}

/// The difference of a file that is new.
pub(crate) fn added(text: &str) -> String {
    text.lines().map(|line| format!("+{line}\n")).collect()
}
