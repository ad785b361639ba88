//! Says from two reports whether a change of a protocol is breaking.

use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure, Wire as _};
use accord_kit::breaking::{Breaking, compare};
use accord_kit::{Protocol, RunReport};

use crate::error::CliError;
use crate::exit::Exit;
use crate::input::read_file;
use crate::output::Output;

/// Compares the reports of two runs: of the old and of the new version.
pub(super) fn breaking(protocol: &Protocol, reports: &[PathBuf]) -> Result<Exit, CliError> {
    // The argument takes exactly two paths.
    let [old, new] = reports else {
        return Err(CliError::new(Code::Usage, "--breaking takes two reports"));
    };
    let found = compare(&read(protocol, old)?, &read(protocol, new)?)?;
    let mut output = Output::stdout();
    for line in lines(&found) {
        output.line(line)?;
    }
    output.finish()?;
    Ok(Exit::from_answer(!found.is_breaking()))
}

fn read(protocol: &Protocol, path: &Path) -> Result<RunReport, CliError> {
    let about = |failure: Failure| {
        CliError::from(failure).about(&format!("{} is not a report", path.display()))
    };
    let text = read_file(path)?;
    let value = accord_canon::read(&text).map_err(Failure::from).map_err(about)?;
    let report = RunReport::from_document(value).map_err(Failure::from).map_err(about)?;
    if report.run.protocol != protocol.name() {
        let message = format!(
            "{} is a report about {}, not about {}",
            path.display(),
            report.run.protocol,
            protocol.name()
        );
        return Err(CliError::new(Code::Usage, message));
    }
    Ok(report)
}

fn lines(found: &Breaking) -> Vec<String> {
    let mut lines = Vec::new();
    let lists = [
        ("broken: passed before, and fails now", &found.broken),
        ("changed, not required: passed before, and fails now", &found.changed),
        ("not shown: passed before, and has no verdict now", &found.unproven),
        ("new: fails, and was not run before", &found.new_failures),
    ];
    for (what, ids) in lists {
        lines.extend(ids.iter().map(|id| format!("{id}  {what}")));
    }
    if let Some(version) = &found.same_version {
        lines.push(format!(
            "both runs are about version {version}: a difference is no change of the protocol"
        ));
    }
    lines.push(match found.is_breaking() {
        true if found.broken.len() == 1 => {
            "breaking: 1 required case passed and now fails".to_owned()
        }
        true => format!("breaking: {} required cases passed and now fail", found.broken.len()),
        false if !found.unproven.is_empty() => {
            "not breaking, as far as both runs show; see the cases without a verdict".to_owned()
        }
        false => "not breaking".to_owned(),
    });
    lines
}
