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

use crate::host::{ActorArg, Connection, HostArgs, Target, id_of, reader};
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
        let host = match self.host.target.target()? {
            Target::Server { url, key } => Connection::to_server(&url, key)?,
            Target::Folder(folder) => Connection::to_running_host(&folder)?,
            Target::Attempt(socket) => Connection::to_attempt(&socket)?,
        };
        let project = self.project.as_deref().map(|id| id_of::<ProjectId>("project_id", id));
        let project = project.transpose()?;
        let actor = reader(&self.actor, &host)?;
        let query = FollowInboxQuery { project: project.clone() };
        let request = Call::<FollowInbox>::new(NoParams, query, NoBody).encode().into();
        let mut answer = host.runtime.block_on(host.stream(request))?;
        let (mut output, mut held) = (Output::stdout(), Vec::new());
        let mut left = self.count.unwrap_or(u64::MAX);
        while left > 0 {
            let Some(piece) = host.runtime.block_on(answer.next())? else {
                let message = "the host closed the stream";
                return Err(CliError::new(Code::HostUnreachable, message).help("watch it again"));
            };
            held.extend_from_slice(&piece);
            while left > 0
                && let Some(end) = held.iter().position(|byte: &u8| *byte == b'\n')
            {
                let line: Vec<u8> = held.drain(..=end).collect();
                let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
                let Some(data) = line.strip_prefix("data: ") else { continue };
                left -= 1;
                let change = Events::<InboxChange>::decode(data)?;
                if self.host.json {
                    output.line(change.encode().to_string())?;
                } else {
                    let (count, actor) = (true, actor.clone());
                    let project = project.clone();
                    let asked = InboxQuery { project, count, actor, ..InboxQuery::default() };
                    let list = host.ask::<ListInbox>(NoParams, asked)?.answer.0;
                    let mut page = Page::new();
                    page.heading(&format!(
                        "{} wait, {}",
                        change.counts.total,
                        clean(list.as_of.as_str())
                    ));
                    render::inbox(&mut page, &list);
                    output.line(page.as_str())?;
                }
                output.flush().map_err(CliError::from_output)?;
            }
        }
        output.finish()
    }
}
