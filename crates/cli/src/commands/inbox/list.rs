//! `accord inbox`: the list.

use accord_api::NoParams;
use accord_api::operations::inbox::{InboxEnvelope, InboxQuery, ListInbox};
use accord_base::ProjectId;
use accord_contract::{Code, Wire as _};

use super::here;
use crate::host::{ActorArg, Connection, HostArgs, PageArgs, id_of, print_noted, reader};
use crate::{CliError, Exit, Result, print_line, print_note, render};

// Which items.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only items of this project [default: of all projects]
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Only items of this kind, such as package.review
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Only items that are for you: named by the source, assigned, or claimed
    #[arg(long)]
    mine: bool,

    /// Also items that you put off
    #[arg(long)]
    snoozed: bool,

    /// Print only how many items wait, for the prompt of a shell
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    count: bool,

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let target = match self.host.target.target() {
            // A prompt is shown in every folder.
            Err(error) if self.count && !self.host.json && is_nowhere(&error) => {
                return print_line(u64::from(here::item().is_some()).to_string());
            }
            target => target?,
        };
        let host = Connection::to_decisions(&target)?;
        let project = self.project.as_deref().map(|id| id_of::<ProjectId>("project_id", id));
        let asked = InboxQuery {
            project: project.transpose()?,
            kind: self.kind,
            mine: self.mine,
            snoozed: self.snoozed,
            count: true,
            limit: if self.count { Some(1) } else { self.page.limit },
            cursor: self.page.cursor,
            actor: reader(&self.actor, &host)?,
        };
        let shows_here = asked.project.is_none() && asked.kind.is_none() && !asked.mine;
        let is_first = asked.cursor.is_none();
        let mut answered = host.ask::<ListInbox>(NoParams, asked)?;
        if shows_here
            && is_first
            && let Some(here) = here::item()
        {
            let list = &mut answered.answer.0;
            here.into_list(&mut list.items);
            if let Some(counts) = &mut list.counts {
                counts.total += 1;
                // A run that waits is of the second urgency.
                counts.by_urgency.iter_mut().skip(1).take(1).for_each(|count| *count += 1);
            }
            answered.text = list.encode().to_string();
        }
        let list = &answered.answer.0;
        if self.count && !self.host.json {
            return print_line(total(list).to_string());
        }
        let printed = print_noted(self.host.json, &answered, render::inbox)?;
        if !self.host.json {
            print_note(match (total(list), list.items.is_empty()) {
                (0, _) => "nothing waits for you".to_owned(),
                (_, true) => "there are no more items".to_owned(),
                (total, false) => {
                    let are = if total == 1 { "item waits" } else { "items wait" };
                    format!(
                        "{total} {are}; `accord inbox show ITEM` shows one, \
                             `accord inbox do ITEM VERB` decides"
                    )
                }
            });
        }
        Ok(printed)
    }
}

/// Whether there is no data folder.
fn is_nowhere(error: &CliError) -> bool {
    error.code() == Some(Code::StoreMissing)
}

fn total(list: &InboxEnvelope) -> u64 {
    list.counts.as_ref().map_or(list.items.len() as u64, |counts| counts.total)
}
