//! Judges an implementation of one operation that lives in this program, without a process between:
//! put your own code in the place of `relation`, and name its operation in the filter.

use std::io;
use std::process::ExitCode;

use accord_contract::Failure;
use accord_contract::fixture::AdapterResult;
use accord_kit::driver::InProcess;
use accord_kit::reporter::{TextOptions, TextReporter};
use accord_kit::{Case, Corpus, Filter, RunOptions, RunReport, run};
use serde_json::json;

#[expect(clippy::disallowed_methods, reason = "a program prints")]
fn main() -> ExitCode {
    match judge(io::stdout()) {
        Ok(report) => ExitCode::from(report.summary.overall.exit_code()),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

pub(crate) fn judge(out: impl io::Write) -> Result<RunReport, Failure> {
    let mut options = RunOptions::default();
    options.filter = Some("op(version_relation)".parse::<Filter>()?);
    let implementation = InProcess::new(|case: &Case| {
        let argument = |name: &str| case.argument(name).as_str().unwrap_or_default();
        let actual = relation(argument("ours"), argument("theirs"));
        let actual = json!({"result": "ok", "relation": actual});
        AdapterResult::judge(&case.expectation(), actual)
    });
    let mut lines = TextReporter::new(out, TextOptions::new(false));
    let protocol = &Corpus::embedded_protocol("alx")?;
    Ok(run(protocol, &implementation, &options, &mut lines)?)
}

/// The implementation that is judged: how their version of a protocol relates to ours.
fn relation(ours: &str, theirs: &str) -> &'static str {
    match (version(ours), version(theirs)) {
        (Some(ours), Some(theirs)) if ours == theirs => "same",
        (Some((ours, _)), Some((theirs, _))) if ours != theirs => "major_differs",
        (Some((_, ours)), Some((_, theirs))) if theirs > ours => "minor_newer",
        (Some(_), Some(_)) => "minor_older",
        _ => "opaque",
    }
}

fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
