//! The runs of repositories that are joined to a host.

use accord_contract::Object;
use accord_runs_core::operations::joined::JoinedRun;
use accord_runs_core::views::HistoryView;

use super::edge::in_words as decision_in_words;
use super::page::{LINE, Page};
use super::table::table;
use super::text::{clean, one_line};
use super::time::Times;

pub(crate) fn joined_runs(page: &mut Page, runs: &[JoinedRun]) {
    let times = Times::of_times(runs.iter().map(|run| Some(&run.as_of)));
    let rows = runs.iter().map(|run| {
        let cells = [
            run.edge_id.to_string(),
            run.name.clone(),
            run.run_id.clone().unwrap_or_default(),
            run.phase.clone().unwrap_or_default(),
            status(run),
            run.requests.to_string(),
            times.at(Some(&run.as_of)),
        ];
        cells.iter().map(|cell| one_line(cell, LINE)).collect()
    });
    let names = ["EDGE", "NAME", "RUN", "PHASE", "STATUS", "WAITING", "AS OF"];
    table(page, &names, &rows.collect::<Vec<Vec<String>>>());
}

fn status(run: &JoinedRun) -> String {
    match (&run.left_at, &run.status) {
        (Some(_), _) => "left".to_owned(),
        (None, Some(status)) => status.clone(),
        (None, None) => "unknown".to_owned(),
    }
}

pub(crate) fn joined_run(page: &mut Page, run: &JoinedRun) {
    let times = Times::default();
    page.heading(&one_line(&run.name, LINE));
    page.labelled("edge", run.edge_id.as_str());
    match run.here {
        true => page.labelled("as of", "now: the repository is open to the hub"),
        false => page.labelled("as of", &times.at(Some(&run.as_of))),
    }
    if let Some(left) = &run.left_at {
        page.labelled("left", &times.at(Some(left)));
    }
    match &run.run_id {
        Some(id) => page.labelled("run", &one_line(id, LINE)),
        None if run.status.is_some() => page.labelled("run", "none yet"),
        None => page.labelled("run", "unknown: the repository did not say it yet"),
    }
    page.labelled_some("phase", run.phase.as_deref());
    page.labelled_some("status", run.status.as_deref());
    for turn in &run.turns {
        let role = turn.role.as_deref().unwrap_or("no role");
        page.labelled("turn", &one_line(&format!("{} ({role})", turn.turn_id), LINE));
    }
    for waits in run.waits.iter().flatten() {
        let title = waits.title.as_deref().unwrap_or(waits.id.as_str());
        page.labelled("waits", &one_line(&format!("{}: {title}", waits.type_name), LINE));
    }
    if let Some(control) = &run.control {
        if let Some(decision) = &control.decision {
            page.labelled("decision", &one_line(&decision_in_words(decision), LINE));
        }
        for verb in &control.verbs {
            page.labelled("decide", &format!("--{}", verb.as_str().replace('_', "-")));
        }
    }
    for next in run.next.iter().flatten() {
        let command = next.command.as_deref().unwrap_or("in the repository");
        page.labelled_whole("next", &clean(&format!("{command}   ({})", next.why)));
    }
}

pub(crate) fn joined_run_history(page: &mut Page, run: &JoinedRun, turns: &[Object]) {
    joined_run(page, run);
    page.gap();
    let views: Vec<HistoryView> = turns.iter().map(HistoryView::of).collect();
    let times = Times::among(views.iter().filter_map(|view| view.accepted_at.as_deref()));
    let rows = views.iter().map(|view| {
        let text = |text: &Option<String>| one_line(text.as_deref().unwrap_or_default(), LINE);
        vec![
            view.accepted_at.as_deref().map(|at| times.show_text(at)).unwrap_or_default(),
            text(&view.turn_id),
            text(&view.role),
            text(&view.phase),
            one_line(view.summary.as_deref().unwrap_or_default(), 80),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    match rows.is_empty() {
        true => page.line("the hub has no accepted turn of it"),
        false => table(page, &["WHEN", "TURN", "ROLE", "PHASE", "SUMMARY"], &rows),
    }
}
