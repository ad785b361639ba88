//! Collects the changes.

use super::{Change, ChangeType, Rule, Rules};

/// Collects changes and gives each its class.
pub(super) struct Changes<'a> {
    rules: &'a Rules,
    same_version: bool,
    found: Vec<Change>,
}

impl<'a> Changes<'a> {
    pub(super) fn new(rules: &'a Rules, same_version: bool) -> Self {
        Self { rules, same_version, found: Vec::new() }
    }

    /// Compares two meaning tokens. What a side does not say stays open between two versions.
    pub(super) fn meaning(&mut self, path: &str, sides: [Option<&str>; 2], changed: Rule) {
        match sides.map(stated) {
            [Some(was), Some(is)] if was == is => {}
            [Some(was), Some(is)] => {
                self.changed(path, changed, format!("the meaning was {was} and is {is}"));
            }
            // Within a version, two snapshots that state no meaning are the same promise.
            [None, None] if self.same_version => {}
            _ => self.meaning_unknown(path, "one side does not say what it means"),
        }
    }

    pub(super) fn meaning_unknown(&mut self, path: &str, note: impl Into<String>) {
        self.changed(path, Rule::SemanticsUnknown, note);
    }

    pub(super) fn within_a_version(&self) -> bool {
        self.same_version
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
        // By path, so that the order of the sections in the checker does not show.
        self.found.sort_by(|left, right| (&left.path, &left.rule).cmp(&(&right.path, &right.rule)));
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

/// A meaning token, unless it is `unknown`.
pub(super) fn stated(token: Option<&str>) -> Option<&str> {
    token.filter(|token| *token != "unknown")
}
