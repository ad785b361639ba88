//! What `accord init` prints.

use accord_wiring::{Choices, Door, Plan, TOOLS, Tool, present};

use super::place::Place;
use super::program;
use super::try_it::Answers;
use crate::host::setting;
use crate::output::Output;
use crate::render::clean;
use crate::{Exit, Result, print_note, print_page};

/// Prints a diff. The answer is yes if there is none.
pub(super) fn diff(plan: &Plan) -> Result<Exit> {
    let mut output = Output::stdout();
    output.bytes(plan.diff().as_bytes())?;
    output.finish()?;
    Ok(Exit::from_answer(plan.is_done()))
}

/// What a person should know before a change.
pub(super) fn notes(plan: &Plan) {
    for note in plan.notes.iter().chain(&plan.kept) {
        print_note(clean(note));
    }
}

pub(super) fn done(
    choices: &Choices,
    plan: &Plan,
    is_removal: bool,
    open: &[String],
) -> Result<Exit> {
    let tool = choices.tool;
    let is_installed = program(tool.name()).is_some();
    print_page(|page| {
        page.line(head(choices, plan, is_removal));
        for change in &plan.changes {
            let label = match (&change.before, &change.after) {
                (None, _) => "new",
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "removed",
            };
            page.labelled_whole(label, &clean(&change.path));
        }
        plan.kept.iter().for_each(|kept| page.labelled_whole("kept", &clean(kept)));
        plan.notes.iter().for_each(|note| page.labelled_whole("note", &clean(note)));
        if is_removal {
            return;
        }
        if !is_installed {
            let package = tool.package();
            let note = format!("{} is not installed (npm package {package})", tool.name());
            page.labelled_whole("note", &note);
        }
        if program("accord").is_none() && choices.command == "accord" {
            page.labelled_whole("note", "accord is not in PATH, where the agent looks for it");
        }
        if matches!(choices.door, Door::Server(_)) && setting("ACCORD_KEY").is_none() {
            let note = "ACCORD_KEY is not set here; the agent needs the key of the server in it";
            page.labelled_whole("note", note);
        }
        open.iter().for_each(|it| page.labelled_whole("approve", &clean(it)));
    })?;
    Ok(Exit::from_answer(plan.kept.is_empty()))
}

fn head(choices: &Choices, plan: &Plan, is_removal: bool) -> String {
    let title = choices.tool.title();
    let project = choices.project.as_ref().map(|project| format!(" for project {project}"));
    let project = project.unwrap_or_default();
    clean(&match (is_removal, plan.is_done()) {
        (false, true) => format!("{title}: connected{project}; nothing to change"),
        (false, false) => format!("{title}: connected{project}"),
        (true, true) => format!("{title}: nothing to remove"),
        (true, false) => format!("{title}: no longer connected"),
    })
}

pub(super) fn checked(
    choices: &Choices,
    plan: &Plan,
    open: &[String],
    answers: &Answers,
) -> Result<Exit> {
    let is_good = plan.is_done() && plan.kept.is_empty() && answers.is_good();
    print_page(|page| {
        let title = choices.tool.title();
        page.line(match is_good {
            true => format!("{title}: connected"),
            false => format!("{title}: not connected as it should be"),
        });
        for path in &plan.wired {
            let change = plan.changes.iter().find(|change| change.path == *path);
            let state = match change {
                None => "as it should be",
                Some(change) if change.before.is_none() => "missing",
                Some(_) => "without the entry of Accord, or with an older one",
            };
            page.labelled_whole("file", &clean(&format!("{path}: {state}")));
        }
        plan.kept.iter().for_each(|kept| page.labelled_whole("kept", &clean(kept)));
        plan.notes.iter().for_each(|note| page.labelled_whole("note", &clean(note)));
        page.labelled_whole("server", &clean(&answers.to_string()));
        open.iter().for_each(|it| page.labelled_whole("approve", &clean(it)));
    })?;
    Ok(Exit::from_answer(is_good))
}

pub(super) fn list(place: &Place) -> Result<Exit> {
    let ledger = place.ledger()?;
    let snapshot = place.snapshot(&ledger)?;
    let state = |tool: Tool| {
        let name = ledger.name(tool).unwrap_or("accord");
        let found = present(tool, place.scope, name, &place.homes, &snapshot);
        let wired = if found.is_some() { "connected" } else { "not connected" };
        let installed = match program(tool.name()) {
            Some(_) => "installed".to_owned(),
            None => format!("not installed (npm package {})", tool.package()),
        };
        format!("{wired}, {installed}")
    };
    print_page(|page| {
        let terms: Vec<(&str, String)> =
            TOOLS.into_iter().map(|tool| (tool.name(), state(tool))).collect();
        page.terms(&terms);
    })
}
