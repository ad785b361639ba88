//! Judging an implementation with the cases that come with Accord.

use accord_adapters::{Adapter, alx};
use accord_contract::wire::Wire as _;
use accord_kit::driver::InProcess;
use accord_kit::{Corpus, Reporters, RunOptions, RunReport, run};

/// Runs every ALX case against an adapter, in this process.
pub(crate) fn judge(adapter: &dyn Adapter) -> RunReport {
    let corpus = Corpus::embedded().expect("the corpus is sound");
    let protocol = corpus.protocol("alx").expect("there are cases for ALX");
    let in_process = InProcess::new(|case: &accord_kit::Case| adapter.answer_case(&case.encode()));
    run(
        protocol,
        &in_process,
        &RunOptions::default(),
        &mut Reporters::default(),
    )
    .expect("the run comes about")
}

#[test]
fn accord_keeps_every_promise_also_those_that_are_only_proposed() {
    let report = judge(&alx::Accord);
    let wrong: Vec<String> = report
        .cases
        .iter()
        .filter(|case| case.verdict.as_str() != "pass")
        .map(|case| format!("{}: {} {:?}", case.id, case.verdict, case.message))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(report.cases.len() >= 120);
}
