//! The cells of the table that were tried.

use std::fmt::Display;

use crate::accord::Ran;

/// The codes of refusals by the policy, and of credentials that do not cover the request.
const REFUSALS: [&str; 10] = [
    "not_for_workers",
    "person_required",
    "confirmation_needed",
    "unauthorized",
    "UNAUTHORIZED",
    "AUTH_REQUIRED",
    "UNAUTHENTICATED",
    "LOGIN_REQUIRED",
    "HOST_OWNER_ONLY",
    "unauthorized_agent",
];

/// What a request was answered with.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The status, or the exit code of a command.
    pub(super) status: i32,
    /// The failure code; empty without a failure.
    pub(super) code: String,
    pub(super) text: String,
}

impl Answer {
    /// What a command answered.
    pub(super) fn of(ran: &Ran) -> Self {
        let messages = ran.messages();
        let code = messages.split_whitespace().next().filter(|_| ran.code != 0);
        let code = code.unwrap_or_default().to_owned();
        Self { status: ran.code, code, text: format!("{}{messages}", ran.stdout) }
    }

    /// Whether the policy refused it.
    pub(super) fn is_refused(&self) -> bool {
        REFUSALS.contains(&self.code.as_str())
    }
}

/// The cells that were tried through some doors.
#[derive(Default)]
pub(super) struct Tally {
    cells: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Compares an answer with the table. `is_as_written` says whether an answer that the policy
    /// passed is one that the line of the request names.
    pub(super) fn add(
        &mut self,
        cell: impl Display,
        is_allowed: bool,
        answer: &Answer,
        is_as_written: bool,
    ) {
        self.cells += 1;
        let found = match answer.is_refused() {
            true => "refused",
            false => "passed",
        };
        let Answer { status, code, text } = answer;
        let text: String = text.chars().take(300).collect();
        match is_allowed {
            true if answer.is_refused() => {
                self.wrong.push(format!("{cell}: allowed, and refused: {status} {code} {text}"));
            }
            false if !answer.is_refused() => {
                self.wrong.push(format!("{cell}: not allowed, and passed: {status} {code} {text}"));
            }
            true if !is_as_written => {
                self.wrong.push(format!("{cell}: {found} with {status} {code} {text}"));
            }
            _ => {}
        }
    }

    /// Reports every cell that is not as the table says, and how many there were.
    #[track_caller]
    pub(super) fn finish(self, doors: &str, least: usize) {
        let Self { cells, wrong } = self;
        println!("policy: {cells} cells through {doors}");
        assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), wrong.join("\n"));
        assert!(cells >= least, "{cells} cells, and there were {least}");
    }
}
