//! `multirepo/decision-ledger.jsonl`: the coordinator's own decisions.

use accord_contract::{Object, Time, Value, wire_enum};

use super::CoordinatorState;
use crate::{build, doc};

const PREFIX: &str = "DEC-COORD-";

wire_enum! {
    pub enum CoordinatorDecision("CoordinatorDecision", closed) {
        Initialization = "initialization",
        Dispatch = "dispatch",
        PhaseTransition = "phase_transition",
        Completion = "completion",
        /// A blocked initiative was resumed.
        Recovery = "recovery",
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CoordinatorLedger {
    greatest: u64,
}

impl CoordinatorLedger {
    /// Reads the last id from the lines of a ledger. Ids of another form are ignored.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Object>) -> Self {
        let numbers = lines.into_iter().filter_map(|line| {
            let digits = doc::Ledger::ID.get(line)?.strip_prefix(PREFIX)?;
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A number above 64 bits is ignored. Such an id cannot be continued.
            plain.then(|| digits.parse::<u64>().ok()).flatten()
        });
        Self { greatest: numbers.max().unwrap_or(0) }
    }

    /// The line of a decision with the next free id. `about` are its members.
    pub fn line<const N: usize>(
        &mut self,
        state: &CoordinatorState,
        category: CoordinatorDecision,
        statement: &str,
        about: [(&str, Value); N],
        now: Time,
    ) -> Object {
        self.greatest = self.greatest.saturating_add(1);
        let mut line = build([
            ("id", format!("{PREFIX}{:03}", self.greatest).into()),
            ("timestamp", now.to_string().into()),
            ("super_run_id", state.super_run_id().into()),
            ("role", "coordinator".into()),
            ("phase", state.phase().into()),
            ("category", category.as_str().into()),
            ("statement", statement.into()),
        ]);
        let known = about.into_iter().filter(|(_, value)| !value.is_null());
        line.extend(known.map(|(name, value)| (name.to_owned(), value)));
        line
    }
}
