//! The text of a task file: YAML between two fences, an empty line, the body.
//!
//! Invariants:
//! - a change of the front matter keeps the body byte for byte, and the other way round;
//! - a file that a person saved with other line ends or a byte order mark is read, and stays so.

use std::borrow::Cow;
use std::sync::Arc;

use super::Task;
use crate::yaml::{Change, Yaml, YamlError};

const FENCE: &str = "---";
const BOM: char = '\u{feff}';

/// A task file. A clone shares its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    front: Arc<Yaml>,
    task: Arc<Task>,
    /// Everything before the YAML.
    head: Arc<str>,
    /// Everything from the closing fence on.
    rest: Arc<str>,
    /// Whether lines end with a carriage return and a line feed.
    has_crlf: bool,
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FileError {
    #[error("the first line is not ---")]
    NoFence,
    #[error("the front matter has no closing line ---")]
    Unterminated,
    #[error("the front matter: {0}")]
    Yaml(YamlError),
    #[error("the front matter: {0}")]
    Member(String),
}

impl TaskFile {
    /// Reads a file. The line of a YAML error is counted in the file.
    pub fn read(text: &str) -> Result<Self, FileError> {
        let has_crlf = text.contains("\r\n");
        let plain = if has_crlf { Cow::from(text.replace("\r\n", "\n")) } else { Cow::from(text) };
        let unmarked = plain.strip_prefix(BOM).unwrap_or(&plain);
        let first = unmarked.split_inclusive('\n').next().unwrap_or_default();
        if first.trim() != FENCE {
            return Err(FileError::NoFence);
        }
        let head = plain.len() - unmarked.len() + first.len();
        let mut end = head;
        let is_fence = |line: &str| line.trim_end() == FENCE;
        loop {
            match plain[end..].split_inclusive('\n').next() {
                None => return Err(FileError::Unterminated),
                Some(line) if is_fence(line) => break,
                Some(line) => end += line.len(),
            }
        }
        let front = Yaml::read(&plain[head..end]).map_err(|error| {
            FileError::Yaml(YamlError { line: error.line + 1, problem: error.problem })
        })?;
        let task = Task::read(front.members()).map_err(FileError::Member)?;
        let (head, rest) = (plain[..head].into(), plain[end..].into());
        Ok(Self { front: Arc::new(front), task: Arc::new(task), head, rest, has_crlf })
    }

    /// The body of a text whose front matter cannot be read, if its end can be found.
    pub fn body_of(text: &str) -> Option<&str> {
        let mut at = 0;
        let mut fences = 0;
        for line in text.split_inclusive('\n') {
            at += line.len();
            fences += usize::from(line.trim_start_matches(BOM).trim_end() == FENCE);
            if fences == 2 {
                return Some(text[at..].trim());
            }
        }
        None
    }

    pub fn write(members: accord_contract::wire::Object, body: &str) -> Result<Self, FileError> {
        let task = Arc::new(Task::read(&members).map_err(FileError::Member)?);
        let front = Arc::new(Yaml::write(members));
        let mut file =
            Self { front, task, head: "---\n".into(), rest: "---\n".into(), has_crlf: false };
        file.set_body(body);
        Ok(file)
    }

    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The members of the front matter, known or not.
    pub fn members(&self) -> &accord_contract::wire::Object {
        self.front.members()
    }

    /// The text of the front matter, without its fences.
    pub fn front(&self) -> &str {
        self.front.text()
    }

    /// The body, without white space around it.
    pub fn body(&self) -> &str {
        let (_, body) = self.rest.split_once('\n').unwrap_or((&self.rest, ""));
        body.trim()
    }

    pub fn set_body(&mut self, body: &str) {
        let fence = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
        let mut rest = self.rest[..fence].to_owned();
        if !rest.ends_with('\n') {
            rest.push('\n');
        }
        let body = body.trim();
        if !body.is_empty() {
            rest.extend(["\n", body, "\n"]);
        }
        self.rest = rest.into();
    }

    /// Changes members of the front matter, unless the result would not be a task.
    /// Clauses: AOF-FILE-BODY.
    pub fn edit(&mut self, changes: &[Change]) -> Result<(), FileError> {
        let front = self.front.edited(changes).map_err(FileError::Yaml)?;
        self.task = Arc::new(Task::read(front.members()).map_err(FileError::Member)?);
        self.front = Arc::new(front);
        Ok(())
    }

    pub fn text(&self) -> String {
        let text = self.parts().concat();
        if self.has_crlf { text.replace('\n', "\r\n") } else { text }
    }

    pub fn is_text(&self, text: &str) -> bool {
        if self.has_crlf {
            return self.text() == text;
        }
        let rest = self.parts().iter().try_fold(text, |rest, part| rest.strip_prefix(*part));
        rest == Some("")
    }

    fn parts(&self) -> [&str; 4] {
        let yaml = self.front.text();
        let gap = if yaml.ends_with('\n') || yaml.is_empty() { "" } else { "\n" };
        [&self.head, yaml, gap, &self.rest]
    }
}
