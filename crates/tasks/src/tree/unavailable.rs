//! What an error of the files means for who asked.

use accord_contract::{Code, Failure};
use accord_trees::TreeError;

pub(super) fn missing_index() -> Failure {
    Failure::new(Code::AofTaskTreeUnavailable, "the tree could not be read")
}

/// The failure that an error of the files is. It says the truth about the change that was asked
/// for: nothing happened, or it is recorded and must not be sent again, or that is not known.
pub(crate) fn failure(error: &TreeError) -> Failure {
    let is_full = error.is_disk_full();
    let (message, suggestion) = match error {
        TreeError::Unfinished { source, .. } => {
            let once = if is_full { "there is space" } else { "its files can be written" };
            let message = format!(
                "the change is recorded, but not all of its files could be written: {source}. It \
                 is carried out as soon as {once}: do not send it again"
            );
            let first = if is_full { "The disk is full: free space" } else { "Mend the cause" };
            let look = "Do not send the change again: accord task list has it";
            (message, Some(format!("{first}. {look}")))
        }
        TreeError::Uncertain { .. } => {
            let first = if is_full { "The disk is full: free space" } else { "Mend the cause" };
            let look = "look with accord task list whether the change happened";
            (error.to_string(), Some(format!("{first}, then {look}, before you send it again")))
        }
        _ if is_full => {
            let hint = "The disk is full: free space, then try again. Nothing that was \
                        acknowledged is lost";
            (format!("{error}. {hint}"), None)
        }
        _ => (error.to_string(), None),
    };
    match suggestion {
        // A program that sends it again by itself would do it twice.
        Some(suggestion) => {
            Failure::new(Code::AofTaskChangeUnconfirmed, message).suggesting(suggestion)
        }
        None => Failure::new(Code::AofTaskTreeUnavailable, message),
    }
}

/// Whether an operation failed because the files cannot be read or written now.
pub(crate) fn is_unavailable(failure: &Failure) -> bool {
    matches!(failure.code, Code::AofTaskTreeUnavailable | Code::AofTaskChangeUnconfirmed)
}
