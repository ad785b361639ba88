//! The commands of `accord run` that only read.

use accord_base::decision::DecisionRecord;
use accord_contract::Wire;
use accord_runs::answers::{doctor_answer, status_answer};
use accord_runs::operations::{Overview, Query, RunChoice, TurnView};
use accord_runs_core::RunId;
use accord_runs_core::budget::unaccepted_usd;
use accord_runs_core::state::{State, Status};
use accord_runs_core::views::{DecisionView, EventView, HistoryView};

use super::adopt::kept_lines;
use super::{
    RepoArgs, blocked_lines, busy_lines, evidence_line, finding_lines, next_lines, take,
    waiting_lines,
};
use crate::render::{Page, Style, Times, clean, counted, one_line, table};
use crate::{Exit, Output, Result, print_page};

/// List the decisions and the other lines of the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = LINES)]
pub(super) struct DecisionsArgs {
    /// List the decisions of the repository, which outlive their run
    #[arg(long, conflicts_with_all = ["run", "all", "last"])]
    lasting: bool,

    /// List the decisions of people, from the record that workers in a sandbox cannot reach
    #[arg(long, conflicts_with_all = ["run", "all", "last", "lasting"])]
    people: bool,

    #[command(flatten)]
    lines: LinesArgs,
}

/// List the events
#[derive(Debug, clap::Args)]
#[command(after_help = LINES)]
pub(super) struct EventsArgs {
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    #[command(flatten)]
    lines: LinesArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct LinesArgs {
    /// Only this run; the current one if absent
    #[arg(long, value_name = "ID", value_parser = run_id, conflicts_with = "all")]
    run: Option<RunId>,

    /// All runs
    #[arg(long)]
    all: bool,

    /// Only so many of the newest lines
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    #[command(flatten)]
    repo: RepoArgs,
}

pub(super) fn status(repo: RepoArgs) -> Result<Exit> {
    let overview = take(repo.open()?.status())?;
    let answer = status_answer(&overview, repo.steps(&overview));
    repo.say(&answer, |page| {
        write_status(page, &overview);
        if let Some(kept) = &answer.kept {
            kept.iter().for_each(|change| kept_lines(page, change));
            page.labelled_whole("decide", "accord run adopt shows what can be put in force");
        }
        next_lines(page, &answer.next);
    })
}

impl LinesArgs {
    pub(super) fn history(self) -> Result<Exit> {
        let lines = take(self.repo.open()?.history(&self.query()))?;
        let headings = ["when", "turn", "role", "phase", "status", "summary"];
        self.print(&lines, &headings, |lines| {
            let lines: Vec<HistoryView> = lines.iter().map(HistoryView::of).collect();
            let times = Times::among(lines.iter().filter_map(|line| line.accepted_at.as_deref()));
            let row = |line: HistoryView| {
                vec![
                    time(times, line.accepted_at),
                    text(line.turn_id),
                    text(line.role),
                    text(line.phase),
                    text(line.status),
                    one_line(&line.summary.unwrap_or_default(), 80),
                ]
            };
            lines.into_iter().map(row).collect()
        })
    }
}

impl LinesArgs {
    fn of_people(&self, records: &[DecisionRecord]) -> Result<Exit> {
        let headings = ["when", "who", "known by", "what", "about", "outcome", "note"];
        self.print(records, &headings, |records| {
            let at: Vec<String> =
                records.iter().map(|it| it.decided_at.time().to_string()).collect();
            let times = Times::among(at.iter().map(String::as_str));
            let row = |(record, at): (&DecisionRecord, &String)| {
                vec![
                    time(times, Some(at.clone())),
                    clean(&record.actor),
                    shortly_known(record),
                    clean(&record.kind),
                    clean(&record.subject),
                    clean(&record.outcome),
                    one_line(record.note.as_deref().unwrap_or_default(), 60),
                ]
            };
            records.iter().zip(&at).map(row).collect()
        })
    }
}

impl DecisionsArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.lines.repo.open()?;
        if self.people {
            return self.lines.of_people(&take(runs.person_decisions())?);
        }
        let lines = take(match self.lasting {
            true => runs.repo_decisions(),
            false => runs.decisions(&self.lines.query()),
        })?;
        let people = runs.person_decisions().unwrap_or_default();
        let headings = ["id", "who", "known by", "phase", "what", "status"];
        self.lines.print(&lines, &headings, |lines| {
            let row = |line: DecisionView| {
                vec![
                    text(line.id.clone()),
                    text(line.who.clone()),
                    known_by(&line, &people),
                    text(line.phase),
                    one_line(&line.what.unwrap_or_default(), 80),
                    text(line.status),
                ]
            };
            lines.iter().map(DecisionView::of).map(row).collect()
        })
    }
}

/// How the person of a line is known, the door and the sandbox: from the record of the decision,
/// because a worker can write the ledger.
fn known_by(line: &DecisionView, people: &[DecisionRecord]) -> String {
    if !line.is_person {
        return String::new();
    }
    let id = line.decision_id.as_deref();
    let record = people.iter().find(|record| Some(record.decision_id.as_str()) == id);
    record.map_or_else(|| "only the ledger".to_owned(), shortly_known)
}

fn shortly_known(record: &DecisionRecord) -> String {
    let sandbox = record.sandbox.as_deref().and_then(|it| it.split([' ', ',']).next());
    let words = [Some(record.known_by.as_str()), Some(record.door.as_str()), sandbox];
    clean(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

impl EventsArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let runs = self.lines.repo.open()?;
        let lines = take(runs.events(&self.lines.query(), self.kind.as_deref()))?;
        let headings = ["when", "event", "phase", "status", "turn"];
        self.lines.print(&lines, &headings, |lines| {
            let lines: Vec<EventView> = lines.iter().map(EventView::of).collect();
            let times = Times::among(lines.iter().filter_map(|line| line.timestamp.as_deref()));
            let row = |line: EventView| {
                vec![
                    time(times, line.timestamp),
                    text(line.event_type),
                    text(line.phase),
                    text(line.status),
                    text(line.turn_id),
                ]
            };
            lines.into_iter().map(row).collect()
        })
    }
}

pub(super) fn doctor(repo: RepoArgs) -> Result<Exit> {
    let findings = repo.open()?.doctor();
    let answer = doctor_answer(&findings);
    repo.say(&answer, |page| {
        finding_lines(page, &findings);
        page.line(if answer.healthy { "no problem found" } else { "fix the errors first" });
    })?;
    Ok(Exit::from_answer(answer.healthy))
}

impl LinesArgs {
    fn query(&self) -> Query {
        let run = match (&self.run, self.all) {
            (Some(run), _) => RunChoice::Named(run.clone()),
            (None, true) => RunChoice::All,
            (None, false) => RunChoice::Current,
        };
        Query { run, last: self.last }
    }

    /// As JSON, one document per line; otherwise as a table.
    fn print<L: Wire>(
        &self,
        lines: &[L],
        headings: &[&str],
        rows: impl FnOnce(&[L]) -> Vec<Vec<String>>,
    ) -> Result<Exit> {
        if !self.repo.json {
            return print_page(|page| table(page, headings, &rows(lines)));
        }
        let mut output = Output::stdout();
        for line in lines {
            output.line(line.encode().to_string())?;
        }
        output.finish()
    }
}

/// A member on one line; empty if it is absent.
fn text(member: Option<String>) -> String {
    member.map(|text| one_line(&text, usize::MAX)).unwrap_or_default()
}

fn time(times: Times, member: Option<String>) -> String {
    member.map(|time| times.show_text(&time)).unwrap_or_default()
}

fn write_status(page: &mut Page, overview: &Overview) {
    let name = overview.config.as_ref().map(|config| config.project_name().to_owned());
    let name = name.unwrap_or_else(|_| overview.root.to_string_lossy().into_owned());
    page.heading(&name);
    if let Err(failure) = &overview.config {
        page.labelled_whole("config", &failure.message);
    }
    match &overview.state {
        Err(failure) => page.labelled_whole("state", &failure.message),
        Ok(state) => write_state(page, overview, state),
    }
    for view in &overview.turns {
        write_turn(page, view);
        let merge = overview.merges.iter().find(|merge| merge.turn == *view.turn.id());
        if let Some(merge) = merge {
            evidence_line(page, &merge.evidence);
        }
    }
    busy_lines(page, overview.holder.as_ref(), &overview.journals);
    if let Some(failure) = &overview.no_checkpoints {
        let advice = failure.suggestion.as_deref().unwrap_or(failure.code.meaning());
        page.labelled_whole("git", &format!("{}; {advice}", failure.message));
    }
}

fn write_state(page: &mut Page, overview: &Overview, state: &State) {
    let ink = match state.status() {
        Status::Active | Status::Completed => Style::Good,
        Status::Paused => Style::Waiting,
        Status::Blocked | Status::Failed => Style::Bad,
        Status::Idle => Style::Faint,
    };
    let mut pieces = vec![page.styled(ink, state.status().as_str())];
    if let Some(run) = state.run_id() {
        pieces.push(format!("in {}", clean(state.phase())));
        pieces.push(counted(overview.accepted_turns, "accepted turn"));
        pieces.push(page.styled(Style::Faint, run.as_str()));
    }
    page.pieces(&pieces);
    blocked_lines(page, state);
    if let Some(waiting) = &overview.waiting {
        waiting_lines(page, waiting);
    }
    if let Some(record) = &overview.last_decision {
        let (outcome, actor) = (clean(&record.outcome), clean(&record.actor));
        let known = format!("{outcome} {} by {actor}", clean(&record.subject));
        page.labelled_whole("decided", &format!("{known} ({})", shortly_known(record)));
    }
    for (turn, output) in &overview.says {
        let trouble = output.trouble().map(|trouble| format!("{turn}: {}", trouble.as_str()));
        page.labelled_some_whole("trouble", trouble.as_deref());
        let said = output.last_message().map(|said| one_line(said, 200));
        page.labelled_some("says", said.as_deref());
    }
    for (path, turn) in &overview.changed {
        let what = format!("{} since {turn} was accepted; it is not committed", clean(path));
        page.labelled_whole("changed", &what);
    }
    state.gate_failure_reasons().iter().for_each(|reason| page.labelled_whole("gate", reason));
    write_delegations(page, state);
    if state.status() != Status::Completed {
        page.labelled_each("warning", &overview.last_warnings);
    }
    // The rest of the budget depends on the configuration, which may have changed since the last
    // turn.
    let config = overview.config.as_ref().ok();
    if let Some(most) = config.and_then(|config| config.budget.per_run_max_usd) {
        let spent = state.spent_usd() + unaccepted_usd(state);
        let left = (most - spent).max(0.0);
        page.labelled("budget", &format!("{spent:.2} USD spent, {left:.2} left"));
    }
}

/// The delegations that have not been reviewed yet.
fn write_delegations(page: &mut Page, state: &State) {
    for item in state.open_delegations() {
        let text = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
        let (id, from, to) = (text(item.delegation_id), text(item.parent_role), text(item.to_role));
        let (status, charter) = (text(item.status), text(item.charter));
        page.labelled("task", &format!("{id} of {from} for {to}, {status}: {charter}"));
    }
    if let Some(role) = state.delegation_reviewer() {
        page.labelled("review", &format!("{role} reviews the results of its delegations"));
    }
}

fn write_turn(page: &mut Page, view: &TurnView) {
    let turn = &view.turn;
    let status = turn.status().as_str();
    let mut text = format!("{} {} {status}, attempt {}", turn.id(), turn.role(), turn.attempt());
    if view.staged {
        text += ", result staged";
    }
    if view.overdue {
        text += ", overdue";
    }
    if let Some(sandbox) = turn.worker_sandbox() {
        text += &format!(", sandbox {sandbox}");
    }
    page.labelled("turn", &text);
}

fn run_id(text: &str) -> Result<RunId, String> {
    RunId::parse(text).ok_or_else(|| "an id has letters, digits, _ and -".to_owned())
}

pub(super) const LINES: &str = "With --json, each line of the output is a document.";
