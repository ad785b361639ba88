//! `accord context verify`: checks the whole store.

use accord_api::{Call, Json, NoParams, Verbatim};
use accord_memory_core::operations::{
    Problem, VerifyEnvelope, VerifyReport, VerifyRequest, VerifyStore,
};

use super::super::progress::Progress;
use crate::host::{Connection, HostArgs, HostRequest, Update, follow, id_of, print_document};
use crate::render::{Page, Style, clean, counted};
use crate::{Exit, Result, print_page};

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
    pub(crate) fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project_id = self.project.map(|id| id_of("project_id", &id)).transpose()?;
        let asked = VerifyRequest { project_id, quarantine: self.look_only.then_some(false) };
        let call = Call::<VerifyStore>::new(NoParams, NoParams, Verbatim::from(&asked));
        let request = HostRequest::from(call.encode()).takes_long();
        if self.host.json {
            let answered = host.send(request)?.read::<Json<VerifyEnvelope>>()?;
            print_document(true, &answered.text, |_| {})?;
            return Ok(Exit::from_answer(answered.answer.0.report.is_sound()));
        }
        watch(&host, request)
    }
}

/// Shows progress, and each problem when it is found.
fn watch(host: &Connection, request: HostRequest) -> Result<Exit> {
    let progress = Progress::items();
    let walk = follow::<VerifyReport, Problem>(host, request, |said| match said {
        Update::Progress { done, total } => {
            progress.reach(done, total);
            Ok(())
        }
        Update::Item(problem) => {
            progress.above(|| print_page(|page| problem_line(page, &problem))).map(drop)
        }
    });
    let report = host.runtime.block_on(walk)?;
    progress.finish();
    print_page(|page| summary(page, &report))?;
    Ok(Exit::from_answer(report.is_sound()))
}

fn problem_line(page: &mut Page, problem: &Problem) {
    let project = problem.project_id.as_ref().map(|id| clean(id.as_str())).unwrap_or_default();
    let pieces = [
        project,
        format!("{} {}", problem.suspect, clean(&problem.id)),
        page.styled(Style::Bad, &clean(&problem.code)),
        clean(&problem.message),
    ];
    let pieces: Vec<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
    page.line(pieces.join("  "));
}

fn summary(page: &mut Page, report: &VerifyReport) {
    let counts = [
        (report.projects, "project"),
        (report.sessions, "session"),
        (report.packages, "package"),
        (report.facts, "fact"),
    ];
    let counts = counts.map(|(count, kind)| counted(count, kind)).join(", ");
    let result = match report.problem_count {
        0 => page.styled(Style::Good, "sound"),
        problems => page.styled(Style::Bad, &counted(problems, "problem")),
    };
    page.line(format!("{result}: {counts}"));
}

const EXIT_CODES: &str = "\
A package that does not match its hash is quarantined: reads leave it out until it is sound again.

Exit codes: 0 no problems; 1 problems, which are listed; 2 error.";
