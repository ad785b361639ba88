//! Runs the corpus against an adapter.

use std::sync::LazyLock;

use accord_adapters::{Adapter, alx};
use accord_contract::Wire as _;
use accord_contract::fixture::AdapterResult;
use accord_kit::driver::InProcess;
use accord_kit::verdict::Verdict;
use accord_kit::{Case, Corpus, Protocol, Reporters, RunOptions, RunReport, run};

/// Runs every case of an adapter's protocol against it, in this process.
pub(crate) fn judge(adapter: &dyn Adapter) -> RunReport {
    judge_profile(adapter, None)
}

/// Runs the cases of a profile against an adapter; without a profile, the cases outside of any.
pub(crate) fn judge_profile(adapter: &dyn Adapter, profile: Option<&str>) -> RunReport {
    let answer = |case: &Case| adapter.answer_case(&case.encode());
    judge_answers(adapter.protocol(), profile, answer)
}

/// Judges the answers of a function, as [`judge_profile`] does.
pub(crate) fn judge_answers(
    name: &str,
    profile: Option<&str>,
    answer: impl Fn(&Case) -> AdapterResult + Sync,
) -> RunReport {
    let in_process = InProcess::new(answer);
    let mut options = RunOptions::default();
    options.profile = profile.map(str::to_owned);
    run(protocol(name), &in_process, &options, &mut Reporters::default()).expect("the run succeeds")
}

/// Every case of a protocol.
pub(crate) fn cases(name: &str) -> &'static [Case] {
    protocol(name).cases()
}

/// A protocol of the corpus.
pub(crate) fn protocol(name: &str) -> &'static Protocol {
    static CORPUS: LazyLock<Corpus> =
        LazyLock::new(|| Corpus::embedded().expect("the corpus is valid"));
    CORPUS.protocol(name).expect("there are cases")
}

/// The cases that did not pass, as text.
pub(crate) fn not_passed(report: &RunReport) -> Vec<String> {
    let wrong = report.cases.iter().filter(|case| case.verdict != Verdict::Pass);
    wrong.map(|case| format!("{}: {} {:?}", case.id, case.verdict, case.message)).collect()
}

#[test]
fn accord_passes_every_case_including_proposals() {
    let report = judge(&alx::Accord);
    let wrong = not_passed(&report);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(report.cases.len() >= 120);
}
