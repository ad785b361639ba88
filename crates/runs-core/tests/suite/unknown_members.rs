//! Members that have no effect.

use accord_runs_core::UnknownMemberKind;
use accord_runs_core::config::{Config, problems};
use accord_runs_core::coordinator::CoordinatorConfig;
use serde_json::{Value, json};

/// A configuration with every member that is known.
pub(crate) fn full() -> Value {
    json!({
        "$schema": "s", "x-team": {"any": 1}, "x_team": 1,
        "schema_version": "1.0", "template": "generic",
        "project": {"id": "p", "name": "P", "goal": "g", "default_branch": "main", "x_custom": 1},
        "roles": {
            "dev": {"title": "D", "mandate": "m", "write_authority": "authoritative",
                "runtime": "cli",
                    "decision_authority": 5, "declared_file_scope": ["src"]},
            "qa": {"title": "Q", "mandate": "m", "write_authority": "review_only", "runtime": "man"}
        },
        "runtimes": {
            "man": {"type": "manual", "capabilities": {"can_write_files": "direct",
                    "proposal_support": "none", "workflow_artifact_ownership": "yes"}},
            "cli": {"type": "local_cli", "command": ["a", "{prompt}"], "args": [], "cwd": ".",
                    "prompt_transport": "argv", "startup_watchdog_ms": 1, "startup_heartbeat_ms": 1,
                    "liveness_heartbeat_ms": 1},
            "api": {"type": "api_proxy", "provider": "anthropic", "model": "m", "auth_env": "KEY",
                    "base_url": "https://a.example", "max_output_tokens": 1,
                        "context_window_tokens": 9000,
                    "retry_policy": {"enabled": true, "max_attempts": 2, "base_delay_ms": 1,
                        "max_delay_ms": 2,
                        "backoff_multiplier": 2, "jitter": "none", "retry_on": ["timeout"]},
                    "preflight_tokenization": {"enabled": true, "tokenizer": "provider_local",
                        "safety_margin_tokens": 1}},
            "mcp": {"type": "mcp", "transport": "stdio", "command": "a", "args": ["b"], "cwd": ".",
                    "tool_name": "t"},
            "web": {"type": "mcp", "transport": "streamable_http", "url": "https://a.example",
                    "headers": {"Anything": "v"}},
            "far": {"type": "remote_agent", "url": "https://a.example",
                "headers": {"Anything": "v"},
                    "timeout_ms": 1000}
        },
        "routing": {
            "planning": {"entry_role": "dev", "allowed_next_roles": ["dev", "qa", "human"],
                "exit_gate": "g",
                "max_concurrent_turns": 2, "timeout_minutes": 5, "timeout_action": "skip_phase"},
            "qa": {"entry_role": "qa"}
        },
        "gates": {"g": {"requires_files": ["a.md"], "requires_verification_pass": true,
            "requires_human_approval": true, "credentialed": false,
            "gate_actions": [{"run": "true", "label": "l", "timeout_ms": 1000}]}},
        "hooks": {
            "before_gate": [{"name": "h", "type": "process", "command": ["a"], "timeout_ms": 100,
                "mode": "blocking", "env": {"ANYTHING": "v"}}],
            "on_escalation": [{"name": "h", "type": "http", "url": "https://a.example",
                "method": "POST",
                "headers": {"Anything": "v"}, "timeout_ms": 100, "mode": "advisory"}]
        },
        "workflow_kit": {"phases": {"planning": {"template": "planning-default", "artifacts": [
            {"path": "b.md", "semantics": "section_check", "required": true, "owned_by": "dev",
             "semantics_config": {"required_sections": ["## A"]}}]}}},
        "rules": {"challenge_required": true, "max_turn_retries": 2, "max_deadlock_cycles": 2},
        "budget": {"per_turn_max_usd": 1, "per_run_max_usd": 2, "on_exceed": "warn",
            "cost_rates": {"m": {"input_per_1m": 1, "output_per_1m": 1}}},
        "policies": [
            {"id": "a", "rule": "max_total_turns", "action": "warn", "params": {"limit": 3},
             "scope": {"phases": ["qa"], "roles": ["dev"]}, "message": "m"},
            {"id": "b", "rule": "max_cost_per_turn", "action": "warn", "params": {"limit_usd": 3}},
            {"id": "c", "rule": "require_status", "action": "warn",
                "params": {"allowed": ["completed"]}}
        ],
        "approval_policy": {
            "phase_transitions": {"default": "require_human", "rules": [
                {"from_phase": "planning", "to_phase": "qa", "action": "auto_approve",
                 "when": {"gate_passed": true, "roles_participated": ["dev"],
                     "all_phases_visited": true,
                          "credentialed_gate": false}}]},
            "run_completion": {"action": "require_human", "when": {"gate_passed": true}}
        },
        "timeouts": {"per_turn_minutes": 1, "per_phase_minutes": 1, "per_run_minutes": 1,
            "action": "warn"},
        "prompts": {"dev": "a.md"}, "gate_semantic_coverage_mode": "strict",
        "run_loop": {"startup_watchdog_ms": 1, "stale_turn_threshold_ms": 1, "max_turns": 5,
            "startup_heartbeat_ms": 1, "liveness_heartbeat_ms": 1, "continuous": {}},
        "notifications": {"webhooks": []}, "schedules": {}, "retention": {},
            "intent_coverage_mode": "strict",
        "intake": {}, "files": {}, "compat": {}, "mission_planner": {}
    })
}

fn unknown_members(document: &Value) -> Vec<(String, UnknownMemberKind)> {
    let members = document.as_object().unwrap().clone();
    let found = Config::lenient(members).unknown_members().into_iter();
    found.map(|stray| (stray.field, stray.kind)).collect()
}

#[test]
fn every_member_that_is_known_is_known_and_those_for_other_runners_are_named_so() {
    let document = full();
    assert_eq!(problems(&document), [], "the example is sound");
    let (kept, other): (Vec<_>, Vec<_>) = unknown_members(&document)
        .into_iter()
        .partition(|(_, kind)| *kind == UnknownMemberKind::Kept);
    assert_eq!(other, []);
    let kept: Vec<&str> = kept.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(
        kept,
        [
            "template",
            "project.default_branch",
            "runtimes.man.capabilities",
            "runtimes.cli.startup_heartbeat_ms",
            "runtimes.cli.liveness_heartbeat_ms",
            "rules.max_deadlock_cycles",
            "budget.cost_rates",
            "run_loop.startup_heartbeat_ms",
            "run_loop.liveness_heartbeat_ms",
            "run_loop.continuous",
            "notifications",
            "schedules",
            "retention",
            "intent_coverage_mode",
            "intake",
            "files",
            "compat",
            "mission_planner",
        ]
    );
}

/// Puts a member into an object of the full example, and gives what is said of it.
fn said_of(object: &str, name: &str) -> (Option<&'static str>, bool) {
    let mut document = full();
    document.pointer_mut(object).unwrap()[name] = json!(true);
    let mut found = unknown_members(&document);
    found.retain(|(_, kind)| *kind != UnknownMemberKind::Kept);
    let field = format!("{object}/{name}").replace('/', ".");
    match &found[..] {
        [(at, UnknownMemberKind::Unknown { meant, leaves_open })] if format!(".{at}") == field => {
            (*meant, *leaves_open)
        }
        other => panic!("{field}: {other:?}"),
    }
}

#[test]
fn an_unknown_member_is_named_with_the_one_that_was_meant() {
    for (object, name, meant) in [
        ("", "approval_polices", Some("approval_policy")),
        ("", "banana", None),
        ("/routing/qa", "max_concurent_turns", Some("max_concurrent_turns")),
        ("/timeouts", "per_turn_minute", Some("per_turn_minutes")),
        ("/rules", "max_turn_retry", Some("max_turn_retries")),
        ("/approval_policy", "phase_transition", Some("phase_transitions")),
        ("/runtimes/cli", "startup_watchdog", Some("startup_watchdog_ms")),
        ("/runtimes/man", "url", None),
        ("/runtimes/api/retry_policy", "max_attempt", Some("max_attempts")),
        ("/roles/dev", "decision_autority", Some("decision_authority")),
        ("/hooks/before_gate/0", "retries", None),
        ("/budget", "foo", None),
        ("/policies/0/params", "limits", Some("limit")),
        ("/run_loop", "max_turn", Some("max_turns")),
        ("/gates/g", "banana", None),
    ] {
        assert_eq!(said_of(object, name), (meant, false), "{object} {name}");
    }
}

#[test]
fn a_mistyped_name_that_leaves_a_gate_open_is_distinguished() {
    for (object, name, meant) in [
        ("", "gate", "gates"),
        ("/gates/g", "require_human_approval", "requires_human_approval"),
        ("/gates/g", "requires_file", "requires_files"),
        ("/gates/g", "human_approval", "requires_human_approval"),
        ("/gates/g", "credentialled", "credentialed"),
        ("/routing/qa", "exit_gates", "exit_gate"),
        ("/routing/qa", "allowed_next_role", "allowed_next_roles"),
        ("/workflow_kit/phases/planning", "artefacts", "artifacts"),
        ("/workflow_kit/phases/planning/artifacts/0", "semantic", "semantics"),
        ("/approval_policy/phase_transitions/rules/0", "from", "from_phase"),
        ("/approval_policy/run_completion/when", "gate_pass", "gate_passed"),
    ] {
        assert_eq!(said_of(object, name), (Some(meant), true), "{object} {name}");
    }
}

#[test]
fn names_for_other_eyes_and_free_maps_are_left_alone() {
    for (object, name) in [
        ("", "x-anything"),
        ("/project", "x_anything"),
        ("/gates/g", "$comment"),
        ("/prompts", "anything"),
        ("/runtimes/far/headers", "anything"),
        ("/hooks/before_gate/0/env", "anything"),
        ("/budget/cost_rates", "anything"),
        ("/run_loop/continuous", "anything"),
    ] {
        let mut document = full();
        let before = unknown_members(&document);
        document.pointer_mut(object).unwrap()[name] = json!(true);
        assert_eq!(unknown_members(&document), before, "{object} {name}");
    }
}

#[test]
fn a_coordinators_members_are_looked_at_too() {
    let document = json!({
        "schema_version": "0.1", "project": {"id": "a", "name": "A", "nam": "B"},
        "repos": {"api": {"path": "./api", "default_branch": "main", "required": true,
            "requird": false}},
        "routing": {"planning": {"entry_workstream": "w", "exit_gate": "g", "exit_gat": "g"}},
        "gates": {"g": {"requires_human_approval": true, "requires_repos": ["api"],
            "require_repos": []}},
        "hooks": {"before_gate": [{"name": "h", "type": "process", "command": ["a"],
            "timeout_ms": 100,
            "mode": "blocking", "mod": 1}]},
        "workstreams": {"w": {"phase": "planning", "repos": ["api"], "entry_repo": "api",
            "depends_on": [],
            "completion_barrier": "named_decisions", "complete_barrier": 1,
            "named_decisions": {"decision_ids_by_repo": {"api": ["DEC-1"]}}}},
        "x_note": 1
    });
    let found = CoordinatorConfig::read(document).unwrap().unknown_members();
    let found: Vec<&str> = found.iter().map(|stray| stray.field.as_str()).collect();
    assert_eq!(
        found,
        [
            "project.nam",
            "repos.api.default_branch",
            "repos.api.requird",
            "routing.planning.exit_gat",
            "gates.g.require_repos",
            "hooks.before_gate.0.mod",
            "workstreams.w.complete_barrier",
        ]
    );
}
