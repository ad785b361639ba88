//! Members of a configuration that have no effect: what people are told about them.

use accord_contract::codes::Code;
use accord_runs_core::{UnknownMember, UnknownMemberKind};

use super::{Finding, Level};

/// A finding for each member of a file that has no effect there. One that leaves a gate more open
/// than its author believes is an error, with the code of a file that is not sound.
pub(crate) fn stray_findings(file: &str, code: Code, strays: &[UnknownMember]) -> Vec<Finding> {
    let strays = strays.iter();
    strays.map(|stray| finding(file, code, stray)).collect()
}

fn finding(file: &str, code: Code, stray: &UnknownMember) -> Finding {
    let subject = format!("{file}, {}", stray.field);
    let (level, message, advice) = match stray.kind {
        UnknownMemberKind::Unknown {
            meant: Some(meant),
            leaves_open: true,
        } => (
            Level::Error,
            format!("no such member is known, and what {meant} would keep shut stands open"),
            format!("did you mean {meant}? Correct the name"),
        ),
        UnknownMemberKind::Unknown {
            meant: Some(meant), ..
        } => (
            Level::Warning,
            "no such member is known, so that it has no effect".to_owned(),
            format!("did you mean {meant}? Correct the name"),
        ),
        UnknownMemberKind::Unknown { .. } => (
            Level::Warning,
            "no such member is known, so that it has no effect".to_owned(),
            "remove it; a name that begins with x_ is taken for your own".to_owned(),
        ),
        _ => (
            Level::Note,
            "it feeds features of another runner and has no effect here".to_owned(),
            "nothing: it is kept as it is".to_owned(),
        ),
    };
    Finding {
        code: (level == Level::Error).then_some(code),
        level,
        subject,
        message,
        advice,
    }
}
