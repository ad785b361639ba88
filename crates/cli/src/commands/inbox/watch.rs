//! `accord inbox watch`: the list, printed again each time that it changes.

use std::io::Write as _;

use accord_api::body::Events;
use accord_api::operations::inbox::{
    FollowInbox, FollowInboxQuery, InboxChange, InboxQuery, ListInbox,
};
use accord_api::{Call, NoBody, NoParams};
use accord_base::ProjectId;
use accord_contract::Code;
use accord_contract::Wire as _;

use super::list::{more, waiting};
use crate::host::{ActorArg, HostArgs, Sent, SentEvents, id_of, reader};
use crate::render::{self, Page, clean};
use crate::{CliError, Exit, Output, Result};

/// Print the inbox each time that it changes, until Ctrl-C
///
/// Needs a host that runs: `accord serve`.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Only items of this project [default: of all projects]
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// End after this number of changes
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

impl WatchArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let host = self.host.target.to_served()?;
        let project = self.project.as_deref().map(|id| id_of::<ProjectId>("project_id", id));
        let project = project.transpose()?;
        let actor = reader(&self.actor, &host)?;
        let query = FollowInboxQuery { project: project.clone() };
        let request = Call::<FollowInbox>::new(NoParams, query, NoBody).encode().into();
        let mut events = host.runtime.block_on(SentEvents::open(&host, request))?;
        let mut output = Output::stdout();
        let mut left = self.count.unwrap_or(u64::MAX);
        while left > 0 {
            match host.runtime.block_on(events.next())? {
                None => {
                    let message = "the host closed the stream";
                    let closed = CliError::new(Code::HostUnreachable, message);
                    return Err(closed.help("watch it again"));
                }
                Some(Sent::Comment(_)) => {}
                Some(Sent::Event { data, .. }) => {
                    left -= 1;
                    let change = Events::<InboxChange>::decode(&data)?;
                    if self.host.json {
                        output.line(change.encode().to_string())?;
                    } else {
                        let (count, actor) = (true, actor.clone());
                        let project = project.clone();
                        let asked = InboxQuery { project, count, actor, ..InboxQuery::default() };
                        let list = host.ask::<ListInbox>(NoParams, asked)?.answer.0;
                        let mut page = Page::new();
                        page.heading(&format!(
                            "{}{} wait, {}",
                            waiting(&change.counts),
                            more(Some(&change.counts)),
                            clean(list.as_of.as_str())
                        ));
                        render::inbox(&mut page, &list);
                        output.line(page.as_str())?;
                    }
                    output.flush().map_err(CliError::from_output)?;
                }
            }
        }
        output.finish()
    }
}
