//! The report of a verification, with the members that verifiers of published fixtures agree on.

use std::collections::BTreeMap;

use accord_contract::{Object, Value, message, wire_enum};

use super::target::{Location, unclaimed};
use super::{Selection, Target};
use crate::case::Case;
use crate::corpus::Protocol;
use crate::exit::Overall;
use crate::report::{CaseReport, RunReport};
use crate::verdict::Verdict;

message! {
    /// What came of judging an implementation by published fixtures.
    pub struct ConformanceReport("ConformanceReport", open) {
        /// The name of the implementation, as it gives it.
        required implementation: String = "implementation", "implementation-name";
        /// The version of the protocol that it says it keeps.
        required_or_null protocol_version: Value = "protocol_version", "protocol-version";
        /// The highest tier that was asked for.
        required tier_requested: u64 = "tier_requested", "conformance-tier";
        /// When the run started, in UTC.
        required timestamp: String = "timestamp", "time:rfc-3339";
        /// The folder of the implementation; null where it is a server.
        required_or_null target_root: String = "target_root", "path";
        /// The base URL of the implementation; null where it is a folder.
        required_or_null remote: String = "remote", "url";
        /// Where the fixtures are from.
        required fixture_root: String = "fixture_root", "fixture-root";
        /// Every tier up to the one that was asked for, as `tier_1` and so on.
        required results: BTreeMap<String, TierResult> = "results", "tier-results";
        /// How the run ended: `error` where a tier is in error, else `fail` where one fails.
        required overall: Overall = "overall", "run-verdict";
        /// That no fixture was judged, in these words, where none was.
        optional note: String = "note", "text-for-people";
    }

    /// The result of one tier.
    pub struct TierResult("TierResult", open) {
        /// How it ended.
        required status: TierStatus = "status", "tier-status";
        /// How many fixtures were run.
        required fixtures_run: u64 = "fixtures_run", "count";
        /// How many of them pass.
        required fixtures_passed: u64 = "fixtures_passed", "count";
        /// How many fail.
        required fixtures_failed: u64 = "fixtures_failed", "count";
        /// How many could not be judged.
        required fixtures_errored: u64 = "fixtures_errored", "count";
        /// How many the implementation does not have.
        required fixtures_not_implemented: u64 = "fixtures_not_implemented", "count";
        /// The same counts for every surface that was run.
        required surfaces: BTreeMap<String, SurfaceCounts> = "surfaces", "surface-counts";
        /// The fixtures that fail.
        required failures: Vec<Finding> = "failures", "findings";
        /// The fixtures that could not be judged.
        required errors: Vec<Finding> = "errors", "findings";
        /// The fixtures that the implementation does not have.
        required not_implemented: Vec<Gap> = "not_implemented", "gaps";
        /// Why nothing was run.
        optional note: String = "note", "text-for-people";
    }
}

wire_enum! {
    /// How a tier ended.
    pub enum TierStatus("TierStatus", closed) {
        /// Nothing fails, and everything could be judged.
        Pass = "pass",
        /// A fixture fails.
        Fail = "fail",
        /// A fixture could not be judged.
        Error = "error",
        /// The implementation does not claim the tier.
        Skipped = "skipped",
    }
}

message! {
    /// The fixtures of one surface, counted.
    pub struct SurfaceCounts("SurfaceCounts", open) {
        /// Those that pass.
        required passed: u64 = "passed", "count";
        /// Those that fail.
        required failed: u64 = "failed", "count";
        /// Those that could not be judged.
        required errored: u64 = "errored", "count";
        /// Those that the implementation does not have.
        required not_implemented: u64 = "not_implemented", "count";
    }

    /// A fixture that fails or could not be judged.
    pub struct Finding("Finding", open) {
        /// The fixture.
        required fixture_id: String = "fixture_id", "case-id";
        /// Its surface.
        required surface: String = "surface", "protocol-surface";
        /// Why.
        required message: String = "message", "text-for-people";
        /// What the implementation did, as far as it is known; a long outcome is a string with its
        /// beginning.
        required_or_null actual: Value = "actual", "fixture-outcome";
    }

    /// A fixture that asks for what the implementation does not have.
    pub struct Gap("Gap", open) {
        /// The fixture.
        required fixture_id: String = "fixture_id", "case-id";
        /// Its surface.
        required surface: String = "surface", "protocol-surface";
        /// What the implementation says about it.
        required message: String = "message", "text-for-people";
    }
}

impl ConformanceReport {
    /// Turns the report of a run into a report of these fixtures.
    pub(super) fn new(
        run: &RunReport,
        fixtures: &Protocol,
        target: &Target,
        selection: &Selection,
    ) -> Self {
        let claims = target.capabilities();
        let result = |tier| match claims.claims_tier(tier) {
            true => (tier, TierResult::new(TierStatus::Pass, None)),
            false => (tier, TierResult::new(TierStatus::Skipped, Some(unclaimed(tier)))),
        };
        let mut results: BTreeMap<u64, TierResult> = (1..=selection.tier).map(result).collect();
        let verdicts = run.cases.iter().map(|case| (case.id.as_str(), case));
        let verdicts: BTreeMap<&str, &CaseReport> = verdicts.collect();
        for fixture in fixtures.cases() {
            let tier = fixture.tier.and_then(|tier| results.get_mut(&tier));
            if let (Some(tier), Some(ran)) = (tier, verdicts.get(fixture.id.as_str())) {
                tier.count(fixture, ran);
            }
        }
        let (target_root, remote) = match target.place() {
            Location::Folder(root) => (Some(root.display().to_string()), None),
            Location::Server(url) => (None, Some(url.clone())),
        };
        let overall = overall(results.values());
        let is_nothing = results.values().all(TierResult::is_nothing);
        let results = results.into_iter().map(|(tier, result)| (format!("tier_{tier}"), result));
        Self {
            implementation: claims.implementation.clone(),
            protocol_version: claims.protocol_version.value().cloned(),
            tier_requested: selection.tier,
            timestamp: run.run.started_at.clone(),
            target_root,
            remote,
            fixture_root: selection.fixture_root.clone(),
            overall,
            note: is_nothing.then(|| NOTHING.to_owned()),
            results: results.collect(),
            extra: Object::new(),
        }
    }

    /// How many fixtures were run in all tiers.
    pub fn fixtures_run(&self) -> u64 {
        self.results.values().map(|tier| tier.fixtures_run).sum()
    }
}

impl TierResult {
    fn new(status: TierStatus, note: Option<String>) -> Self {
        Self {
            status,
            fixtures_run: 0,
            fixtures_passed: 0,
            fixtures_failed: 0,
            fixtures_errored: 0,
            fixtures_not_implemented: 0,
            surfaces: BTreeMap::new(),
            failures: Vec::new(),
            errors: Vec::new(),
            not_implemented: Vec::new(),
            note,
            extra: Object::new(),
        }
    }

    /// Whether no fixture of the tier passes or fails, or could have.
    fn is_nothing(&self) -> bool {
        self.fixtures_passed + self.fixtures_failed + self.fixtures_errored == 0
    }

    fn count(&mut self, fixture: &Case, ran: &CaseReport) {
        if ran.verdict == Verdict::Skip {
            return;
        }
        let surface = fixture.surface().unwrap_or_default().to_owned();
        let message = message_of(ran);
        let counts = self.surfaces.entry(surface.clone());
        let counts = counts.or_insert_with(SurfaceCounts::zero);
        self.fixtures_run += 1;
        let finding = |message| Finding {
            fixture_id: fixture.id.clone(),
            surface: surface.clone(),
            message,
            actual: ran.actual.clone(),
            extra: Object::new(),
        };
        match ran.verdict {
            Verdict::Skip => {}
            Verdict::Pass => {
                self.fixtures_passed += 1;
                counts.passed += 1;
            }
            Verdict::Fail => {
                self.fixtures_failed += 1;
                counts.failed += 1;
                self.failures.push(finding(message));
                // An error takes precedence, in whichever order the fixtures are counted.
                if self.status == TierStatus::Pass {
                    self.status = TierStatus::Fail;
                }
            }
            Verdict::Error | Verdict::HarnessError => {
                self.fixtures_errored += 1;
                counts.errored += 1;
                self.errors.push(finding(message));
                self.status = TierStatus::Error;
            }
            Verdict::NotImplemented => {
                self.fixtures_not_implemented += 1;
                counts.not_implemented += 1;
                self.not_implemented.push(Gap {
                    fixture_id: fixture.id.clone(),
                    surface,
                    message,
                    extra: Object::new(),
                });
            }
        }
    }
}

impl SurfaceCounts {
    fn zero() -> Self {
        Self { passed: 0, failed: 0, errored: 0, not_implemented: 0, extra: Object::new() }
    }
}

/// What a report without a judgement says. Its verdict is that of the protocol.
const NOTHING: &str = "nothing was judged";

/// Why a fixture did not pass, with the adapter's message: the format has one member for both.
fn message_of(ran: &CaseReport) -> String {
    let message = ran.message.as_deref().unwrap_or_default();
    match &ran.adapter_message {
        Some(words) => format!("{message}; the adapter says: {words}"),
        None => message.to_owned(),
    }
}

fn overall<'a>(tiers: impl Iterator<Item = &'a TierResult>) -> Overall {
    let worst = tiers.map(|tier| match tier.status {
        TierStatus::Pass | TierStatus::Skipped => Overall::Pass,
        TierStatus::Fail => Overall::Fail,
        TierStatus::Error => Overall::Error,
    });
    worst.max_by_key(|overall| overall.exit_code()).unwrap_or(Overall::Pass)
}
