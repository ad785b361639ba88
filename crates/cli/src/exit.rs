//! The exit codes of every command, in one place: 0 to 3, for the first variants of [`Exit`].
//!
//! A command that a signal ends exits with 128 plus the number of the signal, as shells do. So does
//! one whose output is closed by its reader (SIGPIPE, 141).
//!
//! `accord adapter` alone follows the fixture protocol instead: 0 pass, 1 fail,
//! 2 error, 3 not implemented.

use std::process::ExitCode;

use accord_kit::exit::Overall;

/// How a command ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// The command succeeded, and the answer is yes.
    Yes,
    /// The command succeeded, and the answer is no: a hash does not match, a version is not honest,
    /// a case fails, a line of a batch was refused.
    No,
    /// There is no answer: wrong usage, input that cannot be read or is refused, output that cannot
    /// be written, a run that failed, a question that cannot be decided.
    Error,
    /// Nobody answered in time: neither yes nor no.
    Unanswered,
    /// The exit code of the fixture protocol, or of the program that a launcher started.
    Other(u8),
    /// This signal ended the command, after it had cleaned up.
    Signalled(i32),
}

impl Exit {
    pub(crate) fn from_answer(answer: bool) -> Self {
        if answer { Self::Yes } else { Self::No }
    }
}

/// The answer of a run of the kit.
impl From<Overall> for Exit {
    fn from(overall: Overall) -> Self {
        match overall {
            Overall::Pass => Self::Yes,
            Overall::Fail => Self::No,
            Overall::Error => Self::Error,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Error => 2,
            Exit::Unanswered => 3,
            Exit::Other(code) => code,
            Exit::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        })
    }
}
