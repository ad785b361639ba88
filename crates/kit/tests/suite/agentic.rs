//! The cases of the Agentic Protocol 0.1, as they are.

use std::collections::{BTreeMap, BTreeSet};

use accord_canon::{Profile, canonicalize, sha256};
use accord_kit::case::{CheckKind, Strength, Task};
use accord_kit::corpus::{Clause, DefinedBy, Protocol};
use accord_kit::{Case, Corpus};

fn agentic() -> Protocol {
    Corpus::embedded_protocol("agentic").unwrap()
}

fn steps(case: &Case) -> &[accord_kit::case::Step] {
    match &case.task {
        Task::Exchange(exchange) => &exchange.steps,
        _ => panic!("{} is not judged over HTTP", case.id),
    }
}

#[test]
fn every_requirement_that_can_be_seen_from_outside_has_a_clause() {
    let protocol = agentic();
    let clauses: BTreeSet<&str> =
        protocol.clauses().iter().map(|clause| clause.id.as_str()).collect();
    for number in 1..=124 {
        let id = format!("AGENTIC-R-{number:03}");
        // A store with a flipped byte, a backend without transactions, a server without a model.
        let unseen = [36, 37, 88, 109].contains(&number);
        assert_eq!(clauses.contains(id.as_str()), !unseen, "{id}");
    }
}

#[test]
fn there_are_cases_of_every_strength_and_level() {
    let protocol = agentic();
    assert!(protocol.cases().len() >= 150, "{}", protocol.cases().len());
    let mut required: BTreeMap<String, usize> = BTreeMap::new();
    for case in protocol.cases().iter().filter(|case| case.strength == Strength::Must) {
        *required.entry(case.level()).or_default() += 1;
    }
    let levels: Vec<&str> = required.keys().map(String::as_str).collect();
    assert_eq!(levels, ["L0", "L1", "L2", "L3"]);
    assert!(required.values().all(|count| *count >= 10), "{required:?}");
    let claims = protocol
        .cases()
        .iter()
        .filter(|case| matches!(&case.task, Task::Exchange(exchange) if exchange.claim.is_some()));
    assert_eq!(claims.count(), 1);
}

#[test]
fn the_lowest_level_only_reads() {
    let protocol = agentic();
    let routes = protocol.routes().unwrap();
    for case in protocol.cases().iter().filter(|case| case.level() == "L0") {
        for step in steps(case) {
            let method = routes.routes[&step.request.route].method;
            assert_eq!(method.as_str(), "GET", "{}", case.id);
        }
    }
}

#[test]
fn every_required_clause_has_a_required_case() {
    let protocol = agentic();
    let required = |clause: &&Clause| clause.strength == Strength::Must;
    for clause in protocol.clauses().iter().filter(required) {
        let mut citing = protocol.cases().iter();
        let proved =
            citing.any(|case| case.strength == Strength::Must && case.clauses.contains(&clause.id));
        assert!(proved, "{}", clause.id);
    }
}

#[test]
fn a_case_that_leans_on_a_decision_of_ours_says_so() {
    let protocol = agentic();
    for case in protocol.cases().iter().filter(|case| case.strength == Strength::Proposal) {
        let says = case
            .clauses
            .iter()
            .any(|id| protocol.clause(id).unwrap().strength == Strength::Proposal);
        let of_a_shape =
            case.clauses.iter().any(|id| id == "AGENTIC-R-047" || id == "AGENTIC-R-093");
        assert!(says || of_a_shape, "{}", case.id);
    }
}

#[test]
fn the_nine_routes_are_the_protocols_and_the_rest_are_ours() {
    let protocol = agentic();
    let routes = &protocol.routes().unwrap().routes;
    let defined: BTreeSet<(&str, &str)> = routes
        .values()
        .filter(|route| route.defined_by == DefinedBy::Protocol)
        .map(|route| (route.method.as_str(), route.path.as_str()))
        .collect();
    assert_eq!(
        defined,
        BTreeSet::from([
            ("DELETE", "/v1/projects/{project_id}/facts"),
            ("GET", "/v1/conformance"),
            ("GET", "/v1/orchestrate"),
            ("GET", "/v1/packages/{package_id}"),
            ("GET", "/v1/projects/{project_id}/orient"),
            ("GET", "/v1/projects/{project_id}/packages"),
            ("POST", "/v1/packages/{package_id}/flag"),
            ("POST", "/v1/projects/{project_id}/facts"),
            ("POST", "/v1/projects/{project_id}/packages"),
        ])
    );
}

/// The oracle computed the digests; a second implementation that agrees guards both.
#[test]
fn the_digests_of_the_corpus_are_those_of_the_canonical_form() {
    let protocol = agentic();
    let mut compared = 0;
    for case in protocol.cases().iter().filter(|case| case.oracle.is_some()) {
        for step in steps(case).iter().filter(|step| step.request.route == "deposit") {
            let text = step.request.text.as_ref().unwrap();
            let canonical = canonicalize(Profile::Agentic, text.as_bytes()).unwrap();
            let expected =
                step.expect.iter().flatten().flat_map(|expected| expected.checks.iter().flatten());
            let digests = expected.filter(|check| check.check == CheckKind::ContainsText);
            for check in digests {
                assert_eq!(
                    check.text.as_deref(),
                    Some(sha256(&canonical).hex().as_str()),
                    "{}",
                    case.id
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 13);
}
