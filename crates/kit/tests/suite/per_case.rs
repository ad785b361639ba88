//! `stdio-fixture-v1`: adapters that keep it, and adapters that break it.

use std::time::Instant;

use accord_kit::driver::PerCase;
use accord_kit::report::CaseReport;
use accord_kit::verdict::Verdict;
use accord_process::Invocation;
use serde_json::json;

use crate::support::{self, case, changed, demo, hasty, patient, run, shell};

const RIGHT: &str = r#"{"status":"pass","actual":{"result":"ok"}}"#;
const WRONG: &str = r#"{"status":"fail","message":"no","actual":{"result":"error"}}"#;

fn one_process(script: &str) -> CaseReport {
    support::one_process(script, &patient())
}

#[test]
fn the_outcome_is_compared_by_the_kit() {
    let passed = one_process(&format!("cat > /dev/null; echo '{RIGHT}'"));
    assert_eq!(passed.verdict, Verdict::Pass);
    assert!(!passed.self_reported && passed.message.is_none() && passed.actual.is_none());

    let failed = one_process(&format!("echo '{WRONG}'; exit 1"));
    assert_eq!(failed.verdict, Verdict::Fail);
    assert_eq!(failed.message.unwrap(), "/result: expected \"ok\", found \"error\"");
    assert_eq!(failed.differences[0].pointer, "/result");
    assert_eq!(failed.actual, Some(json!({"result": "error"})));
}

#[test]
fn what_the_adapter_says_stands_beside_the_difference() {
    let failed = one_process(&format!("echo '{WRONG}'; exit 1"));
    assert_eq!(failed.adapter_message.as_deref(), Some("no"));
    // Who compares as the kit does, or says nothing, adds nothing.
    let same = r#"echo '{"status":"fail","message":"/result: expected \"ok\", found \"error\"",
        "actual":{"result":"error"}}'; exit 1"#;
    assert_eq!(one_process(same).adapter_message, None);
    let empty = r#"echo '{"status":"fail","message":" ","actual":{"result":"error"}}'; exit 1"#;
    assert_eq!(one_process(empty).adapter_message, None);
    let passed = r#"echo '{"status":"pass","message":"Fixture passed","actual":{"result":"ok"}}'"#;
    assert_eq!(one_process(passed).adapter_message, None);
}

/// Only what the protocol says about a result is asked of it.
#[test]
fn members_of_the_adapters_own_are_its_own_business() {
    for (member, value) in [
        ("id", r#""7f3a""#),
        ("id", "7"),
        ("id", "null"),
        ("message", r#"{"text":"fine"}"#),
        ("took_ms", "3"),
    ] {
        let script =
            format!(r#"echo '{{"status":"pass","actual":{{"result":"ok"}},"{member}":{value}}}'"#);
        assert_eq!(one_process(&script).verdict, Verdict::Pass, "{member}: {value}");
    }
}

#[test]
fn the_adapter_gets_the_case_and_a_folder_of_its_own() {
    let script = r#"read -r line; case "$line" in *'"operation":"echo"'*) ;; *) exit 9;; esac
        [ "$TMPDIR" = "$ACCORD_CASE_DIR" ] && [ -d "$TMPDIR" ] && [ -z "$(ls "$TMPDIR")" ] || exit 8
        touch "$TMPDIR/left"; echo "$TMPDIR" >&2
        echo '{"status":"error","message":"look"}'; exit 2"#;
    let report = one_process(script);
    assert_eq!(report.message.as_deref(), Some("the adapter reports an error: look"));
    assert!(!std::path::Path::new(&report.stderr.unwrap()).exists(), "the folder is gone");
}

#[test]
fn every_status_has_its_verdict() {
    let error = one_process(r#"echo '{"status":"error","actual":null}'; exit 2"#);
    assert_eq!(error.verdict, Verdict::Error);
    assert_eq!(error.message.unwrap(), "the adapter reports an error: it gives no reason");
    assert_eq!(error.code, None);

    let missing = one_process(r#"echo '{"status":"not_implemented","message":"later"}'; exit 3"#);
    assert_eq!(missing.verdict, Verdict::NotImplemented);
    assert_eq!(missing.message.unwrap(), "later");
}

#[test]
fn without_an_outcome_nothing_is_compared_and_the_case_fails() {
    let passed = one_process(r#"echo '{"status":"pass","actual":null}'"#);
    assert_eq!((passed.verdict, passed.self_reported), (Verdict::Fail, true));
    let message = passed.message.unwrap();
    assert!(message.contains("gives no `actual`"), "{message}");
    assert!(message.contains("--allow-self-reported"), "{message}");
    let failed = one_process(r#"echo '{"status":"fail"}'; exit 1"#);
    assert_eq!((failed.verdict, failed.self_reported), (Verdict::Fail, true));
    assert_eq!(failed.message.unwrap(), "the adapter reports a failure and no outcome");
}

#[test]
fn with_an_outcome_no_status_is_needed() {
    let right = one_process(r#"echo '{"actual":{"result":"ok"}}'"#);
    assert_eq!((right.verdict, right.self_reported), (Verdict::Pass, false));
    let wrong = one_process(r#"echo '{"actual":{"result":"error"}}'"#);
    assert_eq!((wrong.verdict, wrong.self_reported), (Verdict::Fail, false));
    assert_eq!(wrong.message.unwrap(), "/result: expected \"ok\", found \"error\"");
    let ended = one_process(r#"echo '{"actual":{"result":"ok"}}'; exit 1"#);
    assert_eq!(ended.verdict, Verdict::Error);
    assert!(ended.message.unwrap().contains("without `status` needs exit code 0"));
    let neither = one_process(r#"echo '{"message":"done"}'"#);
    assert_eq!(neither.verdict, Verdict::Error);
    assert!(neither.message.unwrap().contains("neither `status` nor `actual`"));
}

#[test]
fn the_comparison_decides_whatever_the_adapter_says() {
    let lenient = one_process(r#"echo '{"status":"pass","actual":{"result":"error"}}'"#);
    assert_eq!((lenient.verdict, lenient.self_reported), (Verdict::Fail, false));
    assert_eq!(lenient.message.unwrap(), "/result: expected \"ok\", found \"error\"");
    assert_eq!(lenient.adapter_message.unwrap(), "`pass`");
    let harsh = one_process(
        r#"echo '{"status":"fail","message":"too late","actual":{"result":"ok"}}'; exit 1"#,
    );
    assert_eq!(harsh.verdict, Verdict::Pass);
    assert_eq!(harsh.adapter_message.unwrap(), "`fail`: too late");
}

#[test]
fn a_breach_of_the_protocol_is_an_error_that_names_it() {
    for (script, message) in [
        (
            format!("echo '{RIGHT}'; exit 1"),
            "the status `pass` needs exit code 0, but the adapter ended with exit code 1",
        ),
        (
            format!("echo '{WRONG}'"),
            "the status `fail` needs exit code 1, but the adapter ended with exit code 0",
        ),
        (
            format!("echo '{RIGHT}'; exit 77"),
            "the status `pass` needs exit code 0, but the adapter ended with exit code 77",
        ),
        ("exit 127".to_owned(), "the adapter ended with exit code 127, but it wrote no result"),
        ("echo Segmentation fault".to_owned(), "its output is not exactly one JSON document"),
        (format!("echo '{RIGHT}'; echo '{RIGHT}'"), "its output is not exactly one JSON document"),
        ("echo '[1]'".to_owned(), "its output is not a result document"),
        ("echo '{\"status\":\"passed\"}'".to_owned(), "/status: expected one of \"pass\""),
        (
            "echo '{\"status\":\"pass\",\"status\":\"fail\"}'".to_owned(),
            "its output is not exactly one JSON document",
        ),
        ("kill -11 $$".to_owned(), "the adapter was killed by signal 11"),
    ] {
        let report = one_process(&format!("echo last words >&2; {script}"));
        assert_eq!(report.verdict, Verdict::Error, "{script}");
        let found = report.message.unwrap();
        assert!(found.contains(message), "{script}: {found}");
        assert_eq!(report.code.as_deref(), Some("KIT_ADAPTER_PROTOCOL"));
        assert_eq!(report.stderr.as_deref(), Some("last words"));
    }
}

#[test]
fn a_hang_is_killed_with_its_children_and_is_not_a_failure() {
    let started = Instant::now();
    let report = support::one_process("sleep 600 & echo waiting >&2; wait", &hasty());
    assert_eq!(report.verdict, Verdict::Error);
    assert_eq!(report.code.as_deref(), Some("KIT_ADAPTER_TIMEOUT"));
    assert_eq!(
        report.message.unwrap(),
        "the adapter did not end within 3000 ms; its process group was killed"
    );
    assert_eq!(report.stderr.as_deref(), Some("waiting"));
    assert!(started.elapsed() < patient().case_timeout);
}

#[test]
fn output_without_end_is_cut_off() {
    let protocol = demo(&[case("area/one")]);
    let report = run(&protocol, &PerCase::new(Invocation::new("yes", [""; 0])), &patient());
    let message = report.cases[0].message.as_deref().unwrap();
    assert_eq!(message, "the adapter wrote more than 1048576 bytes to stdout and was killed");
}

#[test]
fn a_folder_that_cannot_be_removed_is_noted_and_decides_nothing() {
    // Permissions would not keep root from emptying a folder; a file in its place keeps everybody.
    let script = format!(r#"rm -r "$TMPDIR" && echo in the way > "$TMPDIR"; echo '{RIGHT}'"#);
    let protocol = demo(&[changed(case("area/one"), json!({"expected": {"result": "ok"}}))]);
    let report = run(&protocol, &PerCase::new(shell(&script)), &patient());
    assert_eq!(report.summary.exit_code, 0);
    let notes = report.summary.notes.unwrap();
    assert_eq!(notes.len(), 1);
    let path = notes[0]
        .strip_prefix("the temporary folder ")
        .and_then(|rest| rest.split_once(" could not be removed: "));
    std::fs::remove_file(path.unwrap().0).unwrap();
}

#[test]
fn what_is_kept_of_a_long_outcome_is_bounded_and_says_so() {
    let outcome = |count: usize| {
        let items: Vec<String> = (0..count).map(|n| format!("\"w{n}\":\"no\"")).collect();
        let long = "x".repeat(40_000);
        format!(r#"{{"result":"error","long":"{long}",{}}}"#, items.join(","))
    };
    let mut expected = json!({"result": "ok", "long": "y".repeat(20_000)});
    for n in 0..60 {
        expected["list"][format!("w{n}")] = json!("yes");
    }
    let actual = outcome(0).replace(",}", "}");
    let list = outcome(60);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer");
    let answer = format!(r#"{{"status":"fail","actual":{{"list":{list},{}}}"#, &actual[1..]);
    std::fs::write(&file, answer).unwrap();
    let protocol = demo(&[changed(case("area/one"), json!({"expected": expected}))]);
    let script = format!("cat {}; exit 1", file.display());
    let report = run(&protocol, &PerCase::new(shell(&script)), &patient());
    let case = &report.cases[0];
    assert_eq!(case.verdict, Verdict::Fail, "{:?}", case.message);
    assert_eq!(case.differences.len(), 50);
    assert_eq!(case.differences_left_out, Some(12));
    let cut = case.actual.as_ref().unwrap().as_str().unwrap();
    assert!(cut.len() <= 16 * 1024 && cut.starts_with("{\""), "{cut:.100}");
    assert!(case.actual_bytes.unwrap() > 80_000);
    let long = case.differences.iter().find(|difference| difference.pointer == "/long").unwrap();
    assert_eq!((long.expected_bytes, long.actual_bytes), (Some(20_002), Some(40_002)));
    let document = accord_contract::wire::Wire::encode(&report).to_string();
    assert!(document.len() < 100_000, "{}", document.len());
}

#[test]
fn long_differences_are_bounded_together() {
    let (long, file) = ("x".repeat(20_000), tempfile::NamedTempFile::new().unwrap());
    let list: Vec<&str> = vec![&long; 40];
    let answer = json!({"status": "fail", "actual": {"list": list}});
    std::fs::write(&file, answer.to_string()).unwrap();
    let expected = json!({"list": vec!["short"; 40]});
    let protocol = demo(&[changed(case("area/one"), json!({"expected": expected}))]);
    let script = format!("cat {}; exit 1", file.path().display());
    let report = run(&protocol, &PerCase::new(shell(&script)), &patient());
    let case = &report.cases[0];
    assert_eq!(case.differences.len(), 3);
    assert_eq!(case.differences_left_out, Some(37));
}

#[test]
fn a_long_message_of_an_adapter_is_cut() {
    let script = "printf '{\"status\":\"fail\",\"message\":\"'; \
                  head -c 500000 /dev/zero | tr '\\0' x; printf '\"}'; exit 1";
    let message = one_process(script).message.unwrap();
    assert!(message.len() < 17_000, "{}", message.len());
    assert!(message.ends_with(" bytes)"), "{}", &message[16_000..]);
}

#[test]
fn a_program_that_cannot_be_started_ends_the_run_with_one_message() {
    let protocol = demo(&[case("area/one"), case("area/two")]);
    let start = |program: &str| {
        let adapter = PerCase::new(Invocation::new(program, [""; 0]));
        accord_kit::run(&protocol, &adapter, &patient(), &mut NoEvents(0)).unwrap_err().to_string()
    };
    assert_eq!(
        start("no-such-adapter"),
        "the adapter cannot be started: the program \"no-such-adapter\" does not exist; \
         check its spelling and the PATH"
    );

    // Found, but not startable: noticed at the first case, and not repeated for every other.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adapter");
    std::fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    let adapter = PerCase::new(Invocation::new(&path, [""; 0]));
    let error = accord_kit::run(&protocol, &adapter, &patient(), &mut support::Silent);
    assert!(error.unwrap_err().to_string().contains("interpreter"));
}

/// Fails the test when it hears anything: a run that cannot start tells nothing.
struct NoEvents(u64);

impl accord_kit::Reporter for NoEvents {
    fn report(&mut self, event: &accord_kit::Event<'_>) -> std::io::Result<()> {
        panic!("{event:?} after {}", self.0);
    }
}

#[test]
fn the_working_folder_stays_the_callers() {
    let script = r#"printf '{"status":"fail","message":"%s"}' "$(pwd -P)"; exit 1"#;
    let protocol = demo(&[changed(case("area/one"), json!({"expected": {"result": "error"}}))]);
    let report = run(&protocol, &PerCase::new(shell(script)), &patient());
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    assert_eq!(report.cases[0].message.as_deref(), Some(here.to_str().unwrap()));
}
