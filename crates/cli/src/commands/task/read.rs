//! `accord task list`, `show` and `lint`: what is read.

use accord_memory_core::operations::{OfPackage, PackageWithin, ReadPackage};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{LintQuery, LintTasks, ListQuery, ListTasks};
use accord_tasks_core::operations::{ShowQuery, ShowTask};
use accord_tasks_core::task::Priority;

use super::names::name_parser;
use super::place::{Place, PlaceArgs, document};
use crate::host::{PageArgs, print_document};
use crate::render::{self, clean, counted};
use crate::{Exit, Result, print_note};

/// List tasks; finished ones only with --all
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only tasks with this status; can be repeated
    #[arg(long = "status", value_name = "STATUS",
          value_parser = name_parser::<Status>())]
    statuses: Vec<Status>,

    /// Finished tasks, too
    #[arg(long)]
    all: bool,

    /// Only tasks that this agent has or that are routed to it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Only tasks that are routed to this role
    #[arg(long, value_name = "NAME")]
    role: Option<String>,

    /// Only tasks that are routed to this team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,

    /// Only tasks with this priority
    #[arg(long, value_name = "PRIORITY", value_parser = name_parser::<Priority>())]
    priority: Option<Priority>,

    /// Only tasks with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// Only the parts of this task
    #[arg(long, value_name = "ID")]
    parent: Option<String>,

    /// Only tasks whose titles or texts contain these words
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,

    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Show one task, with the digest that a decision can require
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The task
    id: String,

    /// Leave the body out
    #[arg(long)]
    no_body: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Check every file of the tree; exit code 1 if something is wrong
#[derive(Debug, clap::Args)]
pub(super) struct LintArgs {
    /// The maximum number of findings [default: 1000]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    #[command(flatten)]
    place: PlaceArgs,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let query = ListQuery {
            status: (!self.statuses.is_empty()).then_some(self.statuses),
            all: self.all,
            agent: self.agent,
            role: self.role,
            team: self.team,
            priority: self.priority,
            tag: self.tag,
            parent: self.parent,
            text: self.text,
            limit: self.page.limit,
            cursor: self.page.cursor,
            ..ListQuery::default()
        };
        let answered = document(place.host.ask::<ListTasks>(place.tasks()?, query)?)?;
        let list = answered.answer.0.result;
        let printed = print_document(place.json, &answered.text, |it| render::tasks(it, &list))?;
        if place.json {
            return Ok(printed);
        }
        if list.tasks.is_empty() {
            print_note(clean(&format!("no task of {} fits", place.project)));
        }
        if let Some(cursor) = &list.next_cursor {
            let more = counted(list.remaining, "more task");
            print_note(format!("{more}: --cursor {}", clean(cursor)));
        }
        render::unmerged(list.unmerged.as_deref()).iter().for_each(print_note);
        let is_named = |id: &&String| {
            let mut twice = list.unmerged.iter().flatten();
            !twice.any(|other| other.to_string() == **id)
        };
        for id in list.damaged.iter().filter(is_named) {
            print_note(format!("damaged and left out: {}; {}", clean(id), place.command("lint")));
        }
        Ok(printed)
    }
}

impl ShowArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let query = ShowQuery { without_body: self.no_body };
        let answered = place.host.ask::<ShowTask>(place.task(&self.id)?, query)?;
        let kept = answered.answer.0.result.task.package_id.clone();
        let kept = kept.filter(|_| !place.json).filter(|id| is_kept(&place, id));
        place.print(answered, |page, answer| {
            render::task(page, answer);
            if let Some(id) = kept {
                page.labelled_whole("memory", &format!("accord context pull {}", clean(&id)));
            }
            let lease = answer.task.lease.as_ref();
            if lease.is_some_and(|lease| lease.elsewhere == Some(true)) {
                let id = answer.task.id;
                return render::next(page, &place.command(&format!("block {id} REASON")));
            }
            let verb = match answer.task.status {
                Status::Review => "approve",
                Status::Blocked => "unblock",
                Status::Deadletter => "resurrect",
                Status::Done | Status::Cancelled => {
                    let id = answer.task.id;
                    return render::next(page, &place.command(&format!("reopen {id} REASON")));
                }
                Status::Ready => {
                    let id = answer.task.id;
                    return render::next(page, &place.command(&format!("claim {id} --as NAME")));
                }
                _ => return,
            };
            let id = answer.task.id;
            render::next(page, &place.command(&format!("{verb} {id}")));
            if verb == "approve" {
                render::or(page, &place.command(&format!("send-back {id} REASON")));
            }
        })
    }
}

/// Whether the memory of a task has the package with its result.
fn is_kept(place: &Place, id: &str) -> bool {
    let (Ok(project), Ok(package)) = (place.project_id(), id.parse()) else { return false };
    let within = PackageWithin { project: Some(project) };
    place.ask_memory::<ReadPackage>(OfPackage { package }, within).is_some()
}

impl LintArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let answer =
            place.host.ask::<LintTasks>(place.tasks()?, LintQuery { limit: self.limit })?;
        let is_clean = answer.answer.0.result.clean;
        place.print(answer, render::lint)?;
        Ok(Exit::from_answer(is_clean))
    }
}
