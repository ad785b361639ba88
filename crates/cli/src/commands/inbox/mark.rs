//! `accord inbox claim`, `assign`, `release`, `snooze` and `wake`: marks on an item.

use std::time::Duration;

use accord_api::operations::inbox::{InboxMarking, MarkInboxItem, MarkInboxRequest};
use accord_api::parameter::Acting as Who;
use accord_api::{Call, Json};
use accord_base::Door;

use super::ItemArgs;
use crate::arguments::duration;
use crate::host::{Actor, print_document};
use crate::render;
use crate::{Exit, Result};

// A mark without more.
#[derive(Debug, clap::Args)]
pub(super) struct MarkArgs {
    #[command(flatten)]
    item: ItemArgs,
}

/// Say whom an item is for
#[derive(Debug, clap::Args)]
pub(super) struct AssignArgs {
    #[command(flatten)]
    item: ItemArgs,

    /// The person, such as human:lead
    #[arg(long, value_name = "ACTOR", value_parser = Actor::parse)]
    to: Actor,
}

/// Put an item off; others still see it
#[derive(Debug, clap::Args)]
pub(super) struct SnoozeArgs {
    #[command(flatten)]
    item: ItemArgs,

    /// For how long, such as 30m or 2h; at most 15m for urgency 1
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
}

impl MarkArgs {
    pub(super) fn run(self, mark: InboxMarking) -> Result<Exit> {
        send(&self.item, MarkInboxRequest { mark, to: None, seconds: None })
    }
}

impl AssignArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let (mark, to) = (InboxMarking::Assign, Some(self.to.to_string()));
        send(&self.item, MarkInboxRequest { mark, to, seconds: None })
    }
}

impl SnoozeArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let seconds = self.time.map(|time| time.as_secs().max(1));
        send(&self.item, MarkInboxRequest { mark: InboxMarking::Snooze, to: None, seconds })
    }
}

fn send(args: &ItemArgs, request: MarkInboxRequest) -> Result<Exit> {
    // A data folder with only tasks gets its store: a mark must last.
    let host = args.host.connect_or_create()?;
    let by = args.actor.acting()?;
    let who = Who { actor: None, door: Some(Door::Cli) };
    let call = Call::<MarkInboxItem>::new(args.path(), who, Json(request));
    let answered = host.call_as_person(&by, &call)?;
    print_document(args.host.json, &answered.text, |page| {
        render::inbox_marks(page, &answered.answer.0.item);
    })
}
