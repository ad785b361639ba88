//! The verifier, with implementations in folders whose adapters are a few lines of shell.

use std::path::Path;
use std::time::Duration;

use accord_contract::Wire as _;
use accord_kit::verifier::{
    ConformanceReport, Selection, Target, TargetError, VerifyError, verify, write_text,
};
use accord_kit::{Protocol, RunOptions, run};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixtures::{agentxchain, fixture, protocol};
use crate::schemas::{assert_valid, validator};
use crate::support::{Silent, changed, put};

const RIGHT: &str =
    r#"echo '{"status":"pass","message":"Fixture passed","actual":{"result":"ok"}}'"#;
const WRONG: &str =
    r#"echo '{"status":"fail","message":"no","actual":{"result":"error"}}'; exit 1"#;
const LYING: &str = r#"echo '{"status":"pass","message":"fine","actual":{"result":"error"}}'"#;
const ABSENT: &str =
    r#"echo '{"status":"not_implemented","message":"not yet","actual":null}'; exit 3"#;

pub(crate) fn capabilities() -> Value {
    json!({
        "implementation": "tide", "version": "2.155.72", "protocol_version": "v7",
        "adapter": {"protocol": "stdio-fixture-v1", "command": ["./adapter"]},
        "tiers": [1, 2, 3],
        "surfaces": {"history": true, "hook_audit": true, "coordinator": true, "delegation": false},
        "metadata": {"name": "Tide"},
    })
}

/// An implementation in a folder of its own.
struct Implementation(TempDir);

impl Implementation {
    /// Its adapter reads the fixture into `$fixture` and goes on with these words of a shell.
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("#!/bin/sh\nread -r fixture\n{script}\n");
        put(folder.path(), "adapter", &text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path().join("adapter"), mode).unwrap();
        Self(folder).claiming(&capabilities())
    }

    fn claiming(self, capabilities: &Value) -> Self {
        self.telling(&capabilities.to_string())
    }

    fn telling(self, text: &str) -> Self {
        put(self.0.path(), ".agentxchain-conformance/capabilities.json", text);
        self
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn target(&self) -> Result<Target, TargetError> {
        Target::in_folder(self.path(), agentxchain())
    }

    fn verify(&self, fixtures: &[Value], selection: &Selection) -> ConformanceReport {
        let target = self.target().unwrap();
        verify(&protocol(fixtures), &target, selection, &mut Silent).unwrap()
    }
}

pub(crate) fn up_to(tier: u64) -> Selection {
    Selection {
        tier,
        surface: None,
        limit: Duration::from_secs(30),
        fixture_root: "these tests".to_owned(),
    }
}

fn about(surface: &str) -> Selection {
    Selection { surface: Some(surface.to_owned()), ..up_to(3) }
}

pub(crate) fn one() -> [Value; 1] {
    [fixture("A", 1, "history")]
}

/// One of each tier.
fn three() -> [Value; 3] {
    [fixture("A", 1, "history"), fixture("B", 2, "hook_audit"), fixture("C", 3, "coordinator")]
}

/// The one error that a script makes.
fn error_of(script: &str, selection: &Selection) -> String {
    let report = Implementation::new(script).verify(&one(), selection);
    let tier = &report.results["tier_1"];
    assert_eq!(report.overall.as_str(), "error");
    assert_eq!((tier.status.as_str(), tier.fixtures_errored), ("error", 1));
    tier.errors[0].message.clone()
}

#[test]
fn a_report_has_the_members_that_verifiers_agree_on() {
    let honest = Implementation::new(RIGHT);
    let report = honest.verify(&three(), &up_to(3)).encode();
    assert_valid(&validator("conformance-report"), "report", &report);
    assert_valid(&validator("capabilities"), "capabilities", &capabilities());
    let members =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(
        members(&report),
        [
            "implementation",
            "protocol_version",
            "tier_requested",
            "timestamp",
            "target_root",
            "remote",
            "fixture_root",
            "results",
            "overall"
        ]
    );
    assert_eq!(report["implementation"], "tide");
    assert_eq!(report["protocol_version"], "v7");
    assert_eq!(report["tier_requested"], 3);
    assert_eq!(report["remote"], Value::Null);
    assert_eq!(report["fixture_root"], "these tests");
    let root = honest.path().canonicalize().unwrap();
    assert_eq!(report["target_root"], root.to_str().unwrap());
    assert_eq!(report["overall"], "pass");
    assert_eq!(members(&report["results"]), ["tier_1", "tier_2", "tier_3"]);
    assert_eq!(
        report["results"]["tier_2"],
        json!({
            "status": "pass", "fixtures_run": 1, "fixtures_passed": 1, "fixtures_failed": 0,
            "fixtures_errored": 0, "fixtures_not_implemented": 0,
            "surfaces": {"hook_audit": {"passed": 1, "failed": 0, "errored": 0,
                "not_implemented": 0}},
            "failures": [], "errors": [], "not_implemented": [],
        })
    );
}

#[test]
fn failures_errors_and_gaps_are_distinguished() {
    // The adapter's own decision, by the name of the fixture.
    let script = format!(
        "case \"$fixture\" in *'\"A\"'*) {WRONG};; *'\"B\"'*) {ABSENT};; *) {RIGHT};; esac"
    );
    let fixtures = ["A", "B", "C"].map(|id| fixture(id, 1, "history"));
    let report = Implementation::new(&script).verify(&fixtures, &up_to(1)).encode();
    let tier = &report["results"]["tier_1"];
    assert_eq!((&report["overall"], &tier["status"]), (&json!("fail"), &json!("fail")));
    assert_eq!(
        tier["failures"],
        json!([{
            "fixture_id": "A", "surface": "history", "actual": {"result": "error"},
            "message": "/result: expected \"ok\", found \"error\"; the adapter says: no",
        }])
    );
    assert_eq!(
        tier["not_implemented"],
        json!([{"fixture_id": "B", "surface": "history", "message": "not yet"}])
    );
    assert_eq!(
        tier["surfaces"]["history"],
        json!({"passed": 1, "failed": 1, "errored": 0, "not_implemented": 1})
    );
    assert_eq!((&tier["fixtures_run"], &tier["fixtures_passed"]), (&json!(3), &json!(1)));
}

#[test]
fn an_error_outranks_a_failure_wherever_it_comes() {
    for (first, second) in [(WRONG, LYING), (LYING, WRONG)] {
        let script = format!("case \"$fixture\" in *'\"A\"'*) {first};; *) {second};; esac");
        let implementation = Implementation::new(&script);
        let together = ["A", "B"].map(|id| fixture(id, 1, "history"));
        let report = implementation.verify(&together, &up_to(1));
        assert_eq!(report.results["tier_1"].status.as_str(), "error");
        let apart = [fixture("A", 1, "history"), fixture("B", 2, "history")];
        let report = implementation.verify(&apart, &up_to(2));
        assert_eq!(report.overall.as_str(), "error");
    }
}

/// A fixture of another corpus means what the format says: an assertion that is none there
/// is met by nothing.
#[test]
fn an_assertion_that_the_format_does_not_have_is_never_met() {
    for (expected, overall) in [
        (json!({"result": {"assert": "present"}}), "pass"),
        (json!({"result": {"assert": "equals", "value": "ok"}}), "fail"),
        (json!({"more": {"assert": "absent"}}), "fail"),
        (json!({"result": {"assert": "moon"}}), "fail"),
    ] {
        let fixture = changed(fixture("A", 1, "history"), json!({"expected": expected}));
        let (status, code) = match overall {
            "pass" => ("pass", 0),
            _ => ("fail", 1),
        };
        let script = format!(
            "echo '{{\"status\":\"{status}\",\"actual\":{{\"result\":\"ok\"}}}}'; exit {code}"
        );
        let report = Implementation::new(&script).verify(&[fixture], &up_to(1));
        assert_eq!(report.overall.as_str(), overall, "{expected}");
    }
}

#[test]
fn gaps_alone_are_a_pass() {
    let report = Implementation::new(ABSENT).verify(&one(), &up_to(1));
    assert_eq!(report.overall.as_str(), "pass");
    assert_eq!(report.results["tier_1"].fixtures_not_implemented, 1);
    // The verdict and its exit code are the protocol's. The words are the kit's.
    assert_eq!(report.note.as_deref(), Some("nothing was judged"));
    let mut text = Vec::new();
    write_text(&report, &protocol(&one()), "Tide", false, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\nOverall: PASS\n"), "{text}");
    assert!(text.ends_with("\nnote: nothing was judged\n"), "{text}");
    let judged = Implementation::new(RIGHT).verify(&one(), &up_to(1));
    assert_eq!(judged.note, None);
}

#[test]
fn published_fixtures_need_a_status() {
    let said = error_of(r#"echo '{"actual":{"result":"ok"}}'"#, &up_to(1));
    assert!(said.contains("without a status"), "{said}");
}

#[test]
fn a_status_that_the_outcome_contradicts_is_an_error_and_one_without_outcome_stands() {
    let said = error_of(LYING, &up_to(1));
    assert!(said.starts_with("the adapter says `pass`, but its outcome is not"), "{said}");
    let modest = r#"echo '{"status":"fail","actual":{"result":"ok"}}'; exit 1"#;
    assert!(error_of(modest, &up_to(1)).contains("says `fail`"));
    for (script, overall) in [
        (r#"echo '{"status":"pass","actual":null}'"#, "pass"),
        (r#"echo '{"status":"pass"}'"#, "pass"),
        (r#"echo '{"status":"fail","message":"no"}'; exit 1"#, "fail"),
    ] {
        let report = Implementation::new(script).verify(&one(), &up_to(1));
        assert_eq!(report.overall.as_str(), overall, "{script}");
    }
}

#[test]
fn whatever_breaks_the_fixture_protocol_is_an_error() {
    for (script, part) in [
        ("echo nonsense", "not exactly one JSON document"),
        ("echo '{\"status\":\"pass\"} {}'", "not exactly one JSON document"),
        ("echo '{\"status\":\"maybe\"}'", "not a result document"),
        ("echo '{}'", "not a result document"),
        ("true", "it wrote no result"),
        ("echo '{\"status\":\"pass\"}'; exit 1", "needs exit code 0"),
        ("echo '{\"status\":\"fail\"}'", "needs exit code 1"),
        ("echo '{\"status\":\"pass\"}'; exit 7", "exit code 7"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo '{\"status\":\"error\",\"message\":\"no disk\"}'; exit 2", "no disk"),
        ("exec yes", "more than 1048576 bytes"),
    ] {
        let said = error_of(script, &up_to(1));
        assert!(said.contains(part), "{script}: {said}");
    }
    let hasty = Selection { limit: Duration::from_secs(1), ..up_to(1) };
    let said = error_of("sleep 60 & wait", &hasty);
    assert!(said.contains("did not end within 1000 ms"), "{said}");
}

#[test]
fn the_adapter_is_started_where_the_implementation_lies_with_the_fixture_as_it_is() {
    let strange = changed(fixture("A", 1, "history"), json!({"x-mood": {"b": 1, "a": 2}}));
    let script = "printf '%s\\n' \"$fixture\" > seen; pwd -P >> seen; ".to_owned() + RIGHT;
    let implementation = Implementation::new(&script);
    let report = implementation.verify(std::slice::from_ref(&strange), &up_to(1));
    assert_eq!(report.overall.as_str(), "pass");
    let seen = std::fs::read_to_string(implementation.path().join("seen")).unwrap();
    let root = implementation.path().canonicalize().unwrap();
    assert_eq!(seen, format!("{strange}\n{}\n", root.display()));
}

#[test]
fn a_tier_that_is_not_claimed_is_skipped_with_a_note_and_not_run() {
    let claims = changed(capabilities(), json!({"tiers": [1, 3]}));
    let script = "printf x >> count; ".to_owned() + RIGHT;
    let implementation = Implementation::new(&script).claiming(&claims);
    let report = implementation.verify(&three(), &up_to(3));
    let tier = &report.results["tier_2"];
    assert_eq!((tier.status.as_str(), tier.fixtures_run), ("skipped", 0));
    assert_eq!(tier.note.as_deref(), Some("Target does not claim Tier 2"));
    assert!(tier.surfaces.is_empty());
    assert_eq!(report.overall.as_str(), "pass");
    let count = std::fs::read_to_string(implementation.path().join("count")).unwrap();
    assert_eq!(count, "xx");

    // The kit's own run of the same implementation skips the same cases.
    let target = implementation.target().unwrap();
    let report = run(&protocol(&three()), &target, &RunOptions::default(), &mut Silent).unwrap();
    assert_eq!(crate::support::verdicts(&report), [("A", "pass"), ("B", "skip"), ("C", "pass")]);
}

#[test]
fn tiers_above_the_one_that_is_asked_for_are_left_out() {
    let report = Implementation::new(RIGHT).verify(&three(), &up_to(2));
    assert_eq!(Vec::from_iter(report.results.keys()), ["tier_1", "tier_2"]);
    assert_eq!(report.fixtures_run(), 2);
}

#[test]
fn one_surface_is_judged_alone_if_it_is_claimed() {
    let implementation = Implementation::new(RIGHT);
    let report = implementation.verify(&three(), &about("hook_audit"));
    assert_eq!(report.fixtures_run(), 1);
    assert_eq!(report.results["tier_2"].fixtures_passed, 1);
    for unclaimed in ["delegation", "moon"] {
        let target = implementation.target().unwrap();
        let error = verify(&protocol(&three()), &target, &about(unclaimed), &mut Silent);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "tide does not claim the surface {unclaimed:?}; \
                 it claims history, hook_audit, coordinator"
            )
        );
    }
}

#[test]
fn without_claims_a_surface_must_be_one_that_fixtures_are_about() {
    let mut claims = capabilities();
    claims.as_object_mut().unwrap().shift_remove("surfaces");
    let implementation = Implementation::new(RIGHT).claiming(&claims);
    assert_eq!(implementation.verify(&three(), &about("coordinator")).fixtures_run(), 1);
    let target = implementation.target().unwrap();
    let error = verify(&protocol(&three()), &target, &about("moon"), &mut Silent).unwrap_err();
    assert!(matches!(error, VerifyError::SurfaceUnknown { .. }));
    assert!(
        error.to_string().ends_with("choose one of coordinator, history, hook_audit"),
        "{error}"
    );
}

#[test]
fn a_claimed_surface_without_fixtures_in_the_tier_passes_with_nothing_run() {
    let selection = Selection { tier: 1, ..about("coordinator") };
    let report = Implementation::new(RIGHT).verify(&three(), &selection);
    assert_eq!((report.overall.as_str(), report.fixtures_run()), ("pass", 0));
}

#[test]
fn capabilities_that_cannot_be_used_are_named_with_their_place() {
    for (change, place) in [
        (json!({"implementation": ""}), "/implementation"),
        (json!({"implementation": 3}), "/implementation"),
        (json!({"tiers": []}), "/tiers"),
        (json!({"tiers": [0]}), "/tiers"),
        (json!({"tiers": 1}), "/tiers"),
        (json!({"surfaces": ["history"]}), "/surfaces"),
        (json!({"adapter": {"protocol": "http-fixture-v1"}}), "/adapter/protocol"),
        (json!({"adapter": {"protocol": "stdio-fixture-v1"}}), "/adapter/command"),
        (
            json!({"adapter": {"protocol": "stdio-fixture-v1", "command": "./adapter"}}),
            "/adapter/command",
        ),
        (json!({"adapter": {"protocol": "stdio-fixture-v1", "command": []}}), "/adapter/command"),
    ] {
        let claims = changed(capabilities(), change.clone());
        let error = Implementation::new(RIGHT).claiming(&claims).target().err();
        let Some(TargetError::Invalid { pointer, .. }) = error else {
            panic!("{change} is taken");
        };
        assert_eq!(pointer, place, "{change}");
    }
    let cut = Implementation::new(RIGHT).telling("{").target().err();
    assert!(matches!(cut, Some(TargetError::Invalid { .. })));
    let nowhere = tempfile::tempdir().unwrap();
    let error = Target::in_folder(nowhere.path(), agentxchain()).err().unwrap();
    let said = error.to_string();
    assert!(said.contains("/.agentxchain-conformance/capabilities.json cannot be read"), "{said}");
}

#[test]
fn an_adapter_that_cannot_be_started_is_reported_once() {
    let mut claims = capabilities();
    claims["adapter"]["command"] = json!(["./no-such-adapter"]);
    let target = Implementation::new(RIGHT).claiming(&claims);
    let error = verify(&protocol(&three()), &target.target().unwrap(), &up_to(3), &mut Silent);
    let said = error.unwrap_err().to_string();
    assert!(said.contains("\"./no-such-adapter\" does not exist"), "{said}");
}

#[test]
fn lines_for_people_have_their_form_and_cannot_move_the_cursor() {
    let script = format!(
        "case \"$fixture\" in *'\"A\"'*) {RIGHT};; *'\"B\"'*) {ABSENT};; *) \
         cat <<'X'\n{{\"status\":\"fail\",\"message\":\"a\\u001b[2Jb\"}}\nX\nexit 1;; esac"
    );
    let claims = changed(capabilities(), json!({"tiers": [1]}));
    let fixtures = ["A", "B", "C"].map(|id| fixture(id, 1, "history"));
    let implementation = Implementation::new(&script).claiming(&claims);
    let report = implementation.verify(&fixtures, &up_to(2));
    let mut text = Vec::new();
    let all = protocol(&fixtures);
    write_text(&report, &all, "Tidal Conformance", false, &mut text).unwrap();
    let root = implementation.path().canonicalize().unwrap();
    let rule = "─".repeat(44);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        format!(
            "\nTidal Conformance\n{rule}\nTarget: {}\nImplementation: tide\nTier requested: 2\n\n\
             Overall: FAIL\n\
             tier_1: fail (1/3 passed, 1 not implemented)\n  ○ B: not yet\n  ✗ C: a\\u{{1b}}[2Jb\n\
             tier_2: skipped (Target does not claim Tier 2)\n",
            root.display()
        )
    );
}

#[test]
fn lines_for_people_come_in_the_order_of_the_fixtures() {
    let script = "case \"$fixture\" in *'\"A\"'*|*'\"C\"'*) exit 9;; \
                  *) echo '{\"status\":\"fail\"}'; exit 1;; esac";
    let fixtures = ["A", "B", "C", "D"].map(|id| fixture(id, 1, "history"));
    let report = Implementation::new(script).verify(&fixtures, &up_to(1));
    assert_eq!(report.results["tier_1"].failures.len(), 2);
    assert_eq!(report.results["tier_1"].errors.len(), 2);
    let mut text = Vec::new();
    write_text(&report, &protocol(&fixtures), "Tide", false, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("  ✗ "));
    let ids: Vec<&str> = lines.filter_map(|line| line.split(':').next()).collect();
    assert_eq!(ids, ["A", "B", "C", "D"]);
}

#[test]
fn fixtures_are_run_one_at_a_time() {
    let script = "mkdir busy || exit 9; sleep 0.05; rmdir busy; ".to_owned() + RIGHT;
    let fixtures: Vec<Value> = (0..8).map(|n| fixture(&format!("F{n}"), 1, "history")).collect();
    let report = Implementation::new(&script).verify(&fixtures, &up_to(1));
    assert_eq!(report.results["tier_1"].fixtures_passed, 8);
}

/// One adapter for everything is judged by the whole corpus.
#[test]
fn the_corpus_that_came_with_the_kit_is_judged_in_all_tiers() {
    let fixtures: Protocol = agentxchain().binding();
    let implementation = Implementation::new(ABSENT);
    let report = verify(&fixtures, &implementation.target().unwrap(), &up_to(3), &mut Silent);
    let report = report.unwrap();
    assert_eq!(report.fixtures_run() as usize, fixtures.cases().len());
    assert_eq!(report.results.len(), 3);
    let tiers = report.results.values();
    assert!(tiers.clone().all(|tier| tier.fixtures_not_implemented == tier.fixtures_run));
    assert!(tiers.clone().all(|tier| tier.fixtures_run > 0));
}
