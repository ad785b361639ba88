//! Which items a receiver is told.

use accord_base::ProjectId;
use accord_base::inbox::Urgency;

/// Which items a receiver is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wants {
    /// Only those of these projects; empty for all.
    pub projects: Vec<String>,
    /// Only those of these kinds, such as `task.review`, or `task.*` for all that begin so; empty
    /// for all.
    pub kinds: Vec<String>,
    /// The least urgent that are told.
    pub urgency: Urgency,
}

impl Default for Wants {
    fn default() -> Self {
        Self { projects: Vec::new(), kinds: Vec::new(), urgency: Urgency::Should }
    }
}

impl Wants {
    /// Whether an item is told at its present urgency.
    pub fn has(&self, project: &ProjectId, kind: &str, urgency: Urgency) -> bool {
        let is_kind = |wanted: &String| match wanted.strip_suffix('*') {
            Some(beginning) => kind.starts_with(beginning),
            None => kind == wanted,
        };
        urgency != Urgency::Notice
            && urgency <= self.urgency
            && (self.projects.is_empty() || self.projects.iter().any(|it| it == project.as_str()))
            && (self.kinds.is_empty() || self.kinds.iter().any(is_kind))
    }
}
