//! The sections of a briefing, each within a budget.

use accord_base::excerpt::{cut, one_line};
use accord_base::tokens;

use super::{Briefing, Dependency, TITLE};

/// How many comments about a task that this one builds on are shown, the newest ones.
const COMMENTS: usize = 5;
/// How many paths of a folder are listed.
const PATHS: usize = 12;

impl Briefing<'_> {
    pub(super) fn sent_back(&self, most: usize) -> Option<String> {
        let (by, why) = self.sent_back?;
        let head = format!("## Sent back by {}\n\n", one_line(by, 60));
        let why = why.unwrap_or("No reason was given.");
        let room = most.saturating_sub(tokens(&head));
        Some(format!("{head}{}\n", cut(&quoted(why), room, "the task file")))
    }

    /// Comments: those of people before those of agents, the newest ones where not all fit.
    pub(super) fn said(&self, most: usize) -> Option<String> {
        if self.comments.is_empty() {
            return None;
        }
        let head = |hidden: usize| match hidden {
            0 => "## Comments\n\n".to_owned(),
            hidden => {
                format!("## Comments, without {hidden} others; they are in {}\n\n", self.file)
            }
        };
        let mut room = most.saturating_sub(tokens(&head(self.comments.len())));
        let (people, others): (Vec<_>, Vec<_>) =
            self.comments.iter().partition(|comment| comment.is_of_person());
        let mut shown = Vec::new();
        for group in [people, others] {
            let mut of_group = Vec::new();
            for comment in group.into_iter().rev() {
                let by = one_line(&comment.by, 60);
                let item = format!("{by}, {}:\n{}\n\n", comment.at, quoted(&comment.text));
                let Some(left) = room.checked_sub(tokens(&item)) else { break };
                room = left;
                of_group.push(item);
            }
            of_group.reverse();
            shown.extend(of_group);
        }
        let text = shown.concat();
        Some(format!("{}{}\n", head(self.comments.len() - shown.len()), text.trim_end()))
    }

    pub(super) fn instructions(&self, most: usize) -> Option<String> {
        let text = self.instructions.trim();
        if text.is_empty() {
            return None;
        }
        // A body with headings of its own needs no other.
        let head = if text.starts_with('#') { "" } else { "## Task\n\n" };
        let room = most.saturating_sub(tokens(head) + 1);
        Some(format!("{head}{}\n", cut(text, room, &self.file)))
    }

    pub(super) fn handoff(&self, most: usize) -> Option<String> {
        let text = self.handoff?.trim();
        let head = "## Handoff\n\n";
        // The file begins with a heading of its own, which would end this section.
        let text = text.strip_prefix("# Handoff Request").unwrap_or(text);
        let lower = |line: &str| match line.strip_prefix("## ") {
            Some(heading) => format!("### {heading}"),
            None => line.to_owned(),
        };
        let text: Vec<String> = text.lines().map(lower).collect();
        let place = format!("{}/inputs/handoff.md", self.directory);
        let room = most.saturating_sub(tokens(head) + 1);
        Some(format!("{head}{}\n", cut(&text.join("\n"), room, &place)))
    }

    pub(super) fn inputs(&self, most: usize) -> Option<String> {
        if self.inputs.is_empty() {
            return None;
        }
        let mut text = format!("## Inputs, in {}/inputs\n\n", self.directory);
        let reserved = tokens("99999999 more files\n");
        let mut shown = 0;
        for (path, bytes) in self.inputs.iter().take(PATHS) {
            let line = format!("- {} ({bytes} bytes)\n", one_line(path, 200));
            if tokens(&text) + tokens(&line) + reserved > most {
                break;
            }
            text.push_str(&line);
            shown += 1;
        }
        let hidden = self.inputs_hidden + (self.inputs.len() - shown) as u64;
        if hidden > 0 {
            text.push_str(&format!("{hidden} more files\n"));
        }
        Some(text)
    }

    pub(super) fn dependencies(&self, most: usize) -> Option<String> {
        if self.dependencies.is_empty() {
            return None;
        }
        let mut text = String::from("## Tasks that this one builds on\n\n");
        let reserved = tokens("9999 more: TASK-2026-99-99-999-99\n") + 1;
        for (place, task) in self.dependencies.iter().enumerate() {
            let others = self.dependencies.len() - place;
            let room = most.saturating_sub(tokens(&text) + reserved);
            let entry = task.text(room / others);
            if tokens(&entry) > room {
                text.push_str(&format!("{others} more, from {} on\n", task.id));
                break;
            }
            text.push_str(&entry);
        }
        Some(text)
    }

    pub(super) fn memory(&self, most: usize) -> Option<String> {
        let text = self.memory?.trim();
        let head = "## The memory of the project\n\n";
        let text: Vec<String> = text.lines().map(below).collect();
        let room = most.saturating_sub(tokens(head) + 1);
        let place = "the answer of `accord context orient`";
        Some(format!("{head}{}\n", cut(&text.join("\n"), room, place)))
    }

    pub(super) fn work_log(&self, most: usize) -> Option<String> {
        let entries = self.work_log;
        if entries.is_empty() {
            return None;
        }
        let head = |hidden: usize| match hidden {
            0 => "## Work log\n\n".to_owned(),
            hidden => format!("## Work log, without the {hidden} entries before\n\n"),
        };
        let mut room = most.saturating_sub(tokens(&head(entries.len())));
        let mut shown = Vec::new();
        // The newest entries, in their order.
        for entry in entries.iter().rev() {
            let entry = format!("{}\n", one_line(entry, 600));
            let Some(left) = room.checked_sub(tokens(&entry)) else { break };
            room = left;
            shown.push(entry);
        }
        shown.reverse();
        Some(format!("{}{}", head(entries.len() - shown.len()), shown.concat()))
    }
}

impl Dependency<'_> {
    fn text(&self, most: usize) -> String {
        let status = self.status.unwrap_or("missing");
        let title = one_line(self.title, TITLE);
        let mut entry = format!("- {} ({status}) {title}\n", self.id);
        let place = self.folder.as_deref().unwrap_or("its folder");
        if !self.outputs.is_empty() || self.outputs_hidden > 0 {
            let listed: Vec<String> =
                self.outputs.iter().take(PATHS).map(|path| one_line(path, 200)).collect();
            let hidden = self.outputs_hidden + (self.outputs.len() - listed.len()) as u64;
            let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
            entry.push_str(&format!("  Files in {place}: {}{more}\n", listed.join(", ")));
        }
        // A person's words come first: where there is no room, those of the agent are cut.
        let approved = self.approval.map(|(by, note)| {
            (format!("Approved by {}", one_line(by, 60)), note.unwrap_or("without a note"))
        });
        let said = self.comments.iter().rev().take(COMMENTS).rev();
        let said = said.map(|it| (format!("{} said", one_line(&it.by, 60)), it.text.as_str()));
        let reported = [("Summary", self.summary), ("Notes", self.notes)];
        let reported = reported.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        for (name, said) in approved.into_iter().chain(said).chain(reported) {
            let Some(said) = Some(said.trim()).filter(|said| !said.is_empty()) else { continue };
            let head = format!("  {name}: ");
            let room = most.saturating_sub(tokens(&entry) + tokens(&head) + 1);
            entry.push_str(&format!("{head}{}\n", cut(&one_line(said, usize::MAX), room, place)));
        }
        entry
    }
}

/// A line of another document: a heading of it is below those of a briefing.
fn below(line: &str) -> String {
    if line.starts_with('#') { format!("##{line}") } else { line.to_owned() }
}

/// A text in which no line is a heading.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
