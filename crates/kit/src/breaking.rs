//! Whether a change of a protocol is breaking: if and only if a case that passed before it fails
//! after it. A case without a verdict on both sides shows nothing, and is named.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure};

use crate::case::Strength;
use crate::report::{CaseReport, RunReport};
use crate::verdict::Verdict;

/// What two runs show.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Breaking {
    /// The required cases that passed, and now fail or are not implemented.
    pub broken: Vec<String>,
    /// The other cases that passed, and now fail or are not implemented. They do not bind.
    pub changed: Vec<String>,
    /// The required cases that passed, and have no verdict now.
    pub unproven: Vec<String>,
    /// The required cases that fail and were not run before.
    pub new_failures: Vec<String>,
    /// The version of the protocol, if it is the same on both sides: then nothing changed in it.
    pub same_version: Option<String>,
}

impl Breaking {
    /// Whether the change is breaking.
    pub fn is_breaking(&self) -> bool {
        !self.broken.is_empty()
    }
}

/// Compares two runs. Fails when the runs are about different protocols.
pub fn compare(old: &RunReport, new: &RunReport) -> Result<Breaking, Failure> {
    if old.run.protocol != new.run.protocol {
        let message = format!(
            "the reports are about different protocols, {} and {}",
            old.run.protocol, new.run.protocol
        );
        return Err(Failure::new(Code::Usage, message));
    }
    let before = by_id(old);
    let now = by_id(new);
    let mut found = Breaking {
        same_version: Some(old.run.protocol_version.clone())
            .filter(|version| *version == new.run.protocol_version),
        ..Breaking::default()
    };
    for (id, case) in before.iter().filter(|(_, case)| case.verdict == Verdict::Pass) {
        let is_required = case.strength == Strength::Must;
        match now.get(id).map(|case| case.verdict) {
            Some(Verdict::Pass) => {}
            Some(Verdict::Fail | Verdict::NotImplemented) if is_required => {
                found.broken.push((*id).to_owned());
            }
            Some(Verdict::Fail | Verdict::NotImplemented) => found.changed.push((*id).to_owned()),
            _ if is_required => found.unproven.push((*id).to_owned()),
            _ => {}
        }
    }
    let is_new_failure = |case: &&CaseReport| {
        case.verdict == Verdict::Fail
            && case.strength == Strength::Must
            && !before.contains_key(case.id.as_str())
    };
    let failures = new.cases.iter().filter(is_new_failure);
    found.new_failures = failures.map(|case| case.id.clone()).collect();
    Ok(found)
}

fn by_id(report: &RunReport) -> BTreeMap<&str, &CaseReport> {
    report.cases.iter().map(|case| (case.id.as_str(), case)).collect()
}
