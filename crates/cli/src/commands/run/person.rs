//! Decisions of a person about governed runs.

use accord_base::Door;
use accord_runs_core::evidence::EvidenceDigest;
use accord_runs_core::person::{Consent, Person};

use crate::Result;
use crate::commands::person::{NamedPerson, Question};
use crate::host::Actor;
use crate::render::Page;

pub(super) use crate::commands::person::{PersonArgs, human};

impl PersonArgs {
    /// Asks the person, after `show` has described what is decided. `verb` is the question.
    pub(super) fn consent(
        self,
        verb: &str,
        evidence: &EvidenceDigest,
        show: impl FnOnce(&mut Page),
    ) -> Result<Consent> {
        let otherwise = "`accord run status` shows what else you can do (of an initiative: \
                         `accord run coordinator status`)";
        let question = Question { verb, evidence, otherwise, has_key: false };
        let decision = self.decide(&question, show)?;
        let despite_leftovers = decision.despite_leftovers;
        let person = of(decision.by, decision.note, Door::Cli);
        Ok(Consent { person: Person { despite_leftovers, ..person }, expect: decision.expect })
    }
}

/// The person who started the command, for a decision that it takes without a question.
pub(super) fn person(
    actor: Option<Actor>,
    note: Option<String>,
    door: Door,
    verb: &str,
) -> Result<Person> {
    let named = NamedPerson::of(actor)?;
    named.check_named(false, verb)?;
    Ok(of(named, note, door))
}

fn of(named: NamedPerson, note: Option<String>, door: Door) -> Person {
    Person { note, os_user: Some(named.os_user), ..Person::new(named.actor.to_string(), door) }
}
