//! The corpus of AgentXchain: fixtures that any verifier of the format can run, each rejecting one
//! beside the accepting one that it differs from.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use accord_contract::fixture::AdapterResult;
use accord_kit::case::{Call, Strength, Task};
use accord_kit::driver::InProcess;
use accord_kit::runner::RunError;
use accord_kit::{Case, Corpus, Protocol, Reporters, RunReport, run};
use serde_json::{Value, json};

use crate::support::patient;

/// Reading the corpus takes longer than all that is done with it.
pub(crate) fn agentxchain() -> &'static Protocol {
    static READ: LazyLock<Protocol> =
        LazyLock::new(|| Corpus::embedded_protocol("agentxchain").unwrap());
    &READ
}

fn call(case: &Case) -> &Call {
    match &case.task {
        Task::Call(call) => call,
        _ => panic!("{} asks no adapter", case.id),
    }
}

#[test]
fn fixtures_are_read_and_written_as_they_are() {
    use accord_contract::Wire as _;
    let protocol = agentxchain();
    assert!(protocol.cases().len() >= 150);
    for case in protocol.cases() {
        let source: Value = serde_json::from_str(protocol.source(case).unwrap()).unwrap();
        assert_eq!(case.encode(), source, "{}", case.id);
    }
}

#[test]
fn tiers_build_on_each_other() {
    let protocol = agentxchain();
    let up_to = |tier| Vec::from_iter(protocol.levels_up_to(tier));
    assert_eq!(up_to("2"), ["1", "2"]);
    assert_eq!(up_to("3"), ["1", "2", "3"]);
    assert_eq!(protocol.profiles(), BTreeSet::from(["strict".to_owned()]));
}

/// Runs the cases of a profile against something that does nothing right.
fn run_profile(profile: Option<&str>) -> Result<RunReport, RunError> {
    let idle = InProcess::new(|case: &Case| AdapterResult::judge(&case.expectation(), json!({})));
    let mut options = patient();
    options.profile = profile.map(str::to_owned);
    run(agentxchain(), &idle, &options, &mut Reporters(Vec::new()))
}

#[test]
fn cases_of_a_profile_run_only_when_it_is_asked_for() {
    let of_profile = |report: RunReport| {
        let strict = |id: &str| id.starts_with("agentxchain/strict/");
        let cases = report.cases.iter().filter(|case| strict(&case.id)).count();
        (cases, report.cases.len() - cases)
    };
    let (strict, others) = of_profile(run_profile(None).unwrap());
    assert!(strict == 0 && others > 0, "{strict} {others}");
    let (strict, others) = of_profile(run_profile(Some("strict")).unwrap());
    assert!(strict > 0 && others == 0, "{strict} {others}");
    let error = run_profile(Some("lenient")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no case belongs to the profile \"lenient\"; choose one of strict"
    );
}

/// A rejecting case can fail for one reason only if everything else is what an accepting case has.
#[test]
fn siblings_differ_only_where_they_say() {
    let protocol = agentxchain();
    let mut rejecting = 0;
    for case in protocol.cases() {
        let marks = call(case).fixture.as_ref().unwrap();
        assert_eq!(marks.kind == "reject", marks.sibling.is_some(), "{}", case.id);
        let Some(sibling) = &marks.sibling else {
            continue;
        };
        rejecting += 1;
        let sibling = protocol.case(sibling).unwrap();
        let accepts = call(sibling).fixture.as_ref().unwrap().sibling.is_none();
        assert!(accepts, "{}: {} rejects too", case.id, sibling.id);
        assert_eq!(sibling.profile, case.profile, "{}", case.id);
        let mut places = Vec::new();
        let whole = |case: &Case| {
            let call = call(case);
            json!({"setup": call.setup, "input": {"operation": call.input.operation,
                "args": call.input.args}})
        };
        differences(&whole(sibling), &whole(case), String::new(), &mut places);
        let declared = marks.changes.as_ref().unwrap();
        let covers = |change: &str, place: &str| {
            let rest = place.strip_prefix(change);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        for place in &places {
            let reported = declared.iter().any(|change| covers(change, place));
            assert!(reported, "{} differs in {place} too", case.id);
        }
        for change in declared {
            let differs = places.iter().any(|place| covers(change, place));
            assert!(differs, "{} does not differ in {change}", case.id);
        }
        assert_ne!(call(sibling).expected, call(case).expected, "{}", case.id);
    }
    assert!(rejecting >= 150, "{rejecting}");
}

/// What the public fixtures never ask for decides nothing about another implementation.
#[test]
fn no_required_case_asks_for_a_member_of_ours() {
    let protocol = agentxchain();
    let asks = |case: &&Case| call(case).expected.contains_key("repo_decisions");
    let asking: Vec<&Case> = protocol.cases().iter().filter(asks).collect();
    assert!(asking.len() >= 10, "{}", asking.len());
    for case in asking {
        assert_ne!(case.strength, Strength::Must, "{}", case.id);
        assert_eq!(call(case).input.operation, "accept_turn", "{}", case.id);
    }
}

/// Other verifiers know these assertions alone, and hooks need no program but the shell.
#[test]
fn fixtures_keep_to_the_public_format() {
    for case in agentxchain().cases() {
        let call = call(case);
        assertions(&Value::Object(call.expected.clone()), &case.id);
        let hooks = call.setup.get("config").and_then(|config| config.get("hooks"));
        let phases = hooks.and_then(Value::as_object).into_iter().flatten();
        let commands = phases
            .flat_map(|(_, hooks)| hooks.as_array().unwrap())
            .filter_map(|hook| hook.get("command"));
        for command in commands {
            let program = command[0].as_str().unwrap();
            let known = ["/bin/sh", "/nowhere/tide-check"].contains(&program);
            assert!(known, "{} starts {program}", case.id);
        }
    }
}

fn assertions(value: &Value, id: &str) {
    const PUBLIC: [&str; 4] = ["id_prefix", "nonempty_string", "present", "unordered_array"];
    match value {
        Value::Array(items) => items.iter().for_each(|item| assertions(item, id)),
        Value::Object(members) => {
            if let Some(name) = members.get("assert").and_then(Value::as_str) {
                assert!(PUBLIC.contains(&name), "{id}: {name}");
            }
            members.values().for_each(|member| assertions(member, id));
        }
        _ => {}
    }
}

/// The places where two documents differ, each as deep as it goes.
fn differences(one: &Value, other: &Value, at: String, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                pair(left.get(key), right.get(key), at, found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let at = format!("{at}/{index}");
                pair(left.get(index), right.get(index), at, found);
            }
        }
        _ if one == other => {}
        _ => found.push(at),
    }
}

fn pair(one: Option<&Value>, other: Option<&Value>, at: String, found: &mut Vec<String>) {
    match (one, other) {
        (Some(one), Some(other)) => differences(one, other, at, found),
        _ => found.push(at),
    }
}
