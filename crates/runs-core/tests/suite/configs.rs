//! Configurations: every rule, and what survives.

use accord_contract::Code;
use accord_runs_core::config::{Config, Semantics, narrow_problems, problems};
use serde_json::{Value, json};

use crate::support::{config, config_with};

fn broken(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = Value::Object(config().document().clone());
    change(&mut document);
    problems(&document).into_iter().map(|problem| problem.field).collect()
}

#[test]
fn a_whole_number_is_one_however_it_is_written_and_null_is_none() {
    let narrow = |turns: Value| {
        let mut document = Value::Object(config().document().clone());
        document["routing"]["implementation"]["max_concurrent_turns"] = turns;
        (problems(&document).len(), narrow_problems(&document).len())
    };
    for sound in [json!(2), json!(2.0), json!(4.0)] {
        assert_eq!(narrow(sound.clone()), (0, 0), "{sound}");
    }
    for wrong in [json!(null), json!(2.5), json!(5.0), json!(0.0), json!("2")] {
        assert_eq!(narrow(wrong.clone()), (1, 1), "{wrong}");
    }
    let two = config_with(|document| {
        document["routing"]["implementation"]["max_concurrent_turns"] = json!(2.0);
    });
    let route = two.route("implementation").expect("a phase");
    assert_eq!(route.max_concurrent_turns, 2);
    assert_eq!(broken(|document| document["schema_version"] = json!(4.0)), Vec::<String>::new());
}

#[test]
fn a_runtime_of_the_wrong_type_is_not_declared() {
    for wrong in [json!(7), json!(null), json!(["hand"]), json!({"type": "manual"}), json!(true)] {
        let mut document = Value::Object(config().document().clone());
        document["roles"]["dev"]["runtime"] = wrong.clone();
        for found in [problems(&document), narrow_problems(&document)] {
            let [problem] = found.as_slice() else {
                panic!("{wrong}: {found:?}");
            };
            assert_eq!(problem.code, Code::XchainUndeclaredRuntimeReference, "{wrong}");
            assert_eq!(problem.field, "roles.dev.runtime");
        }
    }
}

#[test]
fn a_gate_that_is_null_is_not_declared() {
    let mut document = Value::Object(config().document().clone());
    document["gates"]["exit"] = json!({});
    document["routing"]["qa"]["exit_gate"] = json!("exit");
    assert_eq!(narrow_problems(&document).len(), 0);
    document["gates"]["exit"] = json!(null);
    let found = narrow_problems(&document);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Code::XchainUndeclaredGateReference);
}

#[test]
fn each_rule_names_its_member() {
    assert_eq!(broken(|_| {}), Vec::<String>::new());
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/schema_version", json!("2.0"), "schema_version"),
        ("/project/name", json!(" "), "project.name"),
        ("/project", json!({"id": "a", "name": "b", "goal": "x".repeat(501)}), "project.goal"),
        ("/roles/dev/write_authority", json!("some"), "roles.dev.write_authority"),
        ("/roles/dev/runtime", json!("gone"), "roles.dev.runtime"),
        ("/roles/dev/mandate", json!(""), "roles.dev.mandate"),
        ("/runtimes/agent", json!({"type": "local_cli"}), "runtimes.agent.command"),
        (
            "/runtimes/agent",
            json!({"type": "local_cli", "command": ["a"], "prompt_transport": "argv"}),
            "runtimes.agent.prompt_transport",
        ),
        ("/runtimes/agent", json!({"type": "telepathy"}), "runtimes.agent.type"),
        (
            "/runtimes/agent",
            json!({"type": "mcp", "transport": "streamable_http", "url": "ftp://x"}),
            "runtimes.agent.url",
        ),
        ("/runtimes/hand", json!({"type": "local_cli", "command": "x"}), "roles.qa.runtime"),
        ("/routing/qa/entry_role", json!("ghost"), "routing.qa.entry_role"),
        ("/routing/qa/allowed_next_roles", json!(["ghost"]), "routing.qa.allowed_next_roles"),
        ("/routing/qa/exit_gate", json!("ghost"), "routing.qa.exit_gate"),
        ("/routing/qa", json!({"max_concurrent_turns": 5}), "routing.qa.max_concurrent_turns"),
        ("/routing/qa", json!({"max_concurrent_turns": 1.5}), "routing.qa.max_concurrent_turns"),
        ("/routing/qa", json!({"timeout_minutes": 0}), "routing.qa.timeout_minutes"),
        ("/routing/qa", json!({"timeout_action": "sleep"}), "routing.qa.timeout_action"),
        ("/gates/plan", json!({"requires_files": ["../x"]}), "gates.plan.requires_files"),
        ("/gates/plan", json!({"gate_actions": [{"run": "x"}]}), "gates.plan.gate_actions"),
        (
            "/workflow_kit",
            json!({"phases": {"qa": {"artifacts": [{"path": "a/../b"}]}}}),
            "workflow_kit.phases.qa",
        ),
    ];
    for (pointer, value, field) in cases {
        let found = broken(|document| *document.pointer_mut(pointer).unwrap() = value.clone());
        assert_eq!(found, [field], "{pointer} = {value}");
    }
    for (name, value, field) in [
        ("hooks", json!({"before_lunch": []}), "hooks.before_lunch"),
        (
            "hooks",
            json!({"after_acceptance": [{"name": "a", "type": "process", "command": ["x"],
                "timeout_ms": 100, "mode": "blocking"}]}),
            "hooks.after_acceptance.0",
        ),
        ("rules", json!({"max_turn_retries": 0}), "rules.max_turn_retries"),
        ("budget", json!({"per_turn_max_usd": 2, "per_run_max_usd": 1}), "budget.per_turn_max_usd"),
        ("budget", json!({"on_exceed": "cry"}), "budget.on_exceed"),
        (
            "approval_policy",
            json!({"run_completion": {"action": "auto_approve", "when": "passed"}}),
            "approval_policy.run_completion",
        ),
        (
            "approval_policy",
            json!({"run_completion": {"action": "auto_approve", "when": {"gate_passed": "yes"}}}),
            "approval_policy.run_completion",
        ),
        (
            "policies",
            json!([{"id": "a", "rule": "max_total_turns", "action": "block"}]),
            "policies.0",
        ),
        ("timeouts", json!({"action": "wait"}), "timeouts.action"),
        (
            "approval_policy",
            json!({"run_completion": {"action": "auto_approve",
                "when": {"credentialed_gate": true}}}),
            "approval_policy.run_completion",
        ),
    ] {
        let found = broken(|document| document[name] = value.clone());
        assert_eq!(found, [field], "{name} = {value}");
    }
}

#[test]
fn fewer_rules_hold_for_the_protocols_cases() {
    let loose = json!({"schema_version": "1.0", "roles": {"r": {"runtime": "x",
        "write_authority": "review_only"}},
        "runtimes": {"x": {"type": "local_cli"}}, "routing": {"qa": {"entry_role": "r"}}});
    assert!(narrow_problems(&loose).is_empty());
    assert!(!problems(&loose).is_empty());
    let numeric = json!({"schema_version": 4, "roles": {}, "runtimes": {}});
    assert_eq!(narrow_problems(&numeric)[0].code, Code::XchainSchemaVersionInvalid);
    let failure = Config::read(json!([])).unwrap_err();
    assert_eq!(failure.code, Code::XchainInvalidConfig);
}

#[test]
fn order_and_unknown_members_survive() {
    let mut document = Value::Object(config().document().clone());
    document["x-team"] = json!({"z": 1, "a": 2});
    document["notifications"] = json!({});
    let text = document.to_string();
    let config = Config::read(document).unwrap();
    assert_eq!(Value::Object(config.document().clone()).to_string(), text);
    assert_eq!(config.phases(), ["planning", "implementation", "qa"]);
}

#[test]
fn templates_stand_for_their_documents() {
    let of = |template: &str| {
        let config = config_with(|document| {
            document["workflow_kit"] = json!({"phases": {"qa": {
                "template": template,
                "artifacts": [{"path": "docs/more.md", "required": false}]
            }}});
        });
        config.workflow().artifacts("qa").to_vec()
    };
    let review = of("architecture-review");
    assert_eq!(review.len(), 2);
    assert_eq!(review[0].path, ".planning/ARCHITECTURE.md");
    assert_eq!(review[0].semantics, Some(Semantics::SectionCheck));
    assert_eq!(review[0].required_sections.len(), 4);
    let security = of("security-review");
    assert_eq!(security[0].path, ".planning/SECURITY_REVIEW.md");
    assert_eq!(security[0].required_sections, ["## Threat Model", "## Findings", "## Verdict"]);
    assert_eq!(of("planning-default").len(), 4);
    let unknown = broken(|document| {
        document["workflow_kit"] = json!({"phases": {"qa": {"template": "lunch"}}});
    });
    assert_eq!(unknown, ["workflow_kit.phases.qa"]);
}
