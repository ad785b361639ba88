//! Findings about members of a configuration that have no effect.

use accord_contract::Code;
use accord_runs_core::{UnknownMember, UnknownMemberKind};

use super::{Finding, Level};

/// A finding for each unknown member of a file. If the member would have closed a gate, the finding
/// is an error with the code of an invalid file.
pub(crate) fn stray_findings(file: &str, code: Code, strays: &[UnknownMember]) -> Vec<Finding> {
    let strays = strays.iter();
    strays.map(|stray| finding(file, code, stray)).collect()
}

fn finding(file: &str, code: Code, stray: &UnknownMember) -> Finding {
    let subject = format!("{file}, {}", stray.field);
    let (level, message, advice) = match stray.kind {
        UnknownMemberKind::Unknown { meant: Some(meant), leaves_open: true } => (
            Level::Error,
            format!("unknown member, so the gate that {meant} would close stays open"),
            format!("did you mean {meant}? Correct the name"),
        ),
        UnknownMemberKind::Unknown { meant: Some(meant), .. } => (
            Level::Warning,
            "unknown member, which has no effect".to_owned(),
            format!("did you mean {meant}? Correct the name"),
        ),
        UnknownMemberKind::Unknown { .. } => (
            Level::Warning,
            "unknown member, which has no effect".to_owned(),
            "remove it, or give it a name that begins with x_".to_owned(),
        ),
        _ => (
            Level::Note,
            "it is for another runner and has no effect here".to_owned(),
            "nothing: it is kept".to_owned(),
        ),
    };
    Finding { code: (level == Level::Error).then_some(code), level, subject, message, advice }
}
