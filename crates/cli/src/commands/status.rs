//! `accord status`: the state of all parts of this folder, and the next command.

use accord_api::NoParams;
use accord_api::operations::about::ReadMetrics;
use accord_api::operations::inbox::{InboxQuery, ListInbox};
use accord_api::parameter::InProject;
use accord_base::inbox::InboxItem;
use accord_contract::text::counted;
use accord_contract::{Object, Timestamp, Wire as _, message};
use accord_live_core::operations::questions::{ListLiveSessions, LiveSessionsQuery};
use accord_memory_core::operations::{DigestParams, Orchestrate};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{ListQuery, ListTasks};

use super::inbox::list::waiting;
use super::{edge, run};
use crate::host::{
    ActorArg, Connection, DataFolder, HostArgs, ProjectArg, Target, hub_here, project_id, reader,
};
use crate::render::{Page, clean, one_line};
use crate::{CliError, Exit, Result, print_either};

/// Show the state of all parts of this folder, and the next command
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

message! {
    /// The state of all parts of a folder.
    pub struct FolderStatus("FolderStatus", open) {
        /// The parts, each with its state in a sentence.
        required parts: Vec<FolderPart> = "parts", "folder-parts";
        /// The command to type next, and why.
        required next: FolderPart = "next", "folder-part";
        /// When it was read.
        required as_of: Timestamp = "as_of", "time:iso-8601";
    }

    /// A part of a folder, and its state; or a command, and why.
    pub struct FolderPart("FolderPart", open) {
        /// Its name.
        required name: String = "name", "text";
        /// Its state.
        required state: String = "state", "text-for-people";
    }
}

/// The metric of receivers that nothing reaches.
const DOWN: &str = "accord_notify_receivers_down ";
/// The most characters of a state.
const LINE: usize = 110;

impl StatusArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let mut parts = Vec::new();
        let mut next = match self.connect(&mut parts)? {
            Some(host) => self.of_host(&host, &mut parts)?,
            None => None,
        };
        if let Some((overview, steps)) = run::overview_here() {
            let inbox = parts.iter_mut().find(|part| part.name == "inbox");
            if let Some(inbox) = inbox.filter(|_| overview.waiting.is_some()) {
                inbox.state.push_str("; the run here waits for you, too");
            }
            parts.push(part("run", run::state_line(&overview)));
            let step = steps.iter().find_map(|step| Some((step.command.clone()?, &step.why)));
            if let Some((command, why)) = step
                && (overview.waiting.is_some() || next.is_none())
            {
                next = Some(part(&command, why));
            }
        } else {
            parts.push(part("run", "no governed repository here"));
        }
        parts.extend(edge::lines_here().into_iter().map(|line| part("edge", line)));
        let has_memory = parts.iter().any(|part| part.name == "inbox");
        let idle = || match (has_memory, hub_here()) {
            (true, _) => part("accord inbox", "nothing waits; it lists what will"),
            (false, Some(hub)) => part(
                &format!("export ACCORD_URL={} ACCORD_KEY=…", shell_words::quote(&hub.url)),
                format!("the memory of this folder is that of its hub, project {}", hub.project),
            ),
            (false, None) => part(
                "accord context deposit --project ID --title TITLE",
                "the first package makes a data folder",
            ),
        };
        let status = FolderStatus {
            parts,
            next: next.unwrap_or_else(idle),
            as_of: Timestamp::emit(accord_system::now()),
            extra: Object::new(),
        };
        let json = self.host.json.then(|| status.encode().to_string());
        print_either(json, |page| write(page, &status))
    }

    /// The host, and a line about it. A folder that does not exist is none.
    fn connect(&self, parts: &mut Vec<FolderPart>) -> Result<Option<Connection>> {
        let line = match self.host.target.target()? {
            Target::Server { url, .. } => format!("server {}", clean(&url)),
            Target::Attempt(_) => "the socket of this attempt".to_owned(),
            Target::Folder(folder) => {
                if !folder.exists() {
                    let line = format!("none yet; it would be {}", folder.display());
                    parts.push(part("data", line));
                    return Ok(None);
                }
                let found = DataFolder::of(self.host.target.data.as_deref())?;
                let served = Connection::to_running_host(&folder).is_ok();
                let served = if served { "served" } else { "no server; `accord serve` starts one" };
                format!("{} ({served})", found.path.display())
            }
        };
        parts.push(part("data", line));
        Ok(Some(Connection::to_decisions(&self.host.target.target()?)?))
    }

    /// The parts of a host, and what to do next.
    fn of_host(
        &self,
        host: &Connection,
        parts: &mut Vec<FolderPart>,
    ) -> Result<Option<FolderPart>> {
        let asked = InboxQuery {
            count: true,
            limit: Some(1),
            actor: reader(&self.actor, host)?,
            ..InboxQuery::default()
        };
        let inbox = host.ask::<ListInbox>(NoParams, asked)?.answer.0;
        match self.project.required(&self.host.target, host) {
            Ok(project) => {
                parts.push(part("project", &project));
                of_project(host, &project, parts)?;
            }
            // None, or several.
            Err(error) => parts.push(part("project", error.to_string())),
        }
        let counts = inbox.counts.as_ref();
        let total = counts.map_or(0, waiting);
        let urgent: u64 = counts.map_or(0, |counts| counts.by_urgency.iter().take(2).sum());
        let is_cut = counts.and_then(|counts| counts.more) == Some(true);
        let than = if is_cut { "more than " } else { "" };
        let items = format!("{than}{} for you", counted(total, "item"));
        parts.push(part(
            "inbox",
            match (total, urgent) {
                (0, _) => "nothing waits for you".to_owned(),
                (_, 0) => items,
                _ => format!("{items}, {urgent} of them urgent"),
            },
        ));
        if let Some(line) = receivers_line(host) {
            parts.push(part("notify", line));
        }
        Ok(inbox.items.first().map(next_of))
    }
}

fn of_project(host: &Connection, project: &str, parts: &mut Vec<FolderPart>) -> Result<()> {
    let id = project_id(project)?;
    let at = || Ok::<_, CliError>(InProject { project: project_id(project)? });
    let asked = DigestParams { project: Some(id), ..DigestParams::default() };
    if let Ok(digest) = host.ask::<Orchestrate>(NoParams, asked) {
        let bundle = digest.answer.0;
        let (summary, open_questions) = (bundle.summary, bundle.open_questions.len() as u64);
        parts.push(part(
            "memory",
            format!(
                "{} and {} in the last 14 days",
                counted(summary.package_count, "package"),
                counted(open_questions, "open question"),
            ),
        ));
    }
    let listed = host.ask::<ListTasks>(at()?, ListQuery { limit: Some(1), ..ListQuery::default() });
    parts.push(part(
        "tasks",
        match listed.ok().and_then(|it| tasks_line(it.answer)) {
            Some(line) => line,
            None => "none; `accord task create TITLE --ready` makes one".to_owned(),
        },
    ));
    let sessions = host.ask::<ListLiveSessions>(at()?, LiveSessionsQuery::default());
    if let Ok(sessions) = sessions {
        let sessions = sessions.answer.0.result.sessions;
        let waiting = sessions.iter().filter(|session| session.ask.is_some()).count();
        let open = counted(sessions.len() as u64, "open session");
        parts.push(part("live", format!("{open}, {waiting} wait for an answer")));
    }
    Ok(())
}

/// Receivers of notifications that nothing reaches; `None` if all get theirs, or nobody sends any.
fn receivers_line(host: &Connection) -> Option<String> {
    let metrics = host.ask::<ReadMetrics>(NoParams, NoParams).ok()?.answer.text;
    let count = metrics.lines().find_map(|line| line.strip_prefix(DOWN)?.trim().parse().ok())?;
    let who = counted(count, "receiver");
    (count > 0).then(|| format!("notifications do not reach {who}; the log of the server says why"))
}

fn tasks_line(answer: <ListTasks as accord_api::Operation>::Answer) -> Option<String> {
    let accord_api::body::OneOf::One(list) = answer else { return None };
    let counts = list.0.result.counts;
    let named = Status::ALL.iter().filter_map(|status| {
        let count = counts.get(status.as_str()).copied().filter(|count| *count > 0)?;
        Some(format!("{count} {status}"))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(", "))
}

fn next_of(item: &InboxItem) -> FolderPart {
    let words = item.words.as_deref().map(|words| format!(": \"{words}\"")).unwrap_or_default();
    part(&format!("accord inbox show {}", item.handle), format!("{}{words}", item.title))
}

fn part(name: &str, state: impl Into<String>) -> FolderPart {
    FolderPart { name: name.to_owned(), state: state.into(), extra: Object::new() }
}

fn write(page: &mut Page, status: &FolderStatus) {
    for part in &status.parts {
        page.line(format!("{:8} {}", clean(&part.name), one_line(&part.state, LINE)));
    }
    let next = &status.next;
    page.line(format!("next     $ {}", clean(&next.name)));
    page.line(format!("         {}", one_line(&next.state, LINE)));
}
