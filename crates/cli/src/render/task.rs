//! Tasks.

use accord_contract::Timestamp;
use accord_process::SHOW_DIFFERENCE;
use accord_tasks_core::message::MessageType;
use accord_tasks_core::observed::{cost_line, described, said_line};
use accord_tasks_core::operations as ops;
use accord_tasks_core::route::ALREADY_RECORDED;
use accord_tasks_core::task::{Priority, TaskComment};
use accord_tasks_core::{Status, TaskId};

use super::counted;
use super::page::{LINE, Page, Style};
use super::table::table;
use super::text::{clean, line, one_line};
use super::time::Times;

/// The most findings, moves and outputs that are shown one by one.
const MANY: usize = 50;
/// The most changed files and commits that are shown.
const SHOWN: usize = 20;
/// The most lines of the output of a check that are shown.
const LAST_LINES: usize = 5;
/// Where an agent is whose lease holds nothing here.
const ELSEWHERE: &str = "in another copy of the tasks";
const SAID: &str = "said about the task since you began:";

pub(crate) fn tasks(page: &mut Page, answer: &ops::ListAnswer) {
    let times = Times::among(answer.tasks.iter().map(|task| task.since.as_str()));
    let rows: Vec<Vec<String>> = answer.tasks.iter().map(|task| row(page, task, times)).collect();
    table(page, &["TASK", "STATUS", "PRIORITY", "WITH", "TITLE", "SINCE", "NOTE"], &rows);
}

fn row(page: &Page, task: &ops::TaskItem, times: Times) -> Vec<String> {
    vec![
        task.id.to_string(),
        coloured(page, task.status),
        unusual(task.priority),
        holder(task),
        one_line(&task.title, LINE),
        times.show_text(task.since.as_str()),
        one_line(&note(task), LINE),
    ]
}

/// What to say about tasks of which git left two versions.
pub(crate) fn unmerged(ids: Option<&[TaskId]>) -> Vec<String> {
    let ids = ids.unwrap_or_default().iter().take(MANY);
    ids.map(|id| format!("{id} is there twice after a merge of git; accord task merge")).collect()
}

/// One task, with what a person decides about.
pub(crate) fn task(page: &mut Page, answer: &ops::ShowAnswer) {
    let task = &answer.task;
    page.heading(&task.title);
    let since = format!("since {}", moment(&task.since));
    page.pieces(&[task.id.to_string(), coloured(page, task.status), unusual(task.priority), since]);
    let route: Vec<String> = [("agent", &task.agent), ("role", &task.role), ("team", &task.team)]
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", line(value.as_deref()?))))
        .collect();
    if !route.is_empty() {
        page.labelled("for", &route.join(", "));
    }
    if !task.tags.is_empty() {
        page.labelled("tags", &task.tags.join(", "));
    }
    if let Some(lease) = &task.lease {
        let agent = line(&lease.agent);
        page.labelled_whole(
            "with",
            &match lease.elsewhere {
                Some(true) => format!("{agent} {ELSEWHERE}: its lease holds nothing here"),
                _ => format!("{agent} until {}", moment(&lease.until)),
            },
        );
        page.labelled_some("run", lease.run_id.as_deref());
    }
    if let Some(unadopted) = &task.unadopted {
        page.labelled_whole("waits", &line(&unadopted.problem));
        page.labelled_whole("", &line(&unadopted.suggestion));
    }
    others(page, "after", &task.depends_on);
    others(page, "before", &task.dependents);
    others(page, "parts", &task.parts);
    page.labelled_some("part of", task.parent.map(|parent| parent.to_string()).as_deref());
    let why = if task.status == Status::Deadletter { "error" } else { "blocked" };
    page.labelled_some_whole(why, task.block_reason.as_deref());
    if let Some(end) = task.block_ends {
        page.labelled("", &block_end(end, task.retry_at.as_ref()));
    }
    let former = task.metadata.get("formerIds").and_then(|ids| ids.as_array());
    let former: Vec<&str> = former.into_iter().flatten().filter_map(|id| id.as_str()).collect();
    if !former.is_empty() {
        page.labelled("was", &line(&former.join(", ")));
    }
    if let Some(due) = &task.due {
        let late = if task.overdue == Some(true) { ", which is over" } else { "" };
        page.labelled("due", &format!("{}{late}", line(due)));
    }
    decision(page, "sent back", task.sent_back.as_ref());
    decision(page, "approved", task.approval.as_ref());
    if task.attempts > 0 {
        page.labelled("failed", &counted(task.attempts, "time"));
        let error = task.metadata.get("lastError").and_then(|error| error.as_str());
        // The reason of a block has it, too.
        let is_new = |error: &&str| !task.block_reason.iter().any(|why| why.contains(*error));
        page.labelled_some_whole("last error", error.filter(is_new));
    }
    if let Some(run) = &task.run {
        result(page, run);
    }
    outputs(page, answer);
    observed(page, answer);
    let root = answer.root.as_ref().map(|root| format!("{}/", clean(root))).unwrap_or_default();
    page.labelled_whole("folder", &format!("{root}{}", line(&task.folder)));
    page.labelled("evidence", &line(&answer.evidence));
    let said = task.comments.as_deref().unwrap_or_default();
    comments(page, "comments, as the text of the task has them, which agents can change:", said);
    if let Some(body) = task.body.as_deref().filter(|body| !body.trim().is_empty()) {
        page.gap();
        page.line("the text of the task, which agents can change:");
        for line in body.trim().lines() {
            page.line(format!("  | {}", clean(line)).trim_end());
        }
        page.gap();
    }
}

/// What people and agents said.
fn comments(page: &mut Page, heading: &str, comments: &[TaskComment]) {
    if comments.is_empty() {
        return;
    }
    page.gap();
    page.line(heading);
    for comment in comments {
        page.line(format!("  {}, {}", line(&comment.by), moment(&comment.at)));
        for text in comment.text.lines() {
            page.line(format!("  | {}", clean(text)).trim_end());
        }
    }
}

/// What ends a block, for people.
fn block_end(end: ops::BlockEnd, retry_at: Option<&Timestamp>) -> String {
    match (end, retry_at) {
        (ops::BlockEnd::Retry, Some(at)) => format!("it is tried again at {}", moment(at)),
        (ops::BlockEnd::Retry, None) => "it is tried again".to_owned(),
        (ops::BlockEnd::Dependency, _) => {
            "it goes on once what it waits for is possible again".to_owned()
        }
        (ops::BlockEnd::Unblock | ops::BlockEnd::Person, _) => "it needs a person".to_owned(),
    }
}

fn others(page: &mut Page, mut label: &str, others: &[ops::DependencyView]) {
    for other in others {
        let status = other.status.map_or("missing", Status::as_str);
        page.labelled(label, &format!("{} {status}", other.id));
        label = "";
    }
}

fn decision(page: &mut Page, label: &str, decision: Option<&ops::PersonDecision>) {
    let Some(decision) = decision else { return };
    let note = line(decision.note.as_deref().unwrap_or_default());
    let colon = if note.is_empty() { "" } else { ": " };
    let by = line(&decision.by);
    page.labelled_whole(label, &format!("by {by} {}{colon}{note}", moment(&decision.at)));
}

fn result(page: &mut Page, run: &ops::RunView) {
    let Some(result) = &run.result else { return };
    let tested = match result.tests.total {
        0 => String::new(),
        total => format!(", {} of {total} tests passed", result.tests.passed),
    };
    let who = line(&run.agent);
    page.labelled("reported", &format!("{} by {who}{tested}", result.outcome));
    if !result.notes.trim().is_empty() {
        page.labelled_whole("notes", &result.notes);
    }
    let blockers: Vec<&str> = result.blockers.iter().flatten().map(String::as_str).collect();
    page.labelled_texts("blocker", &blockers, usize::MAX);
}

fn outputs(page: &mut Page, answer: &ops::ShowAnswer) {
    let mut label = "outputs";
    for output in answer.outputs.iter().take(MANY) {
        let size = counted(output.bytes, "byte");
        page.labelled(label, &format!("{} ({size})", line(&output.path)));
        label = "";
    }
    let hidden = answer.outputs_hidden + answer.outputs.len().saturating_sub(MANY) as u64;
    if hidden > 0 {
        page.labelled("", &format!("and {hidden} more"));
    }
}

/// What Accord observed, beside what the agent says.
fn observed(page: &mut Page, answer: &ops::ShowAnswer) {
    if let Some(observed) = &answer.observed {
        page.labelled_some_whole("said by", said_line(observed).as_deref().map(line).as_deref());
        let commits: Vec<&str> = observed.commits.iter().map(String::as_str).collect();
        page.labelled_texts("commits", &commits, SHOWN);
        let files: Vec<&str> = observed.files.iter().map(String::as_str).collect();
        page.labelled_texts("files", &files, SHOWN);
        if observed.elsewhere == Some(true) {
            if observed.changes.is_some() {
                let shown = format!("accord task outputs {} --diff", answer.task.id);
                page.labelled_whole("diff", &shown);
            }
        } else if let Some(base) = &observed.base {
            let tree = shell_words::quote(&observed.work_tree).into_owned();
            let shown = format!("git -C {tree} {SHOW_DIFFERENCE} {base}");
            page.labelled_whole("diff", &line(&shown));
        }
        for check in &observed.checks {
            let seconds = check.duration_ms as f64 / 1_000.0;
            page.labelled_whole("check", &format!("{}, {seconds:.1} s", line(&described(check))));
            for text in check.output.lines().rev().take(LAST_LINES).collect::<Vec<_>>().iter().rev()
            {
                page.labelled("", &line(text));
            }
        }
        page.labelled_whole("cost", &cost_line(observed));
    }
    if answer.reworks > 0 {
        page.labelled("reworks", &counted(answer.reworks, "time"));
    }
    page.labelled_some_whole("sandbox", answer.sandbox.as_deref());
    for finding in &answer.findings {
        page.labelled_whole("finding", finding);
    }
}

/// A task that was created, with what can follow.
pub(crate) fn created_task(
    page: &mut Page,
    answer: &ops::TaskAnswer,
    work: impl FnOnce(&ops::TaskDetails) -> String,
    promote: impl FnOnce(&str) -> String,
) {
    let task = &answer.task;
    let shown = titled(page, task.id);
    page.line(format!("created {shown} ({})", coloured(page, task.status)));
    warnings(page, &answer.warnings);
    match task.status {
        Status::Ready => next(page, &work(task)),
        Status::Backlog if task.depends_on.is_empty() => next(page, &promote(&task.id.to_string())),
        _ => {}
    }
}

pub(crate) fn changed_task(page: &mut Page, answer: &ops::TaskAnswer) {
    if answer.moves.is_empty() {
        let what = match answer.changed.as_slice() {
            [] => "unchanged".to_owned(),
            names => format!("changed: {}", clean(&names.join(", "))),
        };
        let id = titled(page, answer.task.id);
        page.line(format!("{id} {what} ({})", coloured(page, answer.task.status)));
    }
    moved(page, &answer.moves);
    if let Some(end) = answer.task.block_ends.filter(|_| !answer.moves.is_empty()) {
        page.line(block_end(end, answer.task.retry_at.as_ref()));
    }
    warnings(page, &answer.warnings);
}

fn moved(page: &mut Page, moves: &[ops::TaskMove]) {
    for each in moves.iter().take(MANY) {
        let id = titled(page, each.task_id);
        let reason = in_brackets(each.reason.as_deref());
        let to = coloured(page, each.to);
        page.line(format!("{id} {} to {to}{reason}", each.from));
    }
    if moves.len() > MANY {
        page.line(format!("and {} more", moves.len() - MANY));
    }
}

/// A text on one line, in brackets after a blank, if there is one.
fn in_brackets(text: Option<&str>) -> String {
    let text = line(text.unwrap_or_default());
    if text.is_empty() { text } else { format!(" ({text})") }
}

pub(super) fn warnings(page: &mut Page, warnings: &[String]) {
    for warning in warnings {
        page.line(format!("{} {}", page.styled(Style::Waiting, "warning"), clean(warning)));
    }
}

/// A claimed task, with what its agent does next.
pub(crate) fn claim(page: &mut Page, claim: &ops::ClaimAnswer, command: &dyn Fn(&str) -> String) {
    let (task, run) = (&claim.task, line(&claim.run_id));
    let agent = task.lease.as_ref().map(|lease| line(&lease.agent)).unwrap_or_default();
    page.heading(&task.title);
    page.pieces(&[task.id.to_string(), coloured(page, task.status), agent.clone()]);
    page.labelled("run", &run);
    page.labelled("alive", &format!("until {}", moment(&claim.alive_until)));
    page.labelled_whole("folder", &line(&claim.directory));
    let (id, agent) = (task.id, shell_words::quote(&agent));
    next(page, &command(&format!("heartbeat {id} --as {agent} --run {run}")));
    or(page, &command(&format!("release {id} --as {agent} --run {run}")));
}

pub(crate) fn heartbeat(page: &mut Page, answer: &ops::HeartbeatAnswer) {
    page.line(format!("{} is alive until {}", answer.task_id, moment(&answer.alive_until)));
    comments(page, SAID, answer.comments.as_deref().unwrap_or_default());
}

pub(crate) fn poll(page: &mut Page, answer: &ops::PollAnswer) {
    moved(page, &answer.moves);
    for alert in &answer.alerts {
        let word = page.styled(Style::Waiting, "alert");
        page.line(format!("{word} {} {}", alert.task_id, line(&alert.reason)));
    }
    if answer.moves.is_empty() && answer.alerts.is_empty() {
        page.line("nothing to do");
    }
    for text in unmerged(answer.unmerged.as_deref()) {
        page.line(page.styled(Style::Bad, &text));
    }
    for id in answer.overdue.iter().flatten().take(MANY) {
        page.line(format!("{} {id}", page.styled(Style::Waiting, "overdue")));
    }
    let ready = answer.counts.get(Status::Ready.as_str()).copied().unwrap_or(0);
    if ready > 0 {
        let start = answer.start.len() as u64;
        let now = match start {
            start if start > 0 && start < ready => {
                format!("; a scheduler starts {start} of them now")
            }
            _ => String::new(),
        };
        page.line(format!("{}{now}", counted(ready, "ready task")));
    }
}

pub(crate) fn session_end(page: &mut Page, answer: &ops::SessionEndAnswer) {
    moved(page, &answer.moves);
    for rejected in &answer.rejected {
        let word = page.styled(Style::Bad, "not applied");
        page.line(format!("{word} {}: {}", rejected.task_id, line(&rejected.reason)));
    }
    if answer.moves.is_empty() && answer.rejected.is_empty() {
        page.line("no result waited to be applied");
    }
    for id in &answer.waiting {
        page.line(format!("{id} is in progress, without a report"));
    }
}

pub(crate) fn received(page: &mut Page, answer: &ops::MessageAnswer) {
    let id = answer.task_id.map(|id| id.to_string()).unwrap_or_default();
    let status = answer.status.map_or("", Status::as_str);
    page.line(match answer.reason.as_deref() {
        _ if answer.applied => {
            let kind = answer.kind.map(|kind| kind.to_string()).unwrap_or_default();
            format!("{kind} of {id} was carried out ({status})")
        }
        Some("not_protocol") => "this is no message of AOF/1; nothing was changed".to_owned(),
        Some("waits_for_session_end") => {
            format!("the report of {id} is recorded; it counts when the session ends ({status})")
        }
        Some(ALREADY_RECORDED) => {
            format!("the report of {id} was recorded before; the task stays {status}")
        }
        Some("no_transition")
            if answer.kind == Some(MessageType::CompletionReport)
                && !answer.status.is_some_and(Status::is_final) =>
        {
            format!("the report of {id} is recorded; the task stays {status}")
        }
        reason => {
            format!("{id} was not moved: {} ({status})", line(reason.unwrap_or_default()))
        }
    });
    moved(page, &answer.moves);
    warnings(page, &answer.warnings);
    comments(page, SAID, answer.comments.as_deref().unwrap_or_default());
}

/// What was taken over from a file.
pub(crate) fn adopted(page: &mut Page, answer: &ops::AdoptAnswer) {
    for change in changes(answer) {
        page.line(format!("adopted {change}"));
    }
    if answer.adopted.is_empty() {
        // Its lease was taken over, or its file has become what was refused.
        let id = answer.task.as_ref().map(|task| task.id.to_string()).unwrap_or_default();
        page.line(format!("{id} is adopted as it is"));
    }
    moved(page, &answer.moves);
}

/// A copy of the tree that a person confirms, or would.
pub(crate) fn writer(page: &mut Page, answer: &ops::AdoptWriterAnswer) {
    let count = counted(answer.events, "event");
    let who = if answer.confirmed { "confirmed" } else { "the other copy" };
    page.line(format!("{who} {}: {count}", line(&answer.writer)));
    page.labelled("key", &line(&answer.key));
    let actors: Vec<String> = answer.actors.iter().map(|actor| line(actor)).collect();
    page.labelled("acting", &actors.join(", "));
    let tasks: Vec<String> = answer.tasks.iter().map(ToString::to_string).collect();
    page.labelled("tasks", &tasks.join(", "));
}

/// What a person would take over from a file.
pub(crate) fn differences(page: &mut Page, answer: &ops::AdoptAnswer) {
    for change in changes(answer) {
        page.line(format!("differs {change}"));
    }
}

/// The differences between Accord and a file.
fn changes(answer: &ops::AdoptAnswer) -> impl Iterator<Item = String> + '_ {
    answer.adopted.iter().map(|change| {
        clean(&format!("{}: {} to {}", line(&change.member), change.accord, change.file))
    })
}

pub(crate) fn lint(page: &mut Page, answer: &ops::LintAnswer) {
    for finding in &answer.findings {
        let path = page.styled(Style::Bad, &line(&finding.path));
        page.line(format!("{path}: {}", line(&finding.problem)));
        if let Some(suggestion) = &finding.suggestion {
            page.labelled_whole("", suggestion);
        }
    }
    let (tasks, events) = (counted(answer.tasks, "task"), counted(answer.events, "event"));
    let found = match answer.findings.len() as u64 + answer.hidden {
        0 => page.styled(Style::Good, "clean"),
        found => page.styled(Style::Bad, &counted(found, "problem")),
    };
    page.line(format!("{found}: {tasks}, {events}"));
    if answer.hidden > 0 {
        page.line(format!("{} not shown", counted(answer.hidden, "problem")));
    }
}

pub(crate) fn board(page: &mut Page, answer: &ops::BoardAnswer) {
    let heading = match answer.title.as_deref().unwrap_or_default() {
        "" => line(&answer.project_id),
        title => clean(title),
    };
    page.heading(&format!("{heading}: {}", counted(answer.total, "task")));
    for column in answer.columns.iter().filter(|column| column.count > 0) {
        page.gap();
        let name = coloured(page, column.status);
        page.line(format!("{name} {}", column.count));
        let width = page.width().unwrap_or(LINE);
        for task in &column.tasks {
            card(page, task, width);
        }
        if column.hidden > 0 {
            page.line(page.styled(Style::Faint, &format!("  and {} more", column.hidden)));
        }
    }
    let twice = unmerged(answer.unmerged.as_deref());
    let damaged = answer.damaged.saturating_sub(twice.len() as u64);
    if !twice.is_empty() {
        page.gap();
    }
    for text in twice {
        page.line(page.styled(Style::Bad, &text));
    }
    if damaged > 0 {
        let files = counted(damaged, "file");
        page.gap();
        page.line(page.styled(Style::Bad, &format!("{files} cannot be read; accord task lint")));
    }
}

/// A task on the board, on one line where the terminal has room.
fn card(page: &mut Page, task: &ops::TaskItem, width: usize) {
    let id = task.id.to_string();
    let mark = match task.priority {
        Priority::Critical => "!! ",
        Priority::High => "! ",
        _ => "",
    };
    let holder = match holder(task) {
        none if none.is_empty() => none,
        holder => format!("[{holder}] "),
    };
    let note = in_brackets(Some(&note(task)));
    let rest = format!("{mark}{holder}{}{note}", line(&task.title));
    // Two spaces before, two between.
    let room = width.saturating_sub(id.chars().count() + 4);
    if room < 20 {
        page.line(format!("  {id}"));
        page.line(format!("    {}", one_line(&rest, width.saturating_sub(4).max(10))));
    } else {
        page.line(format!("  {id}  {}", one_line(&rest, room)));
    }
}

pub(crate) fn task_event(event: &ops::AofEvent) -> String {
    let time = event.timestamp.as_str();
    let time = time.get(11..19).unwrap_or(time);
    let about = match event.moved() {
        Some((from, to, reason)) => format!("{from} to {to}{}", in_brackets(reason)),
        None => event.details(),
    };
    let number = match event.copy.as_deref() {
        Some(copy) => format!("{} of {}", event.event_id, line(copy)),
        None => event.event_id.to_string(),
    };
    let text = [
        number,
        time.to_owned(),
        line(&event.kind),
        line(event.task_id.as_deref().unwrap_or_default()),
        line(&event.actor),
        one_line(&about, LINE),
    ];
    let text: Vec<&str> = text.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    clean(&text.join("  "))
}

pub(crate) fn next(page: &mut Page, command: &str) {
    let label = page.styled(Style::Title, "next");
    page.line(format!("{label}  {}", clean(command)));
}

pub(crate) fn or(page: &mut Page, command: &str) {
    let label = page.styled(Style::Title, "or  ");
    page.line(format!("{label}  {}", clean(command)));
}

/// Who has the task, did it, or may have it.
pub(super) fn holder(task: &ops::TaskItem) -> String {
    if let Some(ops::LeaseView { agent, .. }) = &task.lease {
        return clean(agent);
    }
    if let Some(by) = &task.done_by {
        return format!("by {}", line(by));
    }
    let named = task.agent.as_ref().or(task.role.as_ref()).or(task.team.as_ref());
    named.map(|name| format!("for {}", line(name))).unwrap_or_default()
}

/// What the task waits for, and whether it is late.
fn note(task: &ops::TaskItem) -> String {
    let due = task.due.as_deref().map(|due| match task.overdue {
        Some(true) => format!("overdue since {}", line(due)),
        _ => format!("due {}", line(due)),
    });
    let due = due.filter(|_| !task.status.is_final());
    if let Some(unadopted) = &task.unadopted {
        let status = unadopted.status;
        return match (&unadopted.writer, &unadopted.by) {
            (Some(_), Some(by)) => {
                format!("{status} by {} in another copy, not verified here", line(by))
            }
            (Some(_), None) => format!("{status} in another copy, not verified here"),
            (None, _) => format!("moved to {status}, not adopted"),
        };
    }
    let is_elsewhere = task.lease.as_ref().is_some_and(|lease| lease.elsewhere == Some(true));
    let elsewhere = is_elsewhere.then(|| ELSEWHERE.to_owned());
    let parts = [elsewhere, due, Some(waiting(task)).filter(|text| !text.is_empty())];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn waiting(task: &ops::TaskItem) -> String {
    if let Some(reason) = &task.block_reason {
        // What happens next comes first: a long reason is cut off.
        return match (task.block_ends, &task.retry_at) {
            (Some(ops::BlockEnd::Retry), Some(at)) => {
                format!("tried again at {}: {}", moment(at), line(reason))
            }
            (Some(ops::BlockEnd::Person | ops::BlockEnd::Unblock), _) => {
                format!("needs a person: {}", line(reason))
            }
            _ => line(reason),
        };
    }
    match task.waits_for.as_deref().unwrap_or_default() {
        [] => String::new(),
        [only] => format!("waits for {}", only.id),
        [first, others @ ..] => format!("waits for {} and {} more", first.id, others.len()),
    }
}

/// A priority, if it is not the usual one.
fn unusual(priority: Priority) -> String {
    match priority {
        Priority::Normal => String::new(),
        priority => priority.to_string(),
    }
}

/// A time on its own, to the minute.
fn moment(time: &Timestamp) -> String {
    Times::default().show_text(time.as_str())
}

pub(super) fn titled(page: &Page, id: TaskId) -> String {
    page.styled(Style::Title, &id.to_string())
}

pub(super) fn coloured(page: &Page, status: Status) -> String {
    let style = match status {
        Status::Done => Style::Good,
        Status::Review => Style::Waiting,
        Status::Blocked | Status::Deadletter => Style::Bad,
        Status::Cancelled | Status::Backlog => Style::Faint,
        _ => Style::Title,
    };
    page.styled(style, status.as_str())
}
