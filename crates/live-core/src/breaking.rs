//! Whether a change of the protocol is breaking.
//!
//! A change is breaking if and only if a fixture that passed against version N fails against
//! version N+1. Opinions do not count, and neither does a fixture that did not run on both sides:
//! such a fixture is named, because it shows nothing.

use std::collections::BTreeMap;

use accord_contract::rule;
use accord_contract::wire_enum;

wire_enum! {
    /// The verdict on a fixture.
    pub enum Verdict("GguiVerdict", closed) {
        /// It passed.
        Pass = "pass",
        /// It failed.
        Fail = "fail",
        /// It did not run.
        Skip = "skip",
    }
}

/// The verdicts of a run against one version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunVerdicts {
    /// The version of the protocol.
    pub version: String,
    /// The verdict on each fixture.
    pub fixtures: BTreeMap<String, Verdict>,
}

/// What two runs show.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Breaking {
    /// The fixtures that passed and now fail.
    pub broken: Vec<String>,
    /// The fixtures that passed and did not run again.
    pub unproven: Vec<String>,
    /// The fixtures that are new, and fail.
    pub new_failures: Vec<String>,
    /// Whether both runs were against one version, so that a difference is no change of the
    /// protocol.
    pub is_same_version: bool,
}

impl Breaking {
    /// Whether the change is breaking.
    pub fn is_breaking(&self) -> bool {
        !self.broken.is_empty()
    }
}

/// Compares two runs.
///
/// Clauses: GGUI-VERSION-BREAKING.
pub fn compare(old: &RunVerdicts, new: &RunVerdicts) -> Breaking {
    let mut found = Breaking { is_same_version: old.version == new.version, ..Breaking::default() };
    let passed = old.fixtures.iter().filter(|(_, verdict)| **verdict == Verdict::Pass);
    for (name, _) in passed {
        match new.fixtures.get(name) {
            Some(Verdict::Pass) => {}
            Some(Verdict::Fail) => found.broken.push(name.clone()),
            Some(Verdict::Skip) | None => {
                let unproven = rule!(&mut found.unproven; SkipsAreBreaks => &mut found.broken);
                unproven.push(name.clone());
            }
        }
    }
    let failing = new.fixtures.iter().filter(|(_, verdict)| **verdict == Verdict::Fail);
    let is_new = |name: &&String| !old.fixtures.contains_key(*name);
    found.new_failures = failing.map(|(name, _)| name).filter(is_new).cloned().collect();
    found
}
