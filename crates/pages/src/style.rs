//! How the button of an action looks: what the contract says, else what its name says.

/// The look of a button.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Style {
    /// Filled: what moves things on.
    Primary,
    /// Framed: a refusal, or one of several ways.
    Secondary,
    /// Framed in the colour of danger: what cannot be taken back.
    Danger,
}

/// Words of a refusal.
const NO: &[&str] = &[
    "abstain",
    "back",
    "block",
    "cancel",
    "close",
    "decline",
    "defer",
    "deny",
    "disagree",
    "disapprove",
    "dismiss",
    "hold",
    "ignore",
    "later",
    "never",
    "no",
    "not",
    "pause",
    "postpone",
    "refuse",
    "reject",
    "rejected",
    "return",
    "skip",
    "snooze",
    "stop",
    "undo",
    "veto",
    "wait",
    "changes",
    "dont",
];

/// Words of what cannot be taken back.
const DANGER: &[&str] = &[
    "abort",
    "delete",
    "destroy",
    "discard",
    "drop",
    "erase",
    "kill",
    "overwrite",
    "purge",
    "remove",
    "reset",
    "revoke",
    "rollback",
    "terminate",
    "wipe",
];

impl Style {
    /// The style that a contract names (`x-style`).
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "primary" => Some(Self::Primary),
            "secondary" => Some(Self::Secondary),
            "danger" => Some(Self::Danger),
            _ => None,
        }
    }

    /// The style of an action, from the words of its name; none if they say nothing.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let words = words(name);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        if has(DANGER) {
            return Some(Self::Danger);
        }
        has(NO).then_some(Self::Secondary)
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Danger => "danger",
        }
    }
}

/// The words of a name of a program: `sendBack`, `send_back` and `send-back` are `send` and `back`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            let last = words.last_mut().expect("it has at least one word");
            last.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_by_its_name() {
        for (name, style) in [
            ("approve", None),
            ("yes", None),
            ("reject", Some(Style::Secondary)),
            ("sendBack", Some(Style::Secondary)),
            ("request_changes", Some(Style::Secondary)),
            ("say-no", Some(Style::Secondary)),
            ("delete_branch", Some(Style::Danger)),
            ("notify", None),
            ("nothing", None),
            ("backup", None),
        ] {
            assert_eq!(Style::of_name(name), style, "{name}");
        }
    }
}
