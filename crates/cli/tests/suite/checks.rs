//! `accord check`, with Accord's own adapter and with others.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::accord::{accord, command, program};
use crate::snapshot;
use crate::wait::{exit_of, pid_in, signal, wait_for_end_of};

/// A filter that leaves a handful of cases.
const FEW: &str = "area(retry)";

/// An adapter made of a few lines of shell, beside whatever else a test needs.
struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("adapter");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
            .expect("executable");
        Self { folder }
    }

    fn command(&self) -> String {
        self.path("adapter").display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[test]
fn accord_passes_its_own_cases_through_a_process() {
    let said = accord(&["check", "alx"], "").yes();
    assert!(said.contains("PASS"), "{said}");
}

#[test]
fn one_process_a_case_gives_the_same_verdict() {
    let command = format!("{} adapter alx", program());
    let said = accord(&["check", "alx", "--command", &command, "--filter", FEW], "").yes();
    snapshot::check("one_process_a_case_gives_the_same_verdict", &said);
    let lines = format!("{} adapter alx --lines", program());
    accord(&["check", "alx", "--command", &lines, "--lines", "--filter", FEW], "").yes();
}

#[test]
fn verdicts_become_exit_codes() {
    for (body, code) in [
        (r#"cat >/dev/null; echo '{"status":"pass","actual":null}'"#, 1),
        (r#"cat >/dev/null; echo '{"status":"not_implemented"}'; exit 3"#, 2),
        (r#"cat >/dev/null; echo '{"status":"fail","actual":{"result":"no"}}'; exit 1"#, 1),
        (r#"cat >/dev/null; echo '{"status":"error"}'; exit 2"#, 2),
        (r#"cat >/dev/null; echo '{"status":"pass","actual":{"result":"no"}}'"#, 1),
        (r#"cat >/dev/null; echo '{"actual":{"result":"no"}}'"#, 1),
        (r#"cat >/dev/null; echo '{}'"#, 2),
        ("cat >/dev/null; echo nonsense", 2),
    ] {
        let script = Script::new(body);
        let ran = accord(&["check", "alx", "--command", &script.command(), "--filter", FEW], "");
        assert_eq!(ran.code, code, "{body}\n{}", ran.stdout);
    }
}

#[test]
fn a_case_that_hangs_is_ended_with_everything_that_it_started() {
    let script = Script::new("");
    let pid_file = script.path("pid");
    let body = format!("#!/bin/sh\nsleep 60 & echo $! > {}\nwait\n", text(&pid_file));
    std::fs::write(script.path("adapter"), body).expect("written");
    let args = [
        "check",
        "alx",
        "--command",
        &script.command(),
        "--case-timeout",
        "5s",
        "--filter",
        "id(alx/version/constant)",
        "--jobs",
        "1",
    ];
    let ran = accord(&args, "");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    snapshot::check("a_case_that_hangs_is_ended_with_everything_that_it_started", &ran.stdout);
    wait_for_end_of(&pid_in(&pid_file));
}

#[test]
fn a_run_that_is_terminated_leaves_nothing_behind() {
    let script = Script::new("");
    let pid_file = script.path("pid");
    let body = format!("#!/bin/sh\necho $$ > {0}.new; mv {0}.new {0}; sleep 60\n", text(&pid_file));
    std::fs::write(script.path("adapter"), body).expect("written");
    let mut accord = command(&["check", "alx", "--command", &script.command(), "--jobs", "1"])
        .stdout(Stdio::null())
        .spawn()
        .expect("accord starts");
    let adapter = pid_in(&pid_file);
    signal(accord.id(), "-INT");
    assert_eq!(exit_of(&mut accord, "accord check").code(), Some(130));
    wait_for_end_of(&adapter);
}

#[test]
fn a_missing_adapter_is_reported_once() {
    let ran = accord(&["check", "alx", "--command", "no-such-adapter-anywhere"], "");
    ran.refused("KIT_ADAPTER_NOT_FOUND");
    accord(&["check", "alx", "--command", ""], "").refused("USAGE");
    accord(&["check", "alx", "--command", "'unclosed"], "").refused("USAGE");
    accord(&["check", "gopher"], "").refused("KIT_PROTOCOL_UNKNOWN");
}

#[test]
fn cases_can_be_looked_at_without_running_them() {
    let all = accord(&["check", "alx", "--list"], "").yes();
    assert!(all.lines().count() >= 120);
    let few = accord(&["check", "alx", "--list", "--filter", FEW], "").yes();
    assert!(few.lines().all(|line| line.starts_with("alx/retry/")), "{few}");
    let shown = accord(&["check", "alx", "--show", "alx/version/constant"], "").yes();
    snapshot::check("cases_can_be_looked_at_without_running_them", &shown);
    accord(&["check", "alx", "--show", "alx/no/such"], "").refused("KIT_CASE_UNKNOWN");
    accord(&["check", "alx", "--filter", "area(", "--list"], "").refused("KIT_FILTER_INVALID");
    assert!(accord(&["check", "--protocols"], "").yes().contains("alx\n"));
    accord(&["check", "alx", "--clauses"], "").yes();
    let strict = ["check", "agentxchain", "--list", "--profile", "strict"];
    let strict = accord(&strict, "").yes();
    let of_profile = |line: &str| line.starts_with("agentxchain/strict/");
    assert!(strict.lines().all(of_profile) && !strict.is_empty());
    let others = accord(&["check", "agentxchain", "--list"], "").yes();
    assert!(!others.lines().any(of_profile), "{others}");
    accord(&["check", "alx", "--list", "--profile", "strict"], "").refused("KIT_NO_CASE_RAN");
}

#[test]
fn no_case_is_no_pass() {
    let ran = accord(&["check", "alx", "--filter", "id(nothing-has-this-id)"], "");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}

#[test]
fn an_exported_corpus_gives_the_same_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("corpus");
    accord(&["check", "alx", "--export", text(&out)], "").yes();
    accord(&["check", "alx", "--corpus", text(&out), "--filter", FEW], "").yes();
    let case = out.join("alx/retry/auth-required.json");
    let mut broken: Value =
        serde_json::from_slice(&std::fs::read(&case).expect("a case")).expect("JSON");
    broken["setup"]["moon"] = "full".into();
    std::fs::write(&case, broken.to_string()).expect("written");
    let said = accord(&["check", "alx", "--corpus", text(&out)], "").refused("KIT_CASE_INVALID");
    snapshot::check("an_exported_corpus_gives_the_same_run", &said);
}

#[test]
fn reports_have_their_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("report.json");
    let said =
        accord(&["check", "alx", "--filter", FEW, "--format", "json", "--output", text(&json)], "")
            .yes();
    snapshot::check("reports_have_their_formats", &said);
    let report: Value =
        serde_json::from_slice(&std::fs::read(&json).expect("a report")).expect("JSON");
    assert_eq!(report["summary"]["overall"], "pass");
    let junit = accord(&["check", "alx", "--filter", FEW, "--format", "junit"], "").yes();
    assert!(junit.starts_with("<?xml"), "{junit}");
    let events = accord(&["check", "alx", "--filter", FEW, "--format", "ndjson"], "").yes();
    for line in events.lines() {
        serde_json::from_str::<Value>(line).expect("each event is JSON");
    }
}

#[test]
fn known_failures_are_excused_until_they_pass() {
    let script =
        Script::new(r#"cat >/dev/null; echo '{"status":"fail","actual":{"result":"no"}}'; exit 1"#);
    let baseline = script.path("baseline.json");
    let command = script.command();
    let run =
        |extra: &[&str]| accord(&[&["check", "alx", "--filter", FEW][..], extra].concat(), "");
    let write =
        ["--command", &command, "--write-baseline", text(&baseline), "--reason", "not built"];
    assert_eq!(run(&write).code, 1);
    assert_eq!(run(&["--command", &command, "--baseline", text(&baseline)]).code, 0);
    let stale = run(&["--baseline", text(&baseline)]);
    assert_eq!(stale.code, 1, "they pass now: {}", stale.stdout);
    snapshot::check("known_failures_are_excused_until_they_pass", &stale.stdout);
    std::fs::write(&baseline, r#"{"known_failures":[{"case":"alx/no/such","reason":"r"}]}"#)
        .expect("written");
    assert_eq!(run(&["--baseline", text(&baseline)]).code, 2);
}

#[test]
fn a_printed_schema_is_its_file_in_docs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let files = std::fs::read_dir(&folder).expect("a folder").map(|file| {
        let name = file.expect("a file").file_name();
        let name = name.to_str().expect("text").strip_suffix(".schema.json");
        name.expect("a schema").to_owned()
    });
    let names = accord(&["schema"], "").yes();
    let names: BTreeSet<String> = names.lines().map(str::to_owned).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), names);
    // One of the kit, of a service and of a host.
    for name in ["case", "task-answer", "health"] {
        let file = std::fs::read_to_string(folder.join(format!("{name}.schema.json")));
        assert_eq!(accord(&["schema", name], "").yes(), file.expect("a file"));
    }
    accord(&["schema", "poem"], "").refused("USAGE");
}
