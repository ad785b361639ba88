//! Decisions that belong to a person: who decides, and the question before it.
//!
//! Every command that takes such a decision has [`PersonArgs`] and asks here. A person is asked on
//! the terminal. Without a terminal the decision needs `--yes`, so that no script takes it by
//! accident.

use std::io::{self, IsTerminal as _, Write as _};

use accord_base::{ActorKey, ActorType};
use accord_contract::codes::Code;
use accord_runs::os_user;
use accord_runs_core::evidence::{EvidenceDigest, ExpectedDigest};
use accord_runs_core::person::{Consent, Door, Person};

use crate::error::CliError;
use crate::output::print_note;
use crate::render::Page;

/// Who decides, and about what.
#[derive(Debug, clap::Args)]
pub(super) struct PersonArgs {
    /// Do not ask; needed where there is no terminal
    #[arg(long)]
    yes: bool,

    /// Who decides, for example human:lead; the user of the operating system if absent
    #[arg(long, value_name = "human:NAME", value_parser = human)]
    actor: Option<String>,

    /// A note for the records
    #[arg(long, value_name = "TEXT", value_parser = super::words)]
    note: Option<String>,

    /// Refuse if the evidence is not the one with this digest, which the status shows; at least 12
    /// digits of it
    #[arg(long, value_name = "DIGEST", value_parser = ExpectedDigest::parse)]
    expect: Option<ExpectedDigest>,
}

impl PersonArgs {
    /// Whether any of the options is given.
    pub(super) fn is_given(&self) -> bool {
        self.yes || self.actor.is_some() || self.note.is_some() || self.expect.is_some()
    }

    /// Asks the person, after `show` has described what is decided. `verb` is the question.
    pub(super) fn consent(
        self,
        verb: &str,
        evidence: &EvidenceDigest,
        show: impl FnOnce(&mut Page),
    ) -> Result<Consent, CliError> {
        // Refused before the question: a person must not confirm what is refused afterwards.
        if let Some(expected) = &self.expect {
            expected.check(evidence).map_err(CliError::from)?;
        }
        let mut expect = self.expect;
        if !self.yes {
            if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
                let message = format!("no terminal to ask on: {verb}?");
                return Err(CliError::new(Code::XchainConfirmationNeeded, message).help(
                    "run it in a terminal; a script gives --yes, and with --expect DIGEST it \
                     decides only about the evidence that was looked at",
                ));
            }
            let mut page = Page::for_stderr();
            show(&mut page);
            page.labelled("evidence", evidence.as_str());
            print_note(page.as_str().trim_end());
            if !asked(verb)? {
                let message = format!("{verb}: no; nothing was changed");
                return Err(CliError::new(Code::XchainGivenUp, message).help(
                    "`accord run status` shows what else you can do (of an initiative: `accord \
                     run coordinator status`)",
                ));
            }
            // The answer is about what was shown.
            expect = Some(ExpectedDigest::exactly(evidence));
        }
        Ok(Consent { person: person(self.actor, self.note, Door::Cli), expect })
    }
}

/// The person who started the command.
pub(super) fn person(actor: Option<String>, note: Option<String>, door: Door) -> Person {
    let user = os_user();
    let actor = actor.unwrap_or_else(|| format!("human:{user}"));
    Person { note, os_user: Some(user), ..Person::new(actor, door) }
}

/// Asks on the terminal; only yes is yes.
fn asked(verb: &str) -> Result<bool, CliError> {
    let failed = |error: io::Error| {
        CliError::new(Code::InputUnreadable, format!("the terminal cannot be read: {error}"))
    };
    let mut terminal = io::stderr().lock();
    write!(terminal, "{verb}? [y/N] ").and_then(|()| terminal.flush()).map_err(failed)?;
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).map_err(failed)?;
    if read == 0 {
        // The end of input leaves the cursor behind the question.
        print_note("");
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// An actor that is a person.
pub(super) fn human(text: &str) -> Result<String, String> {
    let actor = ActorKey::parse(text)?;
    if actor.kind != ActorType::Human {
        return Err("only a person decides, for example human:lead".to_owned());
    }
    Ok(format!("human:{}", actor.id))
}
