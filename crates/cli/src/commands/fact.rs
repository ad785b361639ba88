//! `accord fact`: facts and the time for which they are valid.

use accord_api::parameter::Moment;
use accord_api::{Call, Verbatim};
use accord_base::refuse::decoded as decoded_failure;
use accord_contract::wire::Ratio;
use accord_contract::{Field, Object, Timestamp, Wire as _};
use accord_memory_core::fact::{FactAssertion, OutOfOrder};
use accord_memory_core::operations::{
    AssertFact, AssertParams, FactParams, InvalidateFact, InvalidateParams, ListFacts,
};

use crate::arguments::timestamp;
use crate::host::{
    CredentialArgs, HostArgs, ProjectArg, WriteArgs, id_of, in_project, parameter, print_document,
    print_items, print_noted,
};
use crate::render;
use crate::{Exit, Result, print_note};

subcommands! {
    /// Assert, invalidate and list facts
    pub(crate) FactArgs, FactCommand {
        Assert(AssertArgs),
        Invalidate(InvalidateArgs),
        List(ListArgs),
    }
}

/// Assert a fact; it replaces the current value
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  accord fact assert api version 2.1 --project shop \\\n      \
                  --source pkg_1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d")]
struct AssertArgs {
    /// The subject
    subject: String,

    /// The predicate: a property of the subject
    predicate: String,

    /// The value
    value: String,

    /// The start of its validity, in UTC [default: now]
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    valid_from: Option<Timestamp>,

    /// The package that the fact comes from, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    source: Option<String>,

    /// The confidence, from 0 to 1
    #[arg(long, value_name = "N")]
    confidence: Option<f64>,

    /// A tag; can be repeated
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,

    /// Do nothing if the value is already the current one
    #[arg(long)]
    if_changed: bool,

    /// Refuse a fact that starts before a known one, instead of inserting it
    #[arg(long)]
    in_order: bool,

    #[command(flatten)]
    credentials: CredentialArgs,
    #[command(flatten)]
    to: WriteArgs,
}

/// End the validity of a fact
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 a fact was invalidated; 1 there was no current fact; 2 error."
)]
struct InvalidateArgs {
    /// The subject
    subject: String,

    /// The predicate: a property of the subject
    predicate: String,

    /// Only if this is the current value
    #[arg(long, value_name = "TEXT")]
    value: Option<String>,

    #[command(flatten)]
    to: WriteArgs,
}

/// List facts: the current ones, those at a given time, or all
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only facts with this subject
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Only facts with this predicate
    #[arg(long, value_name = "TEXT")]
    predicate: Option<String>,

    /// Facts at this time, for example 2026-04-18T20:00:00Z or 2026-04-18
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,

    /// All facts, with those that are no longer valid
    #[arg(long, conflicts_with = "as_of")]
    history: bool,

    /// The maximum number of entries [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl AssertArgs {
    fn run(self) -> Result<Exit> {
        let host = self.to.host.connect_or_create()?;
        let project = self.to.project(&host)?;
        let source = self.source.map(|id| host.package_id(&id, Some(&project))).transpose()?;
        let asserted = FactAssertion {
            subject: self.subject,
            predicate: self.predicate,
            value: self.value,
            valid_from: self.valid_from.into(),
            source_package_id: source.into(),
            confidence: self.confidence.map(ratio).transpose()?.into(),
            asserted_by: self.to.author(&host)?.into(),
            tags: (!self.tags.is_empty()).then_some(self.tags).into(),
            fact_id: Field::Absent,
            project_id: Field::Absent,
            created_at: Field::Absent,
            valid_to: Field::Absent,
            extra: Object::new(),
        };
        let options = AssertParams {
            if_changed: self.if_changed,
            if_out_of_order: self.in_order.then_some(OutOfOrder::Reject),
        };
        let body = Verbatim::from(&asserted);
        let call = Call::<AssertFact>::new(in_project(&project)?, options, body);
        let (answered, _) = host.write_to(&call, &self.credentials.headers())?;
        print_noted(self.to.host.json, &answered, render::fact)
    }
}

impl InvalidateArgs {
    fn run(self) -> Result<Exit> {
        let host = self.to.host.connect()?;
        let path = in_project(&self.to.project(&host)?)?;
        let actor = host.actor(&self.to.actor)?.map(|actor| actor.to_string());
        // A session is that of an actor, and means nothing without one.
        let session = self.to.session.get().filter(|_| actor.is_some());
        let asked = InvalidateParams {
            subject: self.subject.clone(),
            predicate: self.predicate.clone(),
            object: None,
            value: self.value,
            actor,
            session_id: session.map(|id| id_of("session_id", &id)).transpose()?,
        };
        let answered = host.ask::<InvalidateFact>(path, asked)?;
        let ended = answered.answer.0.invalidated;
        let name = render::clean(&format!("{} {}", self.subject, self.predicate));
        print_document(self.to.host.json, &answered.text, |page| match ended {
            0 => print_note(format!("no current fact {name}")),
            _ => page.line(format!("invalidated {name}")),
        })?;
        Ok(Exit::from_answer(ended > 0))
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let is_narrowed =
            self.subject.is_some() || self.predicate.is_some() || self.as_of.is_some();
        let asked = FactParams {
            subject: self.subject,
            predicate: self.predicate,
            as_of: parameter(Moment::new("as_of"), self.as_of.as_deref())?,
            history: self.history,
            limit: self.limit,
            cursor: self.cursor,
            ..FactParams::default()
        };
        print_items(
            self.host.json,
            &host.ask::<ListFacts>(in_project(&project)?, asked)?,
            |page, list| render::facts(page, &list.facts),
            || match (is_narrowed, self.history) {
                (true, _) => format!("no matching fact in {project}"),
                (false, all) => {
                    let facts = if all { "facts" } else { "current facts" };
                    format!("{project} has no {facts}; `accord fact assert` adds one")
                }
            },
        )
    }
}

/// A confidence, which is refused as a host refuses it.
fn ratio(number: f64) -> Result<Ratio> {
    let decoded = Ratio::from_document(number.into());
    Ok(decoded.map_err(|error| decoded_failure(error).at("/confidence"))?)
}
