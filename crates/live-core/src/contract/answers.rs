//! Who may answer, how often, and until when: members of Accord at the top of a contract.

use accord_contract::{Object, wire_enum};

use super::Reader;
use crate::{limits::ANSWER_WITHIN_SECONDS, violation::Violation};

/// The members of a contract that say it.
pub const ANSWER_RULES: [&str; 4] = [ANSWERED_BY, CLOSES_ON, ANSWER_WITHIN, KEEP];

const ANSWERED_BY: &str = "x-answeredBy";
const CLOSES_ON: &str = "x-closesOn";
const ANSWER_WITHIN: &str = "x-answerWithin";
/// The member that says that the memory of the project keeps the answer of a person.
pub const KEEP: &str = "x-keep";

wire_enum! {
    /// Who may answer.
    pub enum AnsweredBy("GguiAnsweredBy", closed) {
        /// A known person: by a login, a key or a terminal.
        Person = "person",
        /// Every holder of the session, as in ggui.
        Anyone = "anyone",
    }
}

wire_enum! {
    /// Which answer closes the ask.
    pub enum ClosesOn("GguiClosesOn", closed) {
        /// The first one. Later ones are refused.
        First = "first",
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AnswerRules {
    /// Whether only a known person may answer.
    pub by_person: bool,
    /// Whether the first answer closes the ask.
    pub once: bool,
    /// How long an ask takes answers, in seconds.
    pub within: Option<i64>,
    /// Whether the memory of the project keeps the answer of a known person.
    pub keeps: bool,
}

impl AnswerRules {
    pub(super) fn read(members: &Object, reader: &mut Reader) -> Self {
        let by = reader.one_of::<AnsweredBy>(members, "", ANSWERED_BY);
        let closes = reader.one_of::<ClosesOn>(members, "", CLOSES_ON);
        let within = reader.count(members, "", ANSWER_WITHIN);
        let within = within.map(|within| i64::try_from(within).unwrap_or(i64::MAX));
        if within.is_some_and(|within| !(1..=ANSWER_WITHIN_SECONDS).contains(&within)) {
            let message = format!("must be from 1 to {ANSWER_WITHIN_SECONDS} seconds");
            reader.report(Violation::new(ANSWER_WITHIN, message));
        }
        let keeps = reader.flag(members, "", KEEP).unwrap_or(false);
        Self { by_person: by == Some(AnsweredBy::Person), once: closes.is_some(), within, keeps }
    }

    /// Whether an answer decides: only a person can answer, or the first answer counts.
    pub fn decides(self) -> bool {
        self.by_person || self.once
    }

    /// The rules of a UI, whose contract was checked.
    pub fn of_ui(ui: &Object) -> Self {
        Self::read(ui, &mut Reader::default())
    }
}
