//! The changes that have been found so far.

use super::{Change, ChangeType, Rule, Rules};

/// The token of a meaning that nobody knows.
pub(super) const UNKNOWN: &str = "unknown";

/// Collects changes and gives each its class.
pub(super) struct Changes<'a> {
    rules: &'a Rules,
    same_version: bool,
    found: Vec<Change>,
}

impl<'a> Changes<'a> {
    pub(super) fn new(rules: &'a Rules, same_version: bool) -> Self {
        Self {
            rules,
            same_version,
            found: Vec::new(),
        }
    }

    /// Compares two meaning tokens. Where one side does not tell, the question stays open.
    pub(super) fn meaning(
        &mut self,
        path: &str,
        old: Option<&str>,
        new: Option<&str>,
        changed: Rule,
    ) {
        let told = |token: Option<&str>| token.is_some_and(|token| token != UNKNOWN);
        if told(old) && told(new) {
            if let (Some(was), Some(is)) = (old, new)
                && was != is
            {
                self.changed(path, changed, format!("the meaning was {was} and is {is}"));
            }
        } else if old != new || (old.is_some() && !self.same_version) {
            let note = "what it means is not told on both sides";
            self.changed(path, Rule::SemanticsUnknown, note);
        }
    }

    pub(super) fn added(&mut self, path: &str, rule: Rule, note: impl Into<String>) {
        self.push(path, ChangeType::Added, rule, note.into());
    }

    pub(super) fn removed(&mut self, path: &str, rule: Rule, note: impl Into<String>) {
        self.push(path, ChangeType::Removed, rule, note.into());
    }

    pub(super) fn renamed(&mut self, path: &str, rule: Rule, note: impl Into<String>) {
        self.push(path, ChangeType::Renamed, rule, note.into());
    }

    pub(super) fn changed(&mut self, path: &str, rule: Rule, note: impl Into<String>) {
        self.push(path, ChangeType::Changed, rule, note.into());
    }

    pub(super) fn wrong(&mut self, path: &str, rule: Rule, note: impl Into<String>) {
        self.push(path, ChangeType::Wrong, rule, note.into());
    }

    pub(super) fn into_sorted(mut self) -> Vec<Change> {
        self.found
            .sort_by(|left, right| (&left.path, &left.rule).cmp(&(&right.path, &right.rule)));
        self.found
    }

    fn push(&mut self, path: &str, change_type: ChangeType, rule: Rule, note: String) {
        self.found.push(Change {
            path: path.into(),
            change_type: change_type.into(),
            class: self.rules.class(rule),
            rule: rule.into(),
            note,
        });
    }
}
