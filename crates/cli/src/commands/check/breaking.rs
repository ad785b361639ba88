//! Says from two reports whether a change of a protocol is breaking.

use std::path::{Path, PathBuf};

use accord_contract::{Failure, Wire as _};
use accord_kit::breaking::{Breaking, compare};
use accord_kit::{Protocol, RunReport};

use crate::input::read_file;
use crate::render::Page;
use crate::{CliError, Exit, Result, print_page};

/// Compares the reports of two runs: of the old and of the new version.
pub(super) fn breaking(protocol: &Protocol, reports: &[PathBuf]) -> Result<Exit> {
    // The argument takes exactly two paths.
    let [old, new] = reports else {
        return Err(CliError::usage("--breaking takes two reports"));
    };
    let found = compare(&read(protocol, old)?, &read(protocol, new)?)?;
    print_page(|page| write(page, &found))?;
    Ok(Exit::from_answer(!found.is_breaking()))
}

fn read(protocol: &Protocol, path: &Path) -> Result<RunReport> {
    let about = |failure: Failure| {
        CliError::from(failure).about(&format!("{} is not a report", path.display()))
    };
    let text = read_file(path)?;
    let value = accord_canon::read(&text).map_err(Failure::from).map_err(about)?;
    let report = RunReport::from_document(value).map_err(Failure::from).map_err(about)?;
    if report.run.protocol != protocol.name() {
        let (about, expected) = (&report.run.protocol, protocol.name());
        let message = format!("is a report about {about}, not about {expected}");
        return Err(CliError::usage(format!("{} {message}", path.display())));
    }
    Ok(report)
}

fn write(page: &mut Page, found: &Breaking) {
    let lists = [
        ("broken: passed before, and fails now", &found.broken),
        ("changed, not required: passed before, and fails now", &found.changed),
        ("not shown: passed before, and has no verdict now", &found.unproven),
        ("new: fails, and was not run before", &found.new_failures),
    ];
    for (what, ids) in lists {
        ids.iter().for_each(|id| page.line(format!("{id}  {what}")));
    }
    if let Some(version) = &found.same_version {
        page.line(format!(
            "both runs are about version {version}: a difference is no change of the protocol"
        ));
    }
    page.line(match found.is_breaking() {
        true if found.broken.len() == 1 => {
            "breaking: 1 required case passed and now fails".to_owned()
        }
        true => format!("breaking: {} required cases passed and now fail", found.broken.len()),
        false if !found.unproven.is_empty() => {
            "not breaking, as far as both runs show; see the cases without a verdict".to_owned()
        }
        false => "not breaking".to_owned(),
    });
}
