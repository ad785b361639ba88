//! The terminal of a person.

use std::io::{self, IsTerminal as _, Write as _};

use accord_contract::Code;

use crate::{CliError, Result, print_note};

/// Whether a person can be asked: what they type is read, and what they must see is shown.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and returns the line that was typed, without the spaces around it; none if the input
/// ended.
pub(crate) fn ask(question: &str) -> Result<Option<String>> {
    let failed = |error: io::Error| {
        CliError::new(Code::InputUnreadable, format!("the terminal cannot be read: {error}"))
    };
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question}").and_then(|()| terminal.flush()).map_err(failed)?;
    drop(terminal);
    let mut typed = String::new();
    if io::stdin().read_line(&mut typed).map_err(failed)? == 0 {
        // The end of input leaves the cursor behind the question.
        print_note("");
        return Ok(None);
    }
    Ok(Some(typed.trim().to_owned()))
}

/// Whether an answer is yes; only yes is yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}
