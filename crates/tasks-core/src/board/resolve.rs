//! Tasks by the beginning or the end of their ids.

use accord_contract::{Code, Failure};

use super::Board;
use crate::TaskId;

const PREFIX: &str = "TASK-";
/// The most ids that a refusal names.
const NAMED: usize = 5;

impl Board {
    /// The task that a text names: by its id, by a beginning of the id that no other task has, or
    /// by its last numbers (`1`, `001`, `16-001`). `TASK-` can be left out. Fails with
    /// `task_not_found` with the nearest ids, `ambiguous_task_id` with some of those that fit.
    pub fn resolve(&self, text: &str) -> Result<TaskId, Failure> {
        let wanted = whole(text.trim());
        if let Ok(id) = TaskId::parse(&wanted)
            && self.status(id).is_some()
        {
            return Ok(id);
        }
        let mut ids: Vec<(String, TaskId)> = self.ids().map(|id| (id.to_string(), id)).collect();
        ids.sort();
        let start = ids.partition_point(|(text, _)| *text < wanted);
        let by_end = |end: &str| ids.iter().filter(|(id, _)| ends_with(id, end)).collect();
        // A short number is that of a task, and not the beginning of a year.
        let mut fitting: Vec<&(String, TaskId)> =
            number(text.trim()).map(|end| by_end(&end)).unwrap_or_default();
        if fitting.is_empty() {
            fitting = ids[start..].iter().take_while(|(id, _)| id.starts_with(&wanted)).collect();
        }
        if fitting.is_empty() {
            fitting = by_end(text.trim());
        }
        match fitting[..] {
            [(_, id)] => Ok(*id),
            [] => Err(not_found(text, &near(&ids, start))),
            _ => {
                let named = fitting.iter().take(NAMED).map(|(id, _)| id.as_str());
                let (some, count): (Vec<&str>, usize) = (named.collect(), fitting.len());
                let message = format!("{count} tasks fit {text}: {}", listed(&some, count));
                Err(Failure::new(Code::AofAmbiguousTaskId, message)
                    .with("candidates", some)
                    .with("count", count))
            }
        }
    }

    fn ids(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.open().map(|entry| entry.id).chain(self.closed().map(|(id, _)| id))
    }
}

/// Whether an id ends with these numbers, each of them whole.
fn ends_with(id: &str, numbers: &str) -> bool {
    let before = id.strip_suffix(numbers).filter(|_| !numbers.is_empty());
    before.is_some_and(|before| before.ends_with('-'))
}

/// The number of a task as its id has it: `1` means `001`. `None` for another text.
pub fn number(text: &str) -> Option<String> {
    let is_number = (1..=3).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| format!("{text:0>3}"))
}

/// A beginning of an id, with the prefix that may be left out.
fn whole(text: &str) -> String {
    match text.get(..PREFIX.len()) {
        Some(prefix) if prefix.eq_ignore_ascii_case(PREFIX) => {
            format!("{PREFIX}{}", &text[PREFIX.len()..])
        }
        _ if !text.is_empty() && PREFIX.to_ascii_lowercase().starts_with(&text.to_lowercase()) => {
            text.to_ascii_uppercase()
        }
        _ => format!("{PREFIX}{text}"),
    }
}

/// The ids on both sides of where an id would be.
fn near(ids: &[(String, TaskId)], at: usize) -> Vec<&str> {
    let from = at.saturating_sub(2);
    ids[from..ids.len().min(at + 2)].iter().map(|(id, _)| id.as_str()).collect()
}

fn listed(ids: &[&str], count: usize) -> String {
    let more = if count > ids.len() { ", …" } else { "" };
    format!("{}{more}", ids.join(", "))
}

fn not_found(text: &str, near: &[&str]) -> Failure {
    let failure = Failure::new(Code::AofTaskNotFound, format!("there is no task {text}"))
        .with("task_id", text)
        .with("nearest", near.to_vec());
    match near {
        [] => failure,
        near => failure.suggesting(format!("the nearest tasks are {}", near.join(", "))),
    }
}
