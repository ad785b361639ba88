//! The kit notices: every seeded fault is caught, by a case of its clause.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use accord_adapters::faults::{Faulty, faults_of};
use accord_adapters::{Adapter, BadCall, Call, Reply, agentxchain, alx};
use accord_kit::report::CaseReport;
use accord_kit::verdict::Verdict;

use crate::judged::{judge, judge_profile};

#[test]
fn every_fault_of_alx_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    assert!(alx::FAULTS.len() >= 15);
    each_is_caught(&(Arc::new(alx::Accord) as Arc<dyn Adapter>), |faulty| {
        judge(faulty).cases
    });
}

#[test]
fn every_fault_of_agentxchain_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    assert!(agentxchain::FAULTS.len() >= 25);
    let honest = Remembering::new(Box::new(agentxchain::Accord::default()));
    each_is_caught(&(Arc::new(honest) as Arc<dyn Adapter>), |faulty| {
        let mut cases = judge(faulty).cases;
        cases.extend(judge_profile(faulty, Some("strict")).cases);
        cases
    });
}

fn each_is_caught(honest: &Arc<dyn Adapter>, judge: impl Fn(&dyn Adapter) -> Vec<CaseReport>) {
    let mut missed = Vec::new();
    for fault in faults_of(honest.protocol()) {
        let cases = judge(&Faulty::new(Arc::clone(honest), fault));
        let failed: Vec<_> = cases
            .iter()
            .filter(|case| case.verdict != Verdict::Pass)
            .collect();
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
        if by_clause.is_empty() {
            missed.push(format!("{} ({})", fault.name, fault.clause));
        }
        // A fault that breaks everything proves nothing about any case.
        assert!(
            failed.len() * 3 < cases.len(),
            "{} is wrong in more than one thing",
            fault.name
        );
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
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

/// An implementation that is asked everything once. A fault leaves most questions alone, and hooks take
/// their time.
struct Remembering {
    honest: Box<dyn Adapter>,
    answers: Mutex<BTreeMap<String, Result<Reply, BadCall>>>,
}

impl Remembering {
    fn new(honest: Box<dyn Adapter>) -> Self {
        Self {
            honest,
            answers: Mutex::default(),
        }
    }
}

impl Adapter for Remembering {
    fn protocol(&self) -> &'static str {
        self.honest.protocol()
    }

    fn id_member(&self) -> &'static str {
        self.honest.id_member()
    }

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        let question = serde_json::json!([call.operation, call.setup, call.args, call.profile]);
        let question = question.to_string();
        if let Some(answer) = self.answers.lock().expect("nobody panicked").get(&question) {
            return answer.clone();
        }
        let answer = self.honest.perform(call);
        let mut answers = self.answers.lock().expect("nobody panicked");
        answers.insert(question, answer.clone());
        answer
    }
}
