//! Tasks.

use accord_contract::wire::Value;

use super::counted;
use super::page::{LINE, Page, Style, list};
use super::table::table;
use super::text::{clean, member, one_line};
use super::time::{Times, moment};

/// The most findings, moves and outputs that are shown one by one.
const MANY: usize = 50;

/// Tasks, one per line.
pub(crate) fn tasks(page: &mut Page, answer: &Value) {
    let tasks = list(&answer["tasks"]);
    let times = Times::of(tasks, &["since"]);
    let rows: Vec<Vec<String>> = tasks.iter().map(|task| row(page, task, times)).collect();
    if !rows.is_empty() {
        table(page, &["TASK", "STATUS", "PRIORITY", "WITH", "TITLE", "SINCE", "NOTE"], &rows);
    }
}

fn row(page: &Page, task: &Value, times: Times) -> Vec<String> {
    let priority = member(task, "priority");
    vec![
        member(task, "id"),
        status(page, task),
        if priority == "normal" { String::new() } else { priority },
        holder(task),
        one_line(task["title"].as_str().unwrap_or_default(), LINE),
        times.show(&task["since"]),
        one_line(&note(task), LINE),
    ]
}

/// One task, with what a person decides about.
pub(crate) fn task(page: &mut Page, answer: &Value) {
    let task = &answer["task"];
    page.heading(&member(task, "title"));
    let priority = member(task, "priority");
    let pieces = [
        member(task, "id"),
        status(page, task),
        if priority == "normal" { String::new() } else { priority },
        format!("since {}", moment(&task["since"])),
    ];
    page.pieces(&pieces);
    let route: Vec<String> = ["agent", "role", "team"]
        .iter()
        .filter(|name| task[**name].is_string())
        .map(|name| format!("{name} {}", member(task, name)))
        .collect();
    if !route.is_empty() {
        page.labelled("for", &route.join(", "));
    }
    let tags: Vec<&str> = list(&task["tags"]).iter().filter_map(Value::as_str).collect();
    if !tags.is_empty() {
        page.labelled("tags", &tags.join(", "));
    }
    let lease = &task["lease"];
    if !lease.is_null() {
        let until = moment(&lease["until"]);
        page.labelled("with", &format!("{} until {until}", member(lease, "agent")));
        page.labelled("run", &member(lease, "run_id"));
    }
    for (label, name) in [("after", "depends_on"), ("before", "dependents"), ("parts", "parts")] {
        let mut label = label;
        for other in list(&task[name]) {
            let status = match &other["status"] {
                Value::Null => "missing".to_owned(),
                _ => member(other, "status"),
            };
            page.labelled(label, &format!("{} {status}", member(other, "id")));
            label = "";
        }
    }
    if task["parent"].is_string() {
        page.labelled("part of", &member(task, "parent"));
    }
    if task["block_reason"].is_string() {
        page.labelled_whole("blocked", task["block_reason"].as_str().unwrap_or_default());
    }
    decision(page, "sent back", &task["sent_back"]);
    decision(page, "approved", &task["approval"]);
    if task["attempts"].as_u64().is_some_and(|attempts| attempts > 0) {
        page.labelled("failed", &counted(task["attempts"].as_u64().unwrap_or(0), "time"));
    }
    result(page, &task["run"]);
    outputs(page, answer);
    if task["folder"].is_string() {
        let folder = member(task, "folder");
        let folder = match answer["root"].as_str() {
            Some(root) => format!("{}/{folder}", clean(root)),
            None => folder,
        };
        page.labelled_whole("folder", &folder);
    }
    if answer["evidence"].is_string() {
        page.labelled("evidence", &member(answer, "evidence"));
    }
    if let Some(body) = task["body"].as_str().filter(|body| !body.trim().is_empty()) {
        page.gap();
        for line in body.trim().lines() {
            page.line(format!("  {}", clean(line)).trim_end());
        }
        page.gap();
    }
}

fn decision(page: &mut Page, label: &str, decision: &Value) {
    if decision.is_null() {
        return;
    }
    let note = member(decision, "note");
    let colon = if note.is_empty() { "" } else { ": " };
    let by = member(decision, "by");
    page.labelled_whole(label, &format!("by {by} {}{colon}{note}", moment(&decision["at"])));
}

/// What the last run said.
fn result(page: &mut Page, run: &Value) {
    let result = &run["result"];
    if result.is_null() {
        return;
    }
    let tests = &result["tests"];
    let count = |name: &str| tests[name].as_u64().unwrap_or(0);
    let tested = match count("total") {
        0 => String::new(),
        total => format!(", {} of {total} tests passed", count("passed")),
    };
    let who = member(run, "agent");
    page.labelled("reported", &format!("{} by {who}{tested}", member(result, "outcome")));
    let notes = result["notes"].as_str().unwrap_or_default();
    if !notes.trim().is_empty() {
        page.labelled_whole("notes", notes);
    }
    page.labelled_list("blocker", &result["blockers"], usize::MAX);
}

fn outputs(page: &mut Page, answer: &Value) {
    let mut label = "outputs";
    for output in list(&answer["outputs"]).iter().take(MANY) {
        let bytes = output["bytes"].as_u64().unwrap_or(0);
        page.labelled(label, &format!("{} ({})", member(output, "path"), counted(bytes, "byte")));
        label = "";
    }
    let shown = list(&answer["outputs"]).len();
    let hidden = answer["outputs_hidden"].as_u64().unwrap_or(0) as usize;
    let hidden = hidden + shown.saturating_sub(MANY);
    if hidden > 0 {
        page.labelled("", &format!("and {hidden} more"));
    }
}

/// A task that was created, with what can follow.
pub(crate) fn created_task(
    page: &mut Page,
    answer: &Value,
    work: &str,
    promote: impl FnOnce(&str) -> String,
) {
    let task = &answer["task"];
    let id = member(task, "id");
    let shown = page.styled(Style::Title, &id);
    page.line(format!("created {shown} ({})", status(page, task)));
    warnings(page, answer);
    match task["status"].as_str() {
        Some("ready") => next(page, work),
        Some("backlog") if list(&task["depends_on"]).is_empty() => next(page, &promote(&id)),
        _ => {}
    }
}

/// A task that was changed.
pub(crate) fn changed_task(page: &mut Page, answer: &Value) {
    let task = &answer["task"];
    let id = page.styled(Style::Title, &member(task, "id"));
    let moves = list(&answer["moves"]);
    if moves.is_empty() {
        let changed: Vec<&str> =
            list(&answer["changed"]).iter().filter_map(Value::as_str).collect();
        let what = match changed.as_slice() {
            [] => "unchanged".to_owned(),
            names => format!("changed: {}", clean(&names.join(", "))),
        };
        page.line(format!("{id} {what} ({})", status(page, task)));
    }
    moved(page, moves);
    warnings(page, answer);
}

/// Moves, one per line.
fn moved(page: &mut Page, moves: &[Value]) {
    for each in moves.iter().take(MANY) {
        let id = page.styled(Style::Title, &member(each, "task_id"));
        let reason = member(each, "reason");
        let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
        let to = coloured(page, each["to"].as_str().unwrap_or_default());
        page.line(format!("{id} {} to {to}{reason}", member(each, "from")));
    }
    if moves.len() > MANY {
        page.line(format!("and {} more", moves.len() - MANY));
    }
}

fn warnings(page: &mut Page, answer: &Value) {
    for warning in list(&answer["warnings"]) {
        let text = clean(warning.as_str().unwrap_or_default());
        page.line(format!("{} {text}", page.styled(Style::Waiting, "warning")));
    }
}

/// A claimed task, with what its agent does next.
pub(crate) fn claim(page: &mut Page, claim: &Value, command: &dyn Fn(&str) -> String) {
    let task = &claim["task"];
    let id = member(task, "id");
    page.heading(&member(task, "title"));
    page.pieces(&[id.clone(), status(page, task), member(&task["lease"], "agent")]);
    page.labelled("run", &member(claim, "run_id"));
    page.labelled("alive", &format!("until {}", moment(&claim["alive_until"])));
    page.labelled_whole("folder", &member(claim, "directory"));
    let run = member(claim, "run_id");
    let agent = member(&task["lease"], "agent");
    let agent = shell_words::quote(&agent);
    next(page, &command(&format!("heartbeat {id} --as {agent} --run {run}")));
    or(page, &command(&format!("release {id} --as {agent} --run {run}")));
}

/// Why nothing was claimed.
pub(crate) fn nothing_claimed(page: &mut Page, answer: &Value) {
    let ready = answer["ready"].as_u64().unwrap_or(0);
    let why = match answer["reason"].as_str() {
        Some("none_fits") => "no ready task fits",
        Some("limit_reached") => "as many tasks are in progress as the project allows",
        Some("resource_busy") => "the resource of each ready task is in use",
        _ => "no task is ready",
    };
    page.line(format!("{why} ({ready} ready)"));
}

/// A heartbeat.
pub(crate) fn heartbeat(page: &mut Page, answer: &Value) {
    let id = member(answer, "task_id");
    page.line(format!("{id} is alive until {}", moment(&answer["alive_until"])));
}

/// What a poll did.
pub(crate) fn poll(page: &mut Page, answer: &Value) {
    let (moves, start) = (list(&answer["moves"]), list(&answer["start"]));
    moved(page, moves);
    for alert in list(&answer["alerts"]) {
        let word = page.styled(Style::Waiting, "alert");
        page.line(format!("{word} {} {}", member(alert, "task_id"), member(alert, "reason")));
    }
    if moves.is_empty() && list(&answer["alerts"]).is_empty() {
        page.line("nothing is due");
    }
    if !start.is_empty() {
        page.line(format!("{} can be claimed", counted(start.len() as u64, "ready task")));
    }
}

/// What the end of a session did.
pub(crate) fn session_end(page: &mut Page, answer: &Value) {
    let moves = list(&answer["moves"]);
    moved(page, moves);
    for rejected in list(&answer["rejected"]) {
        let word = page.styled(Style::Bad, "not applied");
        page.line(format!(
            "{word} {}: {}",
            member(rejected, "task_id"),
            member(rejected, "reason")
        ));
    }
    if moves.is_empty() && list(&answer["rejected"]).is_empty() {
        page.line("no result waited to be applied");
    }
    for id in list(&answer["waiting"]) {
        let id = clean(id.as_str().unwrap_or_default());
        page.line(format!("{id} is in progress, without a report"));
    }
}

/// What a message did.
pub(crate) fn received(page: &mut Page, answer: &Value) {
    let moves = list(&answer["moves"]);
    let reason = member(answer, "reason");
    match (answer["applied"].as_bool(), reason.as_str()) {
        (Some(true), _) => {
            let (kind, id) = (member(answer, "type"), member(answer, "task_id"));
            page.line(format!("{kind} of {id} was carried out ({})", member(answer, "status")));
        }
        (_, "not_protocol") => page.line("this is no message of AOF/1; nothing was changed"),
        (_, reason) => {
            let id = member(answer, "task_id");
            page.line(format!("{id} was not moved: {reason} ({})", member(answer, "status")));
        }
    }
    moved(page, moves);
    warnings(page, answer);
}

/// What was taken over from a file.
pub(crate) fn adopted(page: &mut Page, answer: &Value) {
    for change in changes(answer) {
        page.line(format!("adopted {change}"));
    }
    if list(&answer["adopted"]).is_empty() {
        // Its lease was taken over, or its file has become what was refused.
        page.line(format!("{} is adopted as it is", member(&answer["task"], "id")));
    }
    moved(page, list(&answer["moves"]));
}

/// What a person would take over from a file.
pub(crate) fn differences(page: &mut Page, answer: &Value) {
    for change in changes(answer) {
        page.line(format!("differs {change}"));
    }
}

/// The differences between Accord and a file.
fn changes(answer: &Value) -> impl Iterator<Item = String> + '_ {
    list(&answer["adopted"]).iter().map(|change| {
        let (name, old, new) = (member(change, "member"), &change["accord"], &change["file"]);
        clean(&format!("{name}: {old} to {new}"))
    })
}

/// The findings of a check.
pub(crate) fn lint(page: &mut Page, answer: &Value) {
    for finding in list(&answer["findings"]) {
        let path = page.styled(Style::Bad, &member(finding, "path"));
        page.line(format!("{path}: {}", member(finding, "problem")));
        if finding["suggestion"].is_string() {
            page.labelled_whole("", finding["suggestion"].as_str().unwrap_or_default());
        }
    }
    let tasks = counted(answer["tasks"].as_u64().unwrap_or(0), "task");
    let events = counted(answer["events"].as_u64().unwrap_or(0), "event");
    let hidden = answer["hidden"].as_u64().unwrap_or(0);
    let found = list(&answer["findings"]).len() as u64 + hidden;
    let found = match found {
        0 => page.styled(Style::Good, "clean"),
        found => page.styled(Style::Bad, &counted(found, "problem")),
    };
    page.line(format!("{found}: {tasks}, {events}"));
    if hidden > 0 {
        page.line(format!("{} not shown", counted(hidden, "problem")));
    }
}

/// The tasks by status.
pub(crate) fn board(page: &mut Page, answer: &Value) {
    let title = answer["title"].as_str().unwrap_or_default();
    let project = member(answer, "project_id");
    let heading = if title.is_empty() { project } else { clean(title) };
    let total = counted(answer["total"].as_u64().unwrap_or(0), "task");
    page.heading(&format!("{heading}: {total}"));
    for column in list(&answer["columns"]) {
        let count = column["count"].as_u64().unwrap_or(0);
        if count == 0 {
            continue;
        }
        let name = column["status"].as_str().unwrap_or_default();
        page.gap();
        let name = coloured(page, name);
        page.line(format!("{name} {count}"));
        let tasks = list(&column["tasks"]);
        let width = page.width().unwrap_or(LINE);
        for task in tasks {
            card(page, task, width);
        }
        let hidden = column["hidden"].as_u64().unwrap_or(0);
        if hidden > 0 {
            page.line(page.styled(Style::Faint, &format!("  and {hidden} more")));
        }
    }
    let damaged = answer["damaged"].as_u64().unwrap_or(0);
    if damaged > 0 {
        let files = counted(damaged, "file");
        page.gap();
        page.line(page.styled(Style::Bad, &format!("{files} cannot be read; accord task lint")));
    }
}

/// A task on the board, on one line where the terminal has room.
fn card(page: &mut Page, task: &Value, width: usize) {
    let id = member(task, "id");
    let mut rest = member(task, "title");
    let holder = holder(task);
    if !holder.is_empty() {
        rest = format!("[{holder}] {rest}");
    }
    match task["priority"].as_str() {
        Some("critical") => rest = format!("!! {rest}"),
        Some("high") => rest = format!("! {rest}"),
        _ => {}
    }
    let note = note(task);
    if !note.is_empty() {
        rest = format!("{rest} ({note})");
    }
    // Two spaces before, two between.
    let room = width.saturating_sub(id.chars().count() + 4);
    if room < 20 {
        page.line(format!("  {id}"));
        page.line(format!("    {}", one_line(&rest, width.saturating_sub(4).max(10))));
    } else {
        page.line(format!("  {id}  {}", one_line(&rest, room)));
    }
}

/// An event on one line.
pub(crate) fn task_event(event: &Value) -> String {
    let time = event["timestamp"].as_str().unwrap_or_default();
    let time = time.get(11..19).unwrap_or(time);
    let payload = &event["payload"];
    let about = match (payload["from"].as_str(), payload["to"].as_str()) {
        (Some(from), Some(to)) => {
            let reason = member(payload, "reason");
            let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
            format!("{from} to {to}{reason}")
        }
        _ => {
            let members = payload.as_object().into_iter().flatten();
            let texts = members.filter_map(|(name, value)| match value {
                Value::String(text) => Some(format!("{name}={text}")),
                Value::Number(_) | Value::Bool(_) => Some(format!("{name}={value}")),
                _ => None,
            });
            texts.collect::<Vec<_>>().join(" ")
        }
    };
    let text = [
        event["eventId"].to_string(),
        time.to_owned(),
        member(event, "type"),
        member(event, "taskId"),
        member(event, "actor"),
        one_line(&about, LINE),
    ];
    let text: Vec<&str> = text.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    clean(&text.join("  "))
}

/// The next command.
pub(crate) fn next(page: &mut Page, command: &str) {
    let label = page.styled(Style::Title, "next");
    page.line(format!("{label}  {}", clean(command)));
}

/// Another command.
pub(crate) fn or(page: &mut Page, command: &str) {
    let label = page.styled(Style::Title, "or  ");
    page.line(format!("{label}  {}", clean(command)));
}

/// Who has the task, or may have it.
fn holder(task: &Value) -> String {
    match task["lease"]["agent"].as_str() {
        Some(agent) => clean(agent),
        None => ["agent", "role", "team"]
            .iter()
            .find(|name| task[**name].is_string())
            .map(|name| format!("for {}", member(task, name)))
            .unwrap_or_default(),
    }
}

/// What the task waits for.
fn note(task: &Value) -> String {
    if task["block_reason"].is_string() {
        return member(task, "block_reason");
    }
    let waits: Vec<String> =
        list(&task["waits_for"]).iter().map(|other| member(other, "id")).collect();
    match waits.as_slice() {
        [] => String::new(),
        [only] => format!("waits for {only}"),
        [first, others @ ..] => format!("waits for {first} and {} more", others.len()),
    }
}

fn status(page: &Page, task: &Value) -> String {
    coloured(page, task["status"].as_str().unwrap_or_default())
}

fn coloured(page: &Page, status: &str) -> String {
    let style = match status {
        "done" => Style::Good,
        "review" => Style::Waiting,
        "blocked" | "deadletter" => Style::Bad,
        "cancelled" | "backlog" => Style::Faint,
        _ => Style::Title,
    };
    page.styled(style, &clean(status))
}
