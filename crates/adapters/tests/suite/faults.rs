//! The kit's self-test: a case of its clause catches every seeded fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use accord_adapters::faults::{Fault, Faulty, faults_of, reached};
use accord_adapters::{Adapter, agentxchain, alx};
use accord_contract::Wire as _;
use accord_contract::faults::seeded;
use accord_contract::fixture::AdapterResult;
use accord_kit::Case;
use accord_kit::report::CaseReport;
use accord_kit::verdict::Verdict;

use crate::judged::{cases, judge, judge_answers};

#[test]
fn every_fault_of_alx_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    let faults = faults_of("alx");
    assert!(faults.len() >= 15);
    let honest: Arc<dyn Adapter> = Arc::new(alx::Accord);
    each_is_caught(faults, |fault| judge(&Faulty::new(Arc::clone(&honest), *fault)).cases);
}

#[test]
fn every_fault_of_agentxchain_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    let faults = faults_of("agentxchain");
    assert!(faults.len() >= 55);
    let honest: Arc<dyn Adapter> = Arc::new(agentxchain::Accord::default());
    let rounds = honest_rounds(honest.as_ref());
    let unreached: Vec<&str> = faults
        .iter()
        .filter(|fault| !rounds.values().any(|round| round.reached.contains(fault)))
        .map(|fault| fault.name)
        .collect();
    assert!(unreached.is_empty(), "no case reaches: {}", unreached.join(", "));
    each_is_caught(faults, |fault| {
        let faulty = Faulty::new(Arc::clone(&honest), *fault);
        // A case that does not reach the fault has the honest answer. Hooks are slow to run again.
        every_case("agentxchain", |case| {
            let round = &rounds[&case.id];
            if round.reached.contains(fault) {
                faulty.answer_case(&case.encode())
            } else {
                round.answer.clone()
            }
        })
    });
}

#[test]
fn every_area_of_agentxchain_has_faults_of_its_own() {
    let mut areas: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let faults = faults_of("agentxchain");
    for case in cases("agentxchain") {
        let known = areas.entry(case.area()).or_default();
        let broken =
            faults.iter().filter(|fault| case.clauses.iter().any(|clause| clause == fault.clause));
        known.extend(broken.map(|fault| fault.name));
    }
    assert!(areas.len() >= 14);
    for (area, faults) in areas {
        assert!(faults.len() >= 2, "{area} has only {faults:?}");
    }
}

#[test]
fn no_two_faults_have_the_same_name() {
    for protocol in accord_adapters::protocols() {
        let faults = faults_of(protocol);
        let mut names: Vec<_> = faults.iter().map(|fault| fault.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), faults.len());
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test needs a second thread")]
fn a_fault_of_the_engine_does_not_affect_other_threads() {
    let fault = accord_runs_core::faults::ChallengeWaived;
    fault.during(|| {
        assert!(seeded(fault));
        let elsewhere = thread::spawn(move || seeded(fault));
        assert!(!elsewhere.join().expect("nothing panics"));
    });
}

#[test]
fn the_page_about_the_kit_has_their_number() {
    let page = include_str!("../../../../docs/kit.md");
    let counts = ["alx", "agentxchain", "aof", "ggui"].map(|protocol| faults_of(protocol).len());
    let [alx, agentxchain, aof, ggui] = counts;
    assert!(page.contains(&format!("{alx} seeded faults for ALX")));
    assert!(page.contains(&format!("{agentxchain} for AgentXchain")));
    assert!(page.contains(&format!("{aof} for AOF/1")));
    assert!(page.contains(&format!("{ggui} for ggui")));
}

/// The answer without a fault, and the faults whose places the case reached.
struct Round {
    answer: AdapterResult,
    reached: BTreeSet<Fault>,
}

/// Runs every case once without a fault.
fn honest_rounds(honest: &dyn Adapter) -> BTreeMap<String, Round> {
    let rounds: Mutex<BTreeMap<String, Round>> = Mutex::default();
    let judged = every_case(honest.protocol(), |case| {
        let (answer, reached) = reached(|| honest.answer_case(&case.encode()));
        let round = Round { answer: answer.clone(), reached };
        let mut rounds = rounds.lock().expect("no thread panicked");
        rounds.insert(case.id.clone(), round);
        answer
    });
    assert!(judged.iter().all(|case| case.verdict == Verdict::Pass));
    rounds.into_inner().expect("no thread panicked")
}

/// Judges the cases of a protocol, including those of the strict profile.
fn every_case(protocol: &str, answer: impl Fn(&Case) -> AdapterResult + Sync) -> Vec<CaseReport> {
    let mut cases = judge_answers(protocol, None, &answer).cases;
    cases.extend(judge_answers(protocol, Some("strict"), &answer).cases);
    cases
}

/// How many faults are judged at the same time. Some cases wait for a hook that hangs.
const AT_ONCE: usize = 6;

#[expect(clippy::disallowed_methods, reason = "faults are judged at the same time")]
fn each_is_caught(faults: &[Fault], judge: impl Fn(&Fault) -> Vec<CaseReport> + Sync) {
    let next = AtomicUsize::new(0);
    let missed: Mutex<Vec<String>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !is_caught(fault, &judge(fault)) {
                        let mut missed = missed.lock().expect("no thread panicked");
                        missed.push(format!("{} ({})", fault.name, fault.clause));
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no thread panicked");
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

/// Whether a case of the clause that a fault breaks fails.
fn is_caught(fault: &Fault, cases: &[CaseReport]) -> bool {
    let failed: Vec<_> = cases.iter().filter(|case| case.verdict != Verdict::Pass).collect();
    let by_clause: Vec<&str> = failed
        .iter()
        .filter(|case| case.verdict == Verdict::Fail)
        .filter(|case| case.clauses.iter().any(|clause| clause == fault.clause))
        .map(|case| case.id.as_str())
        .collect();
    println!(
        "{:<28} {:<26} {:>4} cases fail; of the clause: {}",
        fault.name,
        fault.clause,
        failed.len(),
        by_clause.join(" ")
    );
    // A fault that fails most cases says nothing about a single case.
    assert!(failed.len() * 3 < cases.len(), "{} breaks more than one rule", fault.name);
    !by_clause.is_empty()
}
