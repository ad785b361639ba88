//! `accord context verify`: checks the whole store.

use accord_contract::wire::Value;

use super::super::progress::Progress;
use crate::commands::document;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Connection, HostArgs, HostRequest, Update, follow};
use crate::output::Output;
use crate::render::{Page, Style, clean, counted};

/// Check the store: package hashes, logs, facts, events and blobs
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct VerifyArgs {
    /// Check only this project
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Do not quarantine packages that do not match their hash
    #[arg(long)]
    look_only: bool,

    #[command(flatten)]
    host: HostArgs,
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let asked = document([
            ("project_id", self.project.into()),
            ("quarantine", self.look_only.then_some(false).into()),
        ]);
        let request = HostRequest::post(&["accord", "v1", "verify"], &asked).takes_long();
        if self.host.json {
            let answer = host.send(request)?;
            let summary = answer.value()?;
            answer.print(true, |_, _| {})?;
            return Ok(Exit::from_answer(is_sound(&summary["report"])));
        }
        watch(&host, request)
    }
}

/// Shows progress, and each problem when it is found.
fn watch(host: &Connection, request: HostRequest) -> Result<Exit, CliError> {
    let progress = Progress::items();
    let walk = follow(host, request, |said| match said {
        Update::Progress { done, total } => {
            progress.reach(done, total);
            Ok(())
        }
        Update::Item(problem) => {
            let mut printed = Ok(());
            progress.above(|| printed = print_problem(&problem));
            printed
        }
    });
    let summary = host.runtime().block_on(walk)?;
    progress.finish();
    let mut page = Page::new();
    print_summary(&mut page, &summary);
    let mut output = Output::stdout();
    output.bytes(page.as_str().as_bytes())?;
    output.finish()?;
    Ok(Exit::from_answer(is_sound(&summary)))
}

fn print_problem(problem: &Value) -> Result<(), CliError> {
    let text = |name: &str| clean(problem[name].as_str().unwrap_or_default());
    let mut page = Page::new();
    let subject = format!("{} {}", text("suspect"), text("id"));
    let pieces =
        [text("project_id"), subject, page.styled(Style::Bad, &text("code")), text("message")];
    let pieces: Vec<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    page.line(pieces.join("  "));
    let mut output = Output::stdout();
    output.bytes(page.as_str().as_bytes())?;
    output.finish()
}

fn print_summary(page: &mut Page, summary: &Value) {
    let number = |name: &str| summary[name].as_u64();
    let counts = ["projects", "sessions", "packages", "facts"].map(|kind| {
        let count = number(kind)?;
        Some(counted(count, &kind[..kind.len() - 1]))
    });
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    let problems = problems(summary);
    let result = match problems {
        0 => page.styled(Style::Good, "sound"),
        _ => page.styled(Style::Bad, &counted(problems, "problem")),
    };
    page.line(format!("{result}: {}", counts.join(", ")));
}

fn problems(report: &Value) -> u64 {
    // A report without the count must not be taken for a sound store.
    report["problem_count"].as_u64().unwrap_or(u64::MAX)
}

fn is_sound(summary: &Value) -> bool {
    problems(summary) == 0
}

const EXIT_CODES: &str = "\
A package that does not match its hash is quarantined: reads leave it out until it is sound again.

Exit codes: 0 no problems; 1 problems, which are listed; 2 error.";
