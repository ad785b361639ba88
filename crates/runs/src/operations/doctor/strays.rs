//! Findings about members of a configuration that have no effect.

use accord_contract::Code;
use accord_runs_core::{UnknownMember, UnknownMemberKind};

use super::{Finding, Level};

/// A finding for each unknown member of a file. If the member would have closed a gate, the finding
/// is an error with the code of an invalid file.
pub(crate) fn stray_findings(file: &str, code: Code, strays: &[UnknownMember]) -> Vec<Finding> {
    strays.iter().map(|stray| finding(file, code, stray)).collect()
}

fn finding(file: &str, code: Code, stray: &UnknownMember) -> Finding {
    let subject = format!("{file}, {}", stray.field);
    let no_effect = "unknown member, which has no effect".to_owned();
    let (level, message, advice) = match stray.kind {
        UnknownMemberKind::Unknown { meant: Some(meant), leaves_open } => {
            let level = if leaves_open { Level::Error } else { Level::Warning };
            let open = format!("unknown member, so the gate that {meant} would close stays open");
            let message = if leaves_open { open } else { no_effect };
            (level, message, format!("did you mean {meant}? Correct the name"))
        }
        UnknownMemberKind::Unknown { .. } => {
            let advice = "remove it, or give it a name that begins with x_";
            (Level::Warning, no_effect, advice.to_owned())
        }
        _ => {
            let message = "it is for another runner and has no effect here";
            (Level::Note, message.to_owned(), "nothing: it is kept".to_owned())
        }
    };
    Finding { code: (level == Level::Error).then_some(code), level, subject, message, advice }
}
