//! The exit codes of every command, in one place.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | the command did what was asked, and the answer is yes |
//! | 1 | the command did what was asked, and the answer is no: a hash that does not match, a version that is not honest, a case that fails, a line of a batch that was refused |
//! | 2 | there is no answer: wrong usage, input that cannot be read or is refused, output that cannot be written, a run that went wrong, a question that cannot be decided |
//!
//! A command that is told to end by a signal exits with 128 and the number of the
//! signal, as shells do.
//!
//! `accord adapter` alone follows the fixture protocol instead: 0 pass, 1 fail,
//! 2 error, 3 not implemented.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// Done; yes.
    Yes,
    /// Done; no.
    No,
    /// No answer.
    Trouble,
    /// What the fixture protocol asks for.
    Adapter(u8),
    /// It was told to end by this signal, and ended in order.
    Signalled(i32),
}

impl Exit {
    /// Yes or no.
    pub(crate) fn from_answer(answer: bool) -> Self {
        if answer { Self::Yes } else { Self::No }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Trouble => 2,
            Exit::Adapter(code) => code,
            Exit::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        })
    }
}
