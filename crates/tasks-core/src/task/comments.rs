//! Comments in the body of a task: one section, one item per comment. Readers of AOF/1 see a body
//! in Markdown.

use accord_contract::{Time, Timestamp, message};

use super::section::{one_line, split_items, with_item};

const HEADING: &str = "Comments";
/// Before each further line of a comment, so that no line begins an item or a heading.
const INDENT: &str = "  ";

message! {
    /// What somebody said about a task.
    pub struct TaskComment("TaskComment", closed) {
        /// Who said it: `human:NAME`, `script:NAME`, or the name of an agent.
        required by: String = "by", "actor-id";
        /// When.
        required at: Timestamp = "at", "time:iso-8601";
        /// The text.
        required text: String = "text", "markdown";
    }
}

impl TaskComment {
    pub fn is_of_person(&self) -> bool {
        self.by.starts_with("human:")
    }
}

/// Comments as an agent reads them beside an answer.
pub fn comments_text(comments: &[TaskComment]) -> String {
    let said = comments.iter().map(|it| format!("- {}, {}: {}", it.by, it.at, it.text));
    format!("Said about the task since you began:\n{}", said.collect::<Vec<_>>().join("\n"))
}

/// The body with a comment at the end of its comments.
pub fn with_comment(body: &str, by: &str, text: &str, at: Time) -> String {
    let mut item = format!("- {at} {}:", one_line(by));
    let lines = text.trim().lines().map(|line| one_line(line.trim_end()));
    for (place, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        let before = if place == 0 { " ".to_owned() } else { format!("\n{INDENT}") };
        item.push_str(&before);
        item.push_str(&line);
    }
    with_item(body, HEADING, &item)
}

/// The body with these comments after its own ones.
pub fn with_comments(body: &str, comments: &[TaskComment]) -> String {
    comments.iter().fold(body.to_owned(), |body, said| {
        with_comment(&body, &said.by, &said.text, said.at.time())
    })
}

/// The body without its comments, and the comments, oldest first. What is no comment stays in the
/// body.
pub fn split_comments(body: &str) -> (String, Vec<TaskComment>) {
    let (mut rest, items) = split_items(body, HEADING);
    let mut comments = Vec::new();
    for item in items {
        match read(&item) {
            Some(comment) => comments.push(comment),
            None => rest = format!("{rest}\n\n{item}").trim().to_owned(),
        }
    }
    (rest, comments)
}

/// A new body with the comments of the old one: an edit neither removes nor adds one, so that
/// nobody speaks for somebody else.
pub fn with_comments_of(body: &str, old: &str) -> String {
    let (_, said) = split_items(body, HEADING);
    let (_, items) = split_items(old, HEADING);
    if said == items {
        return body.to_owned();
    }
    let (rest, _) = split_comments(body);
    items.iter().fold(rest, |body, item| with_item(&body, HEADING, item))
}

fn read(item: &str) -> Option<TaskComment> {
    let mut lines = item.lines();
    let (at, said) = lines.next()?.strip_prefix("- ")?.split_once(' ')?;
    let (by, first) = said.split_once(": ")?;
    let mut text = first.to_owned();
    for line in lines {
        text.push('\n');
        text.push_str(line.strip_prefix(INDENT).unwrap_or(line));
    }
    let at = Timestamp::emit(Time::parse_rfc3339(at)?);
    Some(TaskComment { by: by.to_owned(), at, text })
}
