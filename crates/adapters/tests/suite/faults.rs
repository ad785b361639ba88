//! The kit notices: every seeded fault is caught, by a case of its clause.

use accord_adapters::alx::{FAULTS, Faulty};
use accord_kit::verdict::Verdict;

use crate::judged::judge;

#[test]
fn every_seeded_fault_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    assert!(FAULTS.len() >= 15);
    let mut missed = Vec::new();
    for fault in FAULTS {
        let report = judge(&Faulty(fault));
        let failed: Vec<_> = report
            .cases
            .iter()
            .filter(|case| case.verdict != Verdict::Pass)
            .collect();
        let by_clause = failed
            .iter()
            .filter(|case| case.verdict == Verdict::Fail)
            .filter(|case| case.clauses.iter().any(|clause| clause == fault.clause))
            .count();
        println!(
            "{:<28} {:<26} {:>4} cases fail, {by_clause} of the clause",
            fault.name,
            fault.clause,
            failed.len()
        );
        if by_clause == 0 {
            missed.push(format!("{} ({})", fault.name, fault.clause));
        }
        // A fault that breaks everything proves nothing about any case.
        assert!(
            failed.len() * 3 < report.cases.len(),
            "{} is wrong in more than one thing",
            fault.name
        );
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

#[test]
fn no_two_faults_have_the_same_name() {
    let mut names: Vec<_> = FAULTS.iter().map(|fault| fault.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FAULTS.len());
}
