//! Decisions that belong to a person: who decides, and the question before it.
//!
//! Every command that takes such a decision has [`PersonArgs`] and asks here. A person is asked on
//! the terminal. Without a terminal the decision needs `--yes` and the name of the person, so that
//! no script takes it by accident or in the name of the user that it runs as.

use accord_base::ActorType;
use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_contract::Code;
use accord_process::os_user;

use super::words;
use crate::host::{Acting, Actor, ActorArg, check_person};
use crate::render::Page;
use crate::terminal::{ask, can_ask, is_yes};
use crate::{CliError, Result, print_note};

/// Who decides, and about what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PersonArgs {
    /// Do not ask; needed where there is no terminal
    #[arg(long)]
    yes: bool,

    /// Who decides, for example human:lead [default: ACCORD_ACTOR, the person of the key, or at a
    /// terminal the user of the operating system]
    #[arg(long, value_name = "human:NAME", value_parser = human)]
    actor: Option<Actor>,

    /// A note for the records
    #[arg(long, value_name = "TEXT", value_parser = words)]
    note: Option<String>,

    /// Refuse if the evidence is not the one with this digest, which `accord run status` or
    /// `accord task show` prints; at least 32 digits of it
    #[arg(long, value_name = "DIGEST", value_parser = ExpectedDigest::parse)]
    expect: Option<ExpectedDigest>,

    #[command(flatten)]
    despite: DespiteArgs,
}

/// Whether a person decides although processes of workers still run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct DespiteArgs {
    /// Decide although processes that workers left behind still run; only at a terminal. The record
    /// names them
    #[arg(long)]
    pub(crate) despite_leftovers: bool,
}

pub(crate) struct Question<'a> {
    /// The decision, as a verb with its object.
    pub(crate) verb: &'a str,
    /// The evidence now.
    pub(crate) evidence: &'a EvidenceDigest,
    /// What to do after a no.
    pub(crate) otherwise: &'a str,
    /// Whether a key can say who decides.
    pub(crate) has_key: bool,
}

#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) by: NamedPerson,
    pub(crate) note: Option<String>,
    /// The evidence that the decision is about.
    pub(crate) expect: Option<ExpectedDigest>,
    pub(crate) despite_leftovers: bool,
}

/// A person, and the user of the operating system.
#[derive(Debug)]
pub(crate) struct NamedPerson {
    /// Who it is, for example `human:lead`.
    pub(crate) actor: Actor,
    /// The user that ran the command.
    pub(crate) os_user: String,
    is_named: bool,
}

impl PersonArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.yes || self.actor.is_some() || self.note.is_some() || self.expect.is_some()
    }

    /// The beginning of the digest of what the person saw.
    pub(crate) fn expected(&self) -> Option<&ExpectedDigest> {
        self.expect.as_ref()
    }

    pub(crate) fn acting(&self) -> Result<Acting> {
        Ok(NamedPerson::of(self.actor.clone())?.acting())
    }

    /// Asks the person, after `show` has described what is decided.
    pub(crate) fn decide(
        self,
        question: &Question<'_>,
        show: impl FnOnce(&mut Page),
    ) -> Result<Decision> {
        let Question { verb, evidence, .. } = question;
        let mut expect = self.expect;
        let by = NamedPerson::of(self.actor)?;
        if expect.as_ref().is_some_and(|expect| !expect.is(evidence.as_str())) {
            // Not asked: the operation refuses it, and says who decided meanwhile.
        } else if self.yes {
            expect = Some(ExpectedDigest::exactly(evidence));
            by.check_named(question.has_key, verb)?;
        } else {
            if !can_ask() {
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
            let typed = ask(&format!("{verb}? [y/N] "))?.unwrap_or_default();
            if !is_yes(&typed) {
                let message = format!("{verb}: no; nothing was changed");
                let refused = CliError::new(Code::XchainGivenUp, message);
                return Err(refused.help(question.otherwise));
            }
            // The answer is about what was shown.
            expect = Some(ExpectedDigest::exactly(evidence));
        }
        let despite_leftovers = self.despite.despite_leftovers;
        Ok(Decision { by, note: self.note, expect, despite_leftovers })
    }
}

impl NamedPerson {
    /// The named person, by an option or the environment, or the user who started the command.
    pub(crate) fn of(actor: Option<Actor>) -> Result<Self> {
        let os_user = os_user();
        let named = ActorArg { actor }.named()?;
        if let Some(actor) = named.as_ref().filter(|it| it.key().kind != ActorType::Human) {
            check_person()?;
            let message = format!("{actor} acts here, and only a person can decide this");
            return Err(CliError::new(Code::AofPersonRequired, message)
                .help("name the person who decides with --actor human:NAME"));
        }
        let is_named = named.is_some();
        let actor = match named {
            Some(actor) => actor,
            None => Actor::parse(&format!("human:{os_user}")).map_err(CliError::usage)?,
        };
        Ok(Self { actor, os_user, is_named })
    }

    /// Refuses a decision without a terminal that names nobody.
    pub(crate) fn check_named(&self, has_key: bool, verb: &str) -> Result<()> {
        if self.is_named || has_key || can_ask() {
            return Ok(());
        }
        let message = format!("no terminal, and no person is named: {verb}?");
        Err(CliError::new(Code::XchainConfirmationNeeded, message).help(
            "name the person who decides with --actor human:NAME or ACCORD_ACTOR; the record will \
             say that there was no terminal",
        ))
    }

    /// The person, as a request to a host names them.
    pub(crate) fn acting(&self) -> Acting {
        match self.is_named {
            true => Acting::Named(self.actor.clone()),
            false => Acting::Unnamed,
        }
    }
}

pub(crate) fn human(text: &str) -> Result<Actor, String> {
    let actor = Actor::parse(text)?;
    if actor.key().kind != ActorType::Human {
        return Err("only a person decides, for example human:lead".to_owned());
    }
    Ok(actor)
}
