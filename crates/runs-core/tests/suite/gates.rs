//! Gates, given files and who has had a turn.

use std::collections::BTreeMap;

use accord_runs_core::config::Config;
use accord_runs_core::gate::{
    Completion, PhaseExit, View, evaluate_completion, evaluate_phase_exit, needed_files,
};
use accord_runs_core::history::RunIndex;
use serde_json::{Value, json};

use crate::support::{config, config_with};

fn exit(config: &Config, files: &[(&str, &str)], verification: &str) -> PhaseExit {
    let files: BTreeMap<String, String> =
        files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    let view = View {
        config,
        phase: "planning",
        verification: Some(verification),
        files: &files,
        index: &RunIndex::default(),
        asking_role: Some("pm"),
    };
    evaluate_phase_exit(Some("implementation"), &view)
}

/// A project that is not validated: validation refuses some of the spellings.
fn lenient(change: impl FnOnce(&mut Value)) -> Config {
    let mut document = Value::Object(config().document().clone());
    change(&mut document);
    match document {
        Value::Object(document) => Config::lenient(document),
        other => panic!("{other} is no object"),
    }
}

#[test]
fn missing_files_come_before_everything_else() {
    let config = config_with(|document| {
        document["gates"]["plan"] = json!({
            "requires_files": [".planning/PM_SIGNOFF.md", "docs/x.md"],
                "requires_verification_pass": true
        });
    });
    let reason =
        |files: &[(&str, &str)], verification: &str| match exit(&config, files, verification) {
            PhaseExit::Failed { failures, .. } => failures.reason().to_owned(),
            other => format!("{other:?}"),
        };
    let bad = (".planning/PM_SIGNOFF.md", "Approved: NO");
    let good = (".planning/PM_SIGNOFF.md", "Approved: YES");
    assert_eq!(reason(&[bad], "fail"), "requires_files predicate failed");
    assert_eq!(
        reason(&[bad, ("docs/x.md", "")], "fail"),
        "requires_verification_pass predicate failed"
    );
    assert!(reason(&[bad, ("docs/x.md", "")], "pass").starts_with("PM signoff is not approved."));
    assert!(matches!(
        exit(&config, &[good, ("docs/x.md", "")], "attested_pass"),
        PhaseExit::Advance { .. }
    ));
}

#[test]
fn however_a_path_is_spelled_the_file_is_judged_by_what_it_says() {
    for spelling in [
        "./.planning/PM_SIGNOFF.md",
        ".planning//PM_SIGNOFF.md",
        "drafts/../.planning/PM_SIGNOFF.md",
        " .planning/PM_SIGNOFF.md ",
    ] {
        let required = lenient(|document| {
            document["gates"]["plan"] = json!({"requires_files": [spelling]});
        });
        let owed = lenient(|document| {
            document["gates"]["plan"] = json!({});
            document["workflow_kit"] =
                json!({"phases": {"planning": {"artifacts": [{"path": spelling}]}}});
        });
        // What is declared takes the place of what a template says about the same file.
        let optional = lenient(|document| {
            document["gates"]["plan"] = json!({"requires_files": [".planning/PM_SIGNOFF.md"]});
            document["workflow_kit"] = json!({"phases": {"planning": {"artifacts": [
                {"path": spelling, "semantics": "section_check",
                 "semantics_config": {"required_sections": ["## Why"]}}]}}});
        });
        let file = |text| (".planning/PM_SIGNOFF.md", text);
        for config in [&required, &owed] {
            let PhaseExit::Failed { failures, .. } = exit(config, &[file("Approved: NO")], "pass")
            else {
                panic!("{spelling:?} is not read");
            };
            let reason = failures.reason();
            assert!(reason.contains("in .planning/PM_SIGNOFF.md;"), "{reason}");
            let opened = exit(config, &[file("Approved: YES")], "pass");
            assert!(matches!(opened, PhaseExit::Advance { .. }), "{spelling:?}");
        }
        let opened = exit(&optional, &[file("## Why\nBecause.\n")], "pass");
        assert!(matches!(opened, PhaseExit::Advance { .. }), "{spelling:?}");
    }
    let outside = lenient(|document| {
        document["gates"]["plan"] = json!({"requires_files": ["../.planning/PM_SIGNOFF.md"]});
    });
    let shut = exit(&outside, &[(".planning/PM_SIGNOFF.md", "Approved: YES")], "pass");
    assert!(matches!(shut, PhaseExit::Failed { .. }));
}

#[test]
fn owners_must_have_had_a_turn_and_the_usual_documents_are_owed() {
    let owned = config_with(|document| {
        document["gates"]["plan"] = json!({});
        document["workflow_kit"] = json!({"phases": {"planning": {"artifacts": [
            {"path": ".planning/SPEC.md", "owned_by": "qa", "semantics": "section_check",
             "semantics_config": {"required_sections": ["## Why"]}}]}}});
    });
    let text = (".planning/SPEC.md", "## Why\nBecause.\n");
    assert!(matches!(exit(&owned, &[text], "pass"), PhaseExit::Failed { .. }));
    let mine = config_with(|document| {
        document["gates"]["plan"] = json!({});
        document["workflow_kit"] = json!({"phases": {"planning": {"artifacts": [
            {"path": ".planning/SPEC.md", "owned_by": "pm", "semantics": "section_check",
             "semantics_config": {"required_sections": ["## Why"]}}]}}});
    });
    assert!(matches!(exit(&mine, &[text], "pass"), PhaseExit::Advance { .. }));
    let empty = (".planning/SPEC.md", "## Why\n(Content here.)\n");
    assert!(matches!(exit(&mine, &[empty], "pass"), PhaseExit::Failed { .. }));
    let usual = config_with(|document| {
        document.as_object_mut().unwrap().shift_remove("workflow_kit");
    });
    let paths: Vec<String> =
        needed_files(&usual, "planning").iter().map(ToString::to_string).collect();
    assert_eq!(
        paths,
        [".planning/PM_SIGNOFF.md", ".planning/SYSTEM_SPEC.md", ".planning/ROADMAP.md"]
    );
    assert_eq!(needed_files(&config(), "planning").len(), 1);
}

#[test]
fn a_flag_of_the_wrong_type_closes_a_gate() {
    let signed = (".planning/PM_SIGNOFF.md", "Approved: YES");
    for wrong in [json!("no"), json!(""), json!(0), json!(1), json!([]), json!({})] {
        let human = lenient(|document| {
            document["gates"]["plan"]["requires_human_approval"] = wrong.clone();
        });
        assert!(matches!(exit(&human, &[signed], "pass"), PhaseExit::Awaiting { .. }), "{wrong}");
        let checked = lenient(|document| {
            document["gates"]["plan"] = json!({"requires_verification_pass": wrong});
        });
        assert!(matches!(exit(&checked, &[], "skipped"), PhaseExit::Failed { .. }), "{wrong}");
        let credentialed = lenient(|document| {
            document["gates"]["plan"]["credentialed"] = wrong.clone();
        });
        assert!(credentialed.gate("plan").expect("a gate").credentialed, "{wrong}");
    }
    for open in [json!(null), json!(false)] {
        let gate = lenient(|document| {
            document["gates"]["plan"] = json!({"requires_human_approval": open,
                "requires_verification_pass": open});
        });
        assert!(matches!(exit(&gate, &[], "skipped"), PhaseExit::Advance { .. }), "{open}");
    }
}

#[test]
fn a_run_ends_in_its_last_phase() {
    let config = config();
    let files: BTreeMap<String, String> =
        [(".planning/ship-verdict.md".to_owned(), "## Verdict: YES".to_owned())].into();
    let index = RunIndex::default();
    let view = |phase, verification| View {
        config: &config,
        phase,
        verification: Some(verification),
        files: &files,
        index: &index,
        asking_role: None,
    };
    assert_eq!(evaluate_completion(false, &view("qa", "pass")), Completion::NoRequest);
    assert!(matches!(
        evaluate_completion(true, &view("planning", "pass")),
        Completion::NotFinal(_)
    ));
    assert!(matches!(evaluate_completion(true, &view("qa", "skipped")), Completion::Failed { .. }));
    assert!(matches!(evaluate_completion(true, &view("qa", "pass")), Completion::Complete { .. }));
    assert_eq!(evaluate_phase_exit(None, &view("qa", "pass")), PhaseExit::NoRequest);
    let backwards = evaluate_phase_exit(Some("planning"), &view("qa", "pass"));
    assert!(matches!(backwards, PhaseExit::Failed { .. }));
}

#[test]
fn a_policy_passes_gates_without_a_person_only_as_it_says() {
    use accord_runs_core::approval::passes_without_person;
    let passes = |policy: Value, credentialed: bool, index: &RunIndex| {
        let config = config_with(|document| {
            document["approval_policy"] = policy;
            document["gates"]["plan"]["credentialed"] = credentialed.into();
        });
        let gate = config.gate("plan").unwrap();
        passes_without_person(&config, gate, "planning", Some("implementation"), index, "pm")
    };
    let index = RunIndex::default();
    let rule = |action: &str, when: Value| {
        json!({"from_phase": "planning", "action": action,
        "when": when})
    };
    let rules =
        |rules: Value| json!({"phase_transitions": {"default": "auto_approve", "rules": rules}});
    assert!(passes(rules(json!([])), false, &index));
    assert!(!passes(rules(json!([])), true, &index), "credentials always need a person");
    assert!(!passes(json!({}), false, &index));
    assert!(passes(
        rules(json!([rule("auto_approve", json!({"roles_participated": ["pm"]}))])),
        false,
        &index
    ));
    // The rule that matches decides, also when its conditions do not hold.
    let unmet = rule("auto_approve", json!({"roles_participated": ["qa"]}));
    let second = rule("auto_approve", json!({}));
    assert!(!passes(rules(json!([unmet, second])), false, &index));
    assert!(!passes(rules(json!([rule("require_human", json!({}))])), false, &index));
    let all = rule("auto_approve", json!({"all_phases_visited": true}));
    assert!(!passes(rules(json!([all])), false, &index));
}
