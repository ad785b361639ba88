//! Judges an implementation of one operation that lives in this program, without a process between:
//! put your own code in the place of `check_aliases`, and name its operation in the filter.

use std::io;
use std::process::ExitCode;

use accord_contract::Failure;
use accord_contract::fixture::AdapterResult;
use accord_kit::driver::InProcess;
use accord_kit::reporter::{TextOptions, TextReporter};
use accord_kit::{Case, Corpus, Filter, RunOptions, RunReport, run};
use serde_json::{Value, json};

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
    options.filter = Some("op(check_aliases)".parse::<Filter>()?);
    let implementation = InProcess::new(|case: &Case| {
        let argument = |name: &str| case.argument(name).as_str().unwrap_or_default();
        let actual = check_aliases(argument("message"), argument("json"));
        AdapterResult::judge(&case.expectation(), actual)
    });
    let mut lines = TextReporter::new(out, TextOptions::new(false));
    let protocol = &Corpus::embedded_protocol("alx")?;
    Ok(run(protocol, &implementation, &options, &mut lines)?)
}

/// The implementation that is judged: whether the alias of a message says what the member says that
/// it mirrors.
fn check_aliases(message: &str, text: &str) -> Value {
    let (alias, mirrors) = match message {
        "ErrorEnvelope" => ("code", "error.code"),
        _ => ("confidenceScore", "confidence"),
    };
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let mirrored = mirrors.split('.').fold(&message, |value, member| &value[member]);
    let state = match message.get(alias) {
        None => "absent",
        Some(value) if value == mirrored => "match",
        Some(_) => "wrong",
    };
    let aliases = json!([{"alias": alias, "mirrors": mirrors, "state": state}]);
    json!({"result": "ok", "aliases": aliases, "honest": state != "wrong"})
}
