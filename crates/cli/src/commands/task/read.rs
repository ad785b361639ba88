//! `accord task list`, `show` and `lint`: what is read.

use accord_contract::codes::Code;
use clap::builder::PossibleValuesParser;

use super::place::PlaceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::print_note;
use crate::render::{self, clean, counted};

pub(super) const STATUSES: [&str; 8] =
    ["backlog", "ready", "in-progress", "blocked", "review", "done", "cancelled", "deadletter"];

/// List tasks; finished ones only with --all
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only tasks with this status; can be repeated
    #[arg(long = "status", value_name = "STATUS",
          value_parser = PossibleValuesParser::new(STATUSES))]
    statuses: Vec<String>,

    /// Finished tasks, too
    #[arg(long, conflicts_with = "statuses")]
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
    #[arg(long, value_name = "PRIORITY")]
    priority: Option<String>,

    /// Only tasks with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// Only the parts of this task
    #[arg(long, value_name = "ID")]
    parent: Option<String>,

    /// Only tasks whose titles contain this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,

    /// The maximum number of entries [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

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
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let statuses = (!self.statuses.is_empty()).then(|| self.statuses.join(","));
        let request = place
            .get(&[])
            .with("status", statuses)
            .with_flag("all", self.all)
            .with("agent", self.agent.as_ref())
            .with("role", self.role.as_ref())
            .with("team", self.team.as_ref())
            .with("priority", self.priority.as_ref())
            .with("tag", self.tag.as_ref())
            .with("parent", self.parent.as_ref())
            .with("text", self.text.as_ref())
            .with_number("limit", self.limit)
            .with("cursor", self.cursor.as_ref());
        let answer = place.send(request)?;
        answer.print_list(
            place.json,
            |page, document| render::tasks(page, &document["result"]),
            || format!("no task of {} fits", place.project),
        )?;
        if !place.json {
            let list = &answer.value()?["result"];
            if let Some(cursor) = list["next_cursor"].as_str() {
                let more = list["remaining"].as_u64().unwrap_or(0);
                let more = counted(more, "more task");
                print_note(format!("{more}: --cursor {}", clean(cursor)));
            }
            for id in list["damaged"].as_array().into_iter().flatten() {
                let id = clean(id.as_str().unwrap_or_default());
                print_note(format!("damaged and left out: {id}; {}", place.command("lint")));
            }
        }
        Ok(Exit::Yes)
    }
}

impl ShowArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let request = place.get(&[&self.id]).with_flag("without_body", self.no_body);
        place.print(request, |page, answer| {
            render::task(page, answer);
            let task = &answer["task"];
            let id = render::member(task, "id");
            match task["status"].as_str() {
                Some("review") => {
                    render::next(page, &place.command(&format!("approve {id}")));
                    render::or(page, &place.command(&format!("send-back {id} REASON")));
                }
                Some("blocked") => {
                    render::next(page, &place.command(&format!("unblock {id}")));
                }
                Some("deadletter") => {
                    render::next(page, &place.command(&format!("resurrect {id}")));
                }
                _ => {}
            }
        })
    }
}

impl LintArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.place.open()?;
        let request = place.get(&["lint"]).with_number("limit", self.limit);
        let answer = place.send(request)?;
        answer.print(place.json, |page, document| render::lint(page, &document["result"]))?;
        let clean = answer.value()?["result"]["clean"].as_bool();
        let clean = clean.ok_or_else(|| {
            CliError::new(Code::HostProtocol, "the answer does not say whether the tree is clean")
        })?;
        Ok(Exit::from_answer(clean))
    }
}
