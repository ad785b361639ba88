//! Text output about an initiative.

use accord_contract::Object;
use accord_runs::answers::divergence_answer;
use accord_runs::coordinator::{CoordinatorOverview, GatePlan, RepoOverview};
use accord_runs_core::coordinator::{BarrierStatus, CoordinatorState, CoordinatorStatus};
use accord_runs_core::operations::answers::{CoordinatorDivergence, NextAnswer};
use accord_runs_core::views::ProjectedTurnView;

use super::super::decide::fact_lines;
use super::super::{busy_lines, finding_lines, moment, next_lines, waiting_lines};
use crate::render::{Page, Style, clean, one_line, table};

pub(super) fn status(page: &mut Page, overview: &CoordinatorOverview, next: &[NextAnswer]) {
    page.heading(&overview.root.to_string_lossy());
    match &overview.state {
        None => page.line("there is no initiative here"),
        Some(state) => standing(page, state),
    }
    if let Some(waiting) = &overview.waiting {
        waiting_lines(page, waiting);
    }
    let rows: Vec<Vec<String>> = overview.repos.iter().map(repo_row).collect();
    table(page, &["repository", "status", "phase", "active turns", "run"], &rows);
    barriers(page, overview);
    for (stream, prospect) in &overview.prospects {
        let text = match prospect {
            Ok(choice) => format!("{} is next, as {}", choice.repo, choice.role),
            Err(found) => match &found.repo {
                Some(repo) => format!("waits for {repo}: {}", found.reason),
                None => found.reason.to_string(),
            },
        };
        page.labelled(stream, &text);
    }
    let found: Vec<_> = overview.divergence.iter().map(divergence_answer).collect();
    divergence(page, "differs", &found);
    finding_lines(page, &overview.findings);
    busy_lines(page, overview.holder.as_ref(), &overview.journals);
    next_lines(page, next);
}

/// The acceptances that were projected.
pub(super) fn projected(page: &mut Page, lines: &[Object]) {
    for line in lines {
        let line = ProjectedTurnView::of(line);
        let text = |text: Option<String>| one_line(&text.unwrap_or_default(), 80);
        let (repo, turn) = (text(line.repo_id), text(line.repo_turn_id));
        page.labelled("accepted", &format!("{repo} {turn}: {}", text(line.summary)));
    }
}

/// Describes a gate to the person who is asked to approve it.
pub(super) fn gate_plan(page: &mut Page, plan: &GatePlan) {
    let gate = &plan.gate;
    page.line(match (&gate.from, &gate.to) {
        (Some(from), Some(to)) => format!("from {} to {}", clean(from), clean(to)),
        _ => "the initiative would be completed".to_owned(),
    });
    page.labelled("gate", gate.gate.as_deref().unwrap_or_default());
    page.labelled("since", &moment(gate.requested_at.as_deref().unwrap_or_default()));
    for (label, items) in [("repos", &gate.required_repos), ("barriers", &gate.human_barriers)] {
        if !items.is_empty() {
            page.labelled_whole(label, &items.join(", "));
        }
    }
    plan.hooks.iter().for_each(|hook| page.labelled("hook", hook));
    facts(page, plan);
}

/// What Accord observed in each repository.
pub(super) fn facts(page: &mut Page, plan: &GatePlan) {
    for (repo, facts) in &plan.facts {
        page.line(format!("in {}:", clean(repo)));
        fact_lines(page, facts);
    }
}

pub(super) fn gate(page: &mut Page, state: &CoordinatorState) {
    match state.status() {
        CoordinatorStatus::Completed => page.line("the initiative is completed"),
        CoordinatorStatus::Paused => {
            let gate = clean(state.pending_gate_id().unwrap_or("a gate"));
            page.line(format!("reached {gate}, which needs approval"));
        }
        _ => page.line(format!("the initiative is in {}", clean(state.phase()))),
    }
}

pub(super) fn divergence(page: &mut Page, label: &str, found: &[CoordinatorDivergence]) {
    for found in found {
        let turn = found.turn_id.as_ref().map_or_else(String::new, |turn| format!(" ({turn})"));
        page.labelled(label, &format!("{}: {}{turn}", found.repo_id, found.kind));
    }
}

fn standing(page: &mut Page, state: &CoordinatorState) {
    let ink = match state.status() {
        CoordinatorStatus::Active | CoordinatorStatus::Completed => Style::Good,
        CoordinatorStatus::Paused => Style::Waiting,
        CoordinatorStatus::Blocked => Style::Bad,
    };
    let pieces = [
        page.styled(ink, state.status().as_str()),
        format!("in {}", clean(state.phase())),
        page.styled(Style::Faint, &clean(state.super_run_id())),
    ];
    page.pieces(&pieces);
    page.labelled_some("because", state.blocked_reason());
}

fn repo_row(repo: &RepoOverview) -> Vec<String> {
    let id = repo.id.clone();
    let run = repo.run.clone().unwrap_or_default();
    match &repo.overview {
        Err(problem) => vec![id, one_line(problem, 60), String::new(), String::new(), run],
        Ok(own) => match &own.state {
            Err(failure) => {
                vec![id, one_line(&failure.message, 60), String::new(), String::new(), run]
            }
            Ok(state) => vec![
                id,
                state.status().to_string(),
                clean(state.phase()),
                own.turns.len().to_string(),
                run,
            ],
        },
    }
}

fn barriers(page: &mut Page, overview: &CoordinatorOverview) {
    let rows = overview.barriers.iter().map(|barrier| {
        let (mut missing, satisfied) = (barrier.required_repos(), barrier.satisfied_repos());
        let open = barrier.status() == BarrierStatus::Satisfied;
        missing.retain(|repo| !open && !satisfied.contains(repo));
        vec![
            clean(barrier.workstream()),
            barrier.kind().to_string(),
            barrier.status().to_string(),
            clean(&missing.join(", ")),
        ]
    });
    table(page, &["workstream", "barrier", "status", "waits for"], &rows.collect::<Vec<_>>());
}
