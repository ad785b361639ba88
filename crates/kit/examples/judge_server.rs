//! Judges a server of the Agentic Protocol over HTTP: `judge_server URL [TOKEN [PROJECT]]`.
//! With a project, the run only reads that one.

use std::io;
use std::process::ExitCode;

use accord_contract::Failure;
use accord_kit::driver::{CannotBegin, Http, HttpOptions};
use accord_kit::reporter::{TextOptions, TextReporter};
use accord_kit::runner::RunError;
use accord_kit::{Corpus, RunOptions, RunReport, run};

#[expect(clippy::disallowed_methods, reason = "a program has arguments and prints")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(url) = arguments.next() else {
        eprintln!("usage: judge_server URL [TOKEN [PROJECT]]");
        return ExitCode::from(2);
    };
    let mut server = HttpOptions::new(url);
    server.token = arguments.next().filter(|token| !token.is_empty());
    server.scope = arguments.next();
    match judge(server, io::stdout()) {
        Ok(report) => ExitCode::from(report.summary.overall.exit_code()),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

pub(crate) fn judge(server: HttpOptions, out: impl io::Write) -> Result<RunReport, Failure> {
    let server = Http::new(server).map_err(CannotBegin::from);
    let server = server.map_err(RunError::from)?;
    let mut lines = TextReporter::new(out, TextOptions::new(false));
    let protocol = &Corpus::embedded_protocol("agentic")?;
    Ok(run(protocol, &server, &RunOptions::default(), &mut lines)?)
}
