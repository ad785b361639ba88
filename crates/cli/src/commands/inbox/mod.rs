//! `accord inbox`: what waits for people, in every project and protocol.
//!
//! A decision is made with the command of its protocol: `do` runs it, and says what then happened.

mod act;
mod here;
pub(crate) mod list;
mod mark;
mod watch;

use accord_api::operations::inbox::OfItem;
use accord_api::operations::inbox::ShowInboxItem;
use accord_api::parameter::Acting;
use accord_base::inbox::{InboxItem, InboxVerb};
use accord_contract::Wire as _;
use accord_host::own_verb;
use clap::builder::NonEmptyStringValueParser;

use crate::host::{ActorArg, Connection, HostArgs, print_document, reader};
use crate::render;
use crate::{Exit, Result, print_either};

/// List what waits for people; show, decide, claim, assign or put off an item
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct InboxArgs {
    #[command(subcommand)]
    command: Option<InboxCommand>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum InboxCommand {
    Show(ShowArgs),
    Do(act::DoArgs),
    /// Say that you look at an item; others can still decide
    Claim(mark::MarkArgs),
    Assign(mark::AssignArgs),
    /// Take a claim and an assignment back
    Release(mark::MarkArgs),
    Snooze(mark::SnoozeArgs),
    /// Show an item again that you put off
    Wake(mark::MarkArgs),
    Watch(watch::WatchArgs),
}

/// Show an item with its evidence and what can be done about it
#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    item: ItemArgs,
}

// One item of a host.
#[derive(Debug, clap::Args)]
struct ItemArgs {
    /// The short name or the id of the item; the first digits of the name are enough
    #[arg(value_name = "ITEM", value_parser = NonEmptyStringValueParser::new())]
    item: String,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

const EXAMPLES: &str = "\
Examples:
  accord inbox
  accord inbox show 3f9a2c
  accord inbox do 3f9a2c send-back --note 'Name the cost'
  accord inbox snooze 3f9a2c --for 2h
  accord inbox --count
  accord inbox do \"$(accord inbox --kind live.ask --id-only)\" yes

Items come and go with their sources; docs/inbox.md has their kinds.";

impl InboxArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        use accord_api::operations::inbox::InboxMarking;
        match self.command {
            None => self.list.run(),
            Some(InboxCommand::Show(args)) => args.run(),
            Some(InboxCommand::Do(args)) => args.run(),
            Some(InboxCommand::Claim(args)) => args.run(InboxMarking::Claim),
            Some(InboxCommand::Assign(args)) => args.run(),
            Some(InboxCommand::Release(args)) => args.run(InboxMarking::Release),
            Some(InboxCommand::Snooze(args)) => args.run(),
            Some(InboxCommand::Wake(args)) => args.run(InboxMarking::Wake),
            Some(InboxCommand::Watch(args)) => args.run(),
        }
    }
}

impl ShowArgs {
    fn run(self) -> Result<Exit> {
        if let Some(here) = self.item.here() {
            let json = self.item.host.json.then(|| here.0.encode().to_string());
            return print_either(json, |page| render::inbox_item(page, &here.0));
        }
        let host = self.item.connect()?;
        let answered = host.ask::<ShowInboxItem>(self.item.path(), self.item.reading(&host)?)?;
        print_document(self.item.host.json, &answered.text, |page| {
            render::inbox_item(page, &with_own_verbs(answered.answer.0.item));
        })
    }
}

/// The item with commands that are made here: a person may copy them.
fn with_own_verbs(mut item: InboxItem) -> InboxItem {
    let own = |verb: &InboxVerb| {
        let InboxVerb { about, scope, .. } = verb.clone();
        Some(InboxVerb { about, scope, ..own_verb(&item, &verb.name)? })
    };
    let verbs = item.verbs.iter().filter_map(own).collect();
    item.verbs = verbs;
    item
}

impl ItemArgs {
    /// The host. A data folder with only tasks has those.
    fn connect(&self) -> Result<Connection> {
        Connection::to_decisions(&self.host.target.target()?)
    }

    fn path(&self) -> OfItem {
        OfItem { item: self.item.clone() }
    }

    /// The item of the run in this folder, if it is meant.
    fn here(&self) -> Option<here::RunItem> {
        here::items().into_iter().find(|item| item.is_named(&self.item))
    }

    fn reading(&self, host: &Connection) -> Result<Acting> {
        Ok(Acting { actor: reader(&self.actor, host)?, door: None })
    }

    fn show(&self, host: &Connection) -> Result<InboxItem> {
        let shown = host.ask::<ShowInboxItem>(self.path(), self.reading(host)?)?;
        Ok(with_own_verbs(shown.answer.0.item))
    }
}
