//! `accord inbox do`: runs the command of a verb, and says what then happened.

use accord_api::NoParams;
use accord_api::operations::decisions::{DecisionParams, ListDecisions};
use accord_api::operations::inbox::{InboxQuery, ListInbox};
use accord_api::parameter::InProject;
use accord_base::inbox::{InboxItem, InboxVerb, kind};
use accord_contract::Code;
use clap::Parser as _;

use super::ItemArgs;
use super::list::{more, waiting};
use crate::commands::{Cli, words};
use crate::host::{Connection, TargetArgs};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_note};

/// Decide about an item, with the command that its verb names
#[derive(Debug, clap::Args)]
#[command(after_help = "The verb runs a command, which is printed first. It decides about what \
                        the item shows now: if that changed, it is refused. Options of that \
                        command follow after --, for example: accord inbox do 3f9a2c approve -- \
                        --yes")]
pub(super) struct DoArgs {
    #[command(flatten)]
    item: ItemArgs,

    /// The verb, which `accord inbox` lists, or its beginning
    #[arg(value_name = "VERB")]
    verb: String,

    /// A note, a reason or an answer, as the verb needs it
    #[arg(long, value_name = "TEXT", value_parser = words)]
    note: Option<String>,

    /// The version of the item that you saw; refused if it is another one now
    #[arg(long, value_name = "VERSION")]
    expect: Option<String>,

    /// More options of the command
    #[arg(last = true, value_name = "OPTION")]
    more: Vec<String>,
}

/// What stands for the note in the command of a verb.
const NOTE: &str = "{note}";

impl DoArgs {
    pub(super) fn run(self) -> Result<Exit> {
        if let Some(here) = self.item.here() {
            return self.in_run(&here.0);
        }
        let host = self.item.connect()?;
        let item = self.item.show(&host)?;
        check(&item, self.expect.as_deref())?;
        let verb = find(&item, &self.verb)?;
        let mut command = filled(verb, self.note.as_deref())?;
        if self.item.host.json {
            command.push("--json".to_owned());
        }
        // A verification is done in nobody's name.
        let names_actor = item.kind != kind::STORE_DAMAGE;
        if let Some(actor) = self.item.actor.named()?.filter(|_| names_actor) {
            command.extend(["--actor".to_owned(), actor.to_string()]);
        }
        command.extend(self.more);
        // The folder belongs to the command now.
        drop(host);
        let ended = run(command, options(&self.item.host.target))?;
        let host = self.item.connect()?;
        receipt(&host, &self.item, &item)?;
        Ok(ended)
    }
}

impl DoArgs {
    /// Decides about the governed run in this folder.
    fn in_run(self, item: &InboxItem) -> Result<Exit> {
        check(item, self.expect.as_deref())?;
        let mut command = filled(find(item, &self.verb)?, self.note.as_deref())?;
        if self.item.host.json {
            command.push("--json".to_owned());
        }
        command.extend(self.more);
        let ended = run(command, Vec::new())?;
        let left = super::here::items();
        print_note(match left.first() {
            _ if left.iter().any(|next| next.0.id == item.id) => "it still waits".to_owned(),
            Some(next) => format!("it does not wait any more; next: {}", clean(&next.0.title)),
            None => "it does not wait any more".to_owned(),
        });
        Ok(ended)
    }
}

/// Runs a command of Accord in this process. Options that name the host are not printed: a key may
/// be among them.
fn run(mut command: Vec<String>, options: Vec<String>) -> Result<Exit> {
    print_note(clean(&format!("$ {}", shell_words::join(&command))));
    command.extend(options);
    let parsed = Cli::try_parse_from(&command)
        .map_err(|error| CliError::usage(error.render().to_string().trim().to_owned()))?;
    parsed.run()
}

/// Refuses an item that is not the one that the person saw.
fn check(item: &InboxItem, expected: Option<&str>) -> Result<()> {
    let Some(expected) = expected else { return Ok(()) };
    let now = item.version.as_deref().unwrap_or_default();
    if !expected.is_empty() && now.starts_with(expected) {
        return Ok(());
    }
    let message = format!("the item shows {} now, not {}", clean(now), clean(expected));
    let help = format!("look at `accord inbox show {}`, then decide again", item.handle);
    Err(CliError::new(Code::DecisionStale, message).help(help))
}

fn find<'i>(item: &'i InboxItem, name: &str) -> Result<&'i InboxVerb> {
    let exact = item.verbs.iter().find(|verb| verb.name == name);
    let mut begins = item.verbs.iter().filter(|verb| verb.name.starts_with(name));
    if let Some(verb) = exact.or_else(|| begins.next().filter(|_| begins.next().is_none())) {
        return Ok(verb);
    }
    let names: Vec<String> = item.verbs.iter().map(|verb| clean(&verb.name)).collect();
    if item.kind == kind::LIVE_ASK && name == "answer" && !names.is_empty() {
        let message = format!("say which answer: {}", names.join(", "));
        let help = format!("accord inbox do {} {}", item.handle, names[0]);
        return Err(CliError::usage(message).help(help));
    }
    let message = format!("{} has no verb {}", item.handle, clean(name));
    Err(CliError::usage(message).help(match names.is_empty() {
        true => format!(
            "a {} is decided where its source is; `accord inbox show {}` says where",
            clean(&item.kind),
            item.handle
        ),
        false => format!("it has: {}", names.join(", ")),
    }))
}

/// The command with the note of the person in its place, or without the place.
fn filled(verb: &InboxVerb, note: Option<&str>) -> Result<Vec<String>> {
    let mut command = Vec::new();
    let mut used = false;
    for word in &verb.command {
        match (word == NOTE, note) {
            (false, _) => command.push(word.clone()),
            (true, Some(note)) => {
                used = true;
                command.push(note.to_owned());
            }
            (true, None) if verb.needs_note => {
                let message = format!("{} needs --note TEXT", clean(&verb.name));
                return Err(CliError::usage(message));
            }
            (true, None) => {
                // The option whose value it would be.
                command.pop_if(|word| word.starts_with("--"));
            }
        }
    }
    if note.is_some() && !used {
        return Err(CliError::usage(format!("{} takes no note", clean(&verb.name))));
    }
    Ok(command)
}

/// The options that name the host in another command.
fn options(target: &TargetArgs) -> Vec<String> {
    let data = target.data.as_ref().map(|data| data.to_string_lossy().into_owned());
    let all = [("--url", target.url.clone()), ("--key", target.key.clone()), ("--data", data)];
    let given = all.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    given.flatten().collect()
}

/// Whether a decision about it is on its way to its edge.
fn waits_for_edge(item: &InboxItem) -> bool {
    let is_on_its_way = |name: &str| ["decision, waiting", "decision, taken"].contains(&name);
    item.evidence.iter().flatten().any(|fact| !fact.is_claim && is_on_its_way(&fact.name))
}

/// Says what came of it: what was recorded, whether the item still waits, what is left.
fn receipt(host: &Connection, args: &ItemArgs, item: &InboxItem) -> Result<()> {
    let path = InProject { project: item.project_id.clone() };
    let (subject, limit) = (Some(item.subject.clone()), Some(1));
    let asked = DecisionParams { subject, limit, ..DecisionParams::default() };
    // A key that may only decide cannot read.
    if let Ok(listed) = host.ask::<ListDecisions>(path, asked)
        && let Some(decision) = listed.answer.0.decisions.first()
        && decision.decided_at.time() >= item.since.time()
    {
        let (outcome, actor, id) = (&decision.outcome, &decision.actor, &decision.decision_id);
        print_note(clean(&format!("recorded: {outcome} by {actor} ({id})")));
    }
    let state = match args.show(host) {
        Ok(now) if waits_for_edge(&now) => {
            "decided, not delivered: the edge applies it at its next contact"
        }
        Ok(_) => "it still waits",
        Err(gone) if gone.code() == Some(Code::InboxItemNotFound) => "it does not wait any more",
        Err(error) => return Err(error),
    };
    let actor = super::reader(&args.actor, host)?;
    let asked = InboxQuery { count: true, limit: Some(1), actor, ..InboxQuery::default() };
    let left = host.ask::<ListInbox>(NoParams, asked)?.answer.0.counts;
    let (more, left) = (more(left.as_ref()), left.as_ref().map_or(0, waiting));
    let next = match left {
        0 => "nothing else waits".to_owned(),
        left => format!("{left}{more} left"),
    };
    print_note(format!("{state}; {next}"));
    Ok(())
}
