//! Whether a version number is honest about the changes under it.

use super::{Change, Class, Rule};
use crate::alx::Version;

pub(super) struct VersionVerdict {
    pub(super) overall: Class,
    pub(super) honest: Option<bool>,
    pub(super) reason: String,
}

/// Clauses: ALX-HONEST-WORST.
pub(super) fn verdict(old: &str, new: &str, changes: &[Change]) -> VersionVerdict {
    let overall = changes.iter().map(|change| change.class).max().unwrap_or(Class::None);
    let honest = honesty(old, new, overall, changes);
    let answer = match honest {
        Some(true) => "is honest",
        Some(false) => "is not honest",
        None => "may or may not be honest",
    };
    let because = match overall {
        Class::None => "nothing has changed".into(),
        class => {
            let count = changes.iter().filter(|change| change.class == class).count();
            let plural = if count == 1 { "change is" } else { "changes are" };
            format!("{count} {plural} {class}")
        }
    };
    let reason = format!("version {new} after {old} {answer}: {because}");
    VersionVerdict { overall, honest, reason }
}

/// Clauses: ALX-HONEST-UNKNOWN.
fn honesty(old: &str, new: &str, overall: Class, changes: &[Change]) -> Option<bool> {
    // Before the versions are parsed: no version number makes a violation honest.
    if overall == Class::Violation {
        return Some(false);
    }
    if overall == Class::None && old == new {
        return Some(true);
    }
    let (old, new) = (Version::parse(old)?, Version::parse(new)?);
    // An open question is answered both ways; the result is given only if both answers agree.
    let read_as = |answer: fn(&Change) -> Class| {
        let classes = changes.iter().map(|change| match change.class {
            Class::NeedsReview => answer(change),
            class => class,
        });
        admits(old, new, classes.max().unwrap_or(Class::None))
    };
    let mildest = read_as(|change| change.rule.known().map_or(Class::None, Rule::mildest));
    let gravest = read_as(|_| Class::Major);
    (mildest == gravest).then_some(mildest)
}

/// Clauses: ALX-HONEST-NONE, ALX-HONEST-MINOR, ALX-HONEST-MAJOR.
fn admits(old: Version, new: Version, class: Class) -> bool {
    match class {
        // A new minor version without a change is allowed, too.
        Class::None if new == old => true,
        Class::None | Class::MinorSafe => new.major == old.major && new.minor > old.minor,
        Class::Major => new.major > old.major,
        Class::NeedsReview | Class::Violation => false,
    }
}
