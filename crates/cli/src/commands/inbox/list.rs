//! `accord inbox`: the list.

use accord_api::operations::inbox::{InboxCounts, InboxEnvelope, InboxQuery, ListInbox};
use accord_api::{Answered, Json, NoParams};
use accord_base::ProjectId;
use accord_contract::alx::ProtocolInfo;
use accord_contract::wire::True;
use accord_contract::{Code, Object, Timestamp, Wire as _};

use super::here;
use crate::host::{ActorArg, Connection, HostArgs, PageArgs, id_of, print_noted, reader};
use crate::render::{self, clean};
use crate::{CliError, Exit, Result, print_line, print_note, print_page};

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

    /// Print only the short names of the items, the most urgent first
    #[arg(long, conflicts_with_all = ["json", "count"])]
    id_only: bool,

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let is_whole = self.project.is_none() && self.kind.is_none() && !self.mine;
        let shows_here = is_whole && self.page.cursor.is_none();
        let here = if shows_here { here::items() } else { Vec::new() };
        let mut answered = match self.ask() {
            // A prompt is shown in every folder, and a governed repository needs no memory.
            Err(error) if is_nowhere(&error) && (self.count || !here.is_empty()) => nothing(),
            answered => answered?,
        };
        if !here.is_empty() {
            let list = &mut answered.answer.0;
            for item in here {
                let rank = usize::try_from(item.0.urgency).unwrap_or(usize::MAX);
                if let Some(counts) = &mut list.counts {
                    counts.total += 1;
                    let of_rank = rank.checked_sub(1).and_then(|at| counts.by_urgency.get_mut(at));
                    of_rank.into_iter().for_each(|count| *count += 1);
                }
                item.into_list(&mut list.items);
            }
            answered.text = list.encode().to_string();
        }
        let list = &answered.answer.0;
        if self.count && !self.host.json {
            return print_line(format!("{}{}", total(list), more(list.counts.as_ref())));
        }
        if self.id_only {
            return print_page(|page| {
                list.items.iter().for_each(|item| page.line(clean(&item.handle)));
            });
        }
        let printed = print_noted(self.host.json, &answered, render::inbox)?;
        if !self.host.json {
            print_note(match (total(list), list.items.is_empty()) {
                (0, _) => "nothing waits for you".to_owned(),
                (_, true) => "there are no more items".to_owned(),
                (total, false) => {
                    let more = more(list.counts.as_ref());
                    let are = if total == 1 { "item waits" } else { "items wait" };
                    format!(
                        "{total}{more} {are}; `accord inbox show ITEM` shows one, \
                             `accord inbox do ITEM VERB` decides"
                    )
                }
            });
        }
        Ok(printed)
    }
}

impl ListArgs {
    /// The list of the host.
    fn ask(&self) -> Result<Answered<Json<InboxEnvelope>>> {
        let host = Connection::to_decisions(&self.host.target.target()?)?;
        let project = self.project.as_deref().map(|id| id_of::<ProjectId>("project_id", id));
        let asked = InboxQuery {
            project: project.transpose()?,
            kind: self.kind.clone(),
            mine: self.mine,
            snoozed: self.snoozed,
            count: true,
            limit: if self.count { Some(1) } else { self.page.limit },
            cursor: self.page.cursor.clone(),
            actor: reader(&self.actor, &host)?,
        };
        host.ask::<ListInbox>(NoParams, asked)
    }
}

/// The list where there is no data folder.
fn nothing() -> Answered<Json<InboxEnvelope>> {
    let counts = InboxCounts { total: 0, by_urgency: vec![0; 5], more: None, extra: Object::new() };
    let as_of = Timestamp::emit(accord_system::now());
    let list = InboxEnvelope {
        ok: True,
        correlation_id: String::new(),
        protocol: ProtocolInfo::ours(Default::default()),
        items: Vec::new(),
        next_cursor: None,
        as_of,
        counts: Some(counts),
        extra: Object::new(),
    };
    Answered { text: list.encode().to_string(), answer: Json(list) }
}

/// Whether there is no data folder.
fn is_nowhere(error: &CliError) -> bool {
    error.code() == Some(Code::StoreMissing)
}

/// What stands behind a number of items if there are more.
pub(super) fn more(counts: Option<&InboxCounts>) -> &'static str {
    if counts.and_then(|counts| counts.more) == Some(true) { "+" } else { "" }
}

/// How many items wait for people. What was decided and waits for its edge does not.
fn total(list: &InboxEnvelope) -> u64 {
    list.counts.as_ref().map_or(list.items.len() as u64, waiting)
}

/// How many of the counted items wait for people.
pub(crate) fn waiting(counts: &InboxCounts) -> u64 {
    counts.by_urgency.iter().take(4).sum()
}
