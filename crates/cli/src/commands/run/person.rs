//! Decisions of a person about governed runs.

use accord_runs_core::evidence::{EvidenceDigest, SHOWN_BY};
use accord_runs_core::person::{Consent, Door, Person};

use crate::commands::person::{NamedPerson, Question};
use crate::error::CliError;
use crate::render::Page;

pub(super) use crate::commands::person::{PersonArgs, human};

impl PersonArgs {
    /// Asks the person, after `show` has described what is decided. `verb` is the question.
    pub(super) fn consent(
        self,
        verb: &str,
        evidence: &EvidenceDigest,
        show: impl FnOnce(&mut Page),
    ) -> Result<Consent, CliError> {
        let otherwise = "`accord run status` shows what else you can do (of an initiative: \
                         `accord run coordinator status`)";
        let question = Question { verb, evidence, shown_by: SHOWN_BY, otherwise };
        let decision = self.decide(&question, show)?;
        Ok(Consent { person: of(decision.by, decision.note, Door::Cli), expect: decision.expect })
    }
}

/// The person who started the command.
pub(super) fn person(actor: Option<String>, note: Option<String>, door: Door) -> Person {
    of(NamedPerson::of(actor), note, door)
}

fn of(named: NamedPerson, note: Option<String>, door: Door) -> Person {
    Person { note, os_user: Some(named.os_user), ..Person::new(named.actor, door) }
}
