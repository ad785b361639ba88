//! The cases of AOF/1 on Accord, and the seeded faults of its rules.

use std::sync::Arc;

use accord_adapters::aof::Accord;
use accord_adapters::faults::{Fault, Faulty, faults_of};
use accord_adapters::{Adapter, Call, Reply};
use accord_contract::Wire as _;
use accord_kit::driver::InProcess;
use accord_kit::verdict::Verdict;
use accord_kit::{Case, Filter, Reporters, RunOptions, RunReport, run};
use serde_json::{Value, json};

use crate::judged::{cases, not_passed, protocol};

/// Runs cases of AOF/1 in this process, with a fault if one is given.
fn judge(fault: Option<Fault>, filter: Option<&str>) -> RunReport {
    let make = move || -> Box<dyn Adapter> {
        match fault {
            None => Box::new(Accord::default()),
            Some(fault) => Box::new(Faulty::new(Arc::new(Accord::default()), fault)),
        }
    };
    let answer = move |case: &Case| make().answer_case(&case.encode());
    let adapter = InProcess::new(answer).in_folders(move |_| {
        let adapter = make();
        Box::new(move |request: &Value| adapter.step(request).expect("AOF/1 has steps"))
    });
    let mut options = RunOptions::default();
    options.filter = filter.map(|filter| filter.parse::<Filter>().expect("a filter"));
    run(protocol("aof"), &adapter, &options, &mut Reporters::default()).expect("the run succeeds")
}

#[test]
fn accord_passes_every_case_including_proposals() {
    let report = judge(None, None);
    let wrong = not_passed(&report);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(report.cases.len() >= 350);
}

#[test]
fn a_case_of_its_clause_catches_every_fault() {
    let faults = faults_of("aof");
    assert!(faults.len() >= 30);
    let mut missed = Vec::new();
    for fault in faults {
        let report = judge(Some(*fault), Some(&format!("clause({})", fault.clause)));
        let failed = report.cases.iter().filter(|case| case.verdict == Verdict::Fail).count();
        println!("{:<30} {:<24} {failed} of {}", fault.name, fault.clause, report.cases.len());
        if failed == 0 {
            missed.push(fault.name);
        }
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

#[test]
fn every_example_of_the_guide_runs_with_both_settings() {
    for number in 1..=9 {
        for name in [format!("{number}"), format!("{number}-at-session-end")] {
            let id = format!("aof/examples/{name}");
            assert!(cases("aof").iter().any(|case| case.id == id), "{id}");
        }
    }
}

#[test]
fn a_step_outside_an_open_folder_is_an_error() {
    let adapter = Accord::default();
    let request = |action: &str| {
        json!({"do": action, "args": {}, "root": "/nowhere", "settings": {},
               "clock": "2026-02-09T21:00:00.000Z"})
    };
    for action in ["open", "poll"] {
        let answer = adapter.step(&request(action)).expect("a step");
        assert_eq!(answer["status"], "error", "{answer}");
    }
    let call = json!({"input": {"operation": "fly", "args": {}}, "expected": {}});
    let call = Call::read(&call).expect("a call");
    assert_eq!(adapter.perform(&call), Ok(Reply::NotImplemented));
}
