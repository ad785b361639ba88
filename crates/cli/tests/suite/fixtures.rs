//! Accord as the implementation that is judged: `accord adapter agentxchain` and `accord
//! conformance serve`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::accord::{Ran, accord, command, path_with_accord, program, run};
use crate::server::Server;
use crate::wait::{exit_of, ignores_hangup, output_of, pid_in, signal, wait_for_end_of};

pub(crate) const TOKEN: &str = "Authorization: Bearer tide-table\r\n";

/// A case of the corpus.
fn case(name: &str) -> Value {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/agentxchain");
    let text = std::fs::read(corpus.join(format!("{name}.json"))).expect("a case");
    serde_json::from_slice(&text).expect("JSON")
}

fn answer(case: &Value) -> Ran {
    accord(&["adapter", "agentxchain"], case.to_string())
}

fn result(ran: &Ran) -> Value {
    assert_eq!(ran.stderr, "");
    serde_json::from_str(&ran.stdout).expect("one document")
}

#[test]
fn a_fixture_on_standard_input_gets_one_result_and_its_exit_code() {
    let good = case("history/first-acceptance");
    let mut wrong = good.clone();
    wrong["expected"]["history_length"] = 7.into();
    let mut unknown_setup = good.clone();
    unknown_setup["setup"]["moon"] = json!({});
    let mut unknown_operation = good.clone();
    unknown_operation["input"]["operation"] = "fly".into();
    for (fixture, code, status) in [
        (&good, 0, "pass"),
        (&wrong, 1, "fail"),
        (&unknown_setup, 2, "error"),
        (&unknown_operation, 3, "not_implemented"),
    ] {
        let ran = answer(fixture);
        let result = result(&ran);
        assert_eq!((ran.code, &result["status"]), (code, &json!(status)));
        assert_eq!(result["id"], "agentxchain/history/first-acceptance");
        assert_eq!(result["actual"].is_null(), code > 1, "{result}");
    }
}

#[test]
fn one_fixture_a_line_gets_one_result_a_line_with_its_id() {
    let names = ["history/first-acceptance", "hook_audit/allow", "strict/other-run"];
    let lines: String = names.iter().map(|name| format!("{}\n", case(name))).collect();
    let said = accord(&["adapter", "agentxchain", "--lines"], lines).yes();
    let results: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(results.len(), names.len());
    for (result, name) in results.iter().zip(names) {
        assert_eq!(result["status"], "pass", "{result}");
        assert_eq!(result["id"], format!("agentxchain/{name}"));
    }
}

#[test]
fn nothing_of_a_fixture_is_left_and_nothing_is_written_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("tmp");
    std::fs::create_dir(&inside).expect("made");
    let run = |fixture: &Value| {
        let file = folder.path().join("fixture.json");
        std::fs::write(&file, fixture.to_string()).expect("written");
        let child = command(&["adapter", "agentxchain"])
            .env("TMPDIR", &inside)
            .stdin(std::fs::File::open(&file).expect("opened"))
            .stdout(Stdio::null())
            .spawn();
        let ran = output_of(child.expect("accord starts"), "accord adapter");
        std::fs::remove_file(&file).expect("removed");
        let left = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
        assert_eq!((left(&inside), left(folder.path())), (0, 1));
        ran.status.code()
    };
    assert_eq!(run(&case("history/first-acceptance")), Some(0));
    assert_eq!(run(&case("hook_audit/tamper-state")), Some(0));
    for path in ["../evil", "/evil", "a/../../evil", "", "."] {
        let mut hostile = case("gate_semantics/signoff-approved");
        hostile["setup"]["filesystem"] = json!({ path: "moo" });
        assert_eq!(run(&hostile), Some(2), "{path}");
        let mut hostile = case("coordinator/first-acceptance");
        hostile["setup"]["repos"]["ferry"]["path"] = path.into();
        assert_eq!(run(&hostile), Some(2), "{path}");
        let mut hostile = case("dispatch_manifest/one-file");
        hostile["setup"]["dispatch_bundle"] = json!({ "../../evil": { "a": "moo" } });
        assert_eq!(run(&hostile), Some(2), "{path}");
    }
    let mut endless = case("gate_semantics/signoff-approved");
    let files = (0..5000).map(|number| (format!("f{number}"), json!("")));
    endless["setup"]["filesystem"] = Value::Object(files.collect());
    assert_eq!(run(&endless), Some(2));
}

/// A hook that writes its process id to `mark` and ends when there is a file `mark`.go.
pub(crate) fn slow_hook(mark: &Path) -> Value {
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; while ! test -e {0}.go; do sleep 0.05; done; \
         echo '{{\"verdict\":\"allow\"}}'",
        mark.display()
    );
    hook(&script)
}

/// A fixture whose hook is this shell script.
pub(crate) fn hook(script: &str) -> Value {
    let mut slow = case("hook_audit/allow");
    let hooks = slow["setup"]["config"]["hooks"].as_object_mut();
    for hooks in hooks.expect("phases").values_mut() {
        hooks[0]["command"] = json!(["/bin/sh", "-c", script]);
        // The longest that a hook may have.
        hooks[0]["timeout_ms"] = 30_000.into();
    }
    slow["expected"] = json!({ "hook_ok": true });
    slow
}

#[test]
fn an_adapter_that_is_terminated_leaves_neither_hook_nor_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("tmp");
    std::fs::create_dir(&inside).expect("made");
    let mark = folder.path().join("mark");
    let fixture = folder.path().join("fixture.json");
    std::fs::write(&fixture, slow_hook(&mark).to_string()).expect("written");
    let mut adapter = command(&["adapter", "agentxchain"])
        .env("TMPDIR", &inside)
        .stdin(std::fs::File::open(&fixture).expect("opened"))
        .stdout(Stdio::null())
        .spawn()
        .expect("accord starts");
    let hook = pid_in(&mark);
    signal(adapter.id(), "-TERM");
    assert_eq!(exit_of(&mut adapter, "accord adapter").code(), Some(143));
    assert_eq!(std::fs::read_dir(&inside).expect("a folder").count(), 0);
    wait_for_end_of(&hook);
}

pub(crate) fn serving(more: &[&str]) -> Server {
    let args = ["conformance", "serve", "--listen", "127.0.0.1:0", "--token", "tide-table"];
    Server::begin(command(&[&args[..], more].concat()).stderr(Stdio::piped()))
}

#[test]
fn a_server_lists_its_claims_and_judges_fixtures_for_clients_with_the_token() {
    let serving = serving(&[]);
    let (status, _, claims) = serving.ask_with(TOKEN, "GET", "/conform/capabilities", "");
    assert_eq!(status, 200);
    assert_eq!(claims["adapter"], json!({ "protocol": "http-fixture-v1" }));
    assert_eq!(
        (&claims["implementation"], &claims["tiers"]),
        (&json!("accord"), &json!([1, 2, 3]))
    );

    let good = case("history/first-acceptance");
    let (status, _, result) =
        serving.ask_with(TOKEN, "POST", "/conform/execute", &good.to_string());
    assert_eq!((status, &result["status"]), (200, &json!("pass")));
    assert_eq!(result["id"], "agentxchain/history/first-acceptance");
    let (status, _, result) = serving.ask_with(TOKEN, "POST", "/conform/execute", "{");
    assert_eq!((status, &result["status"]), (200, &json!("error")));

    for headers in ["", "Authorization: Bearer tide\r\n", "Authorization: Basic tide-table\r\n"] {
        // Neither a route nor a method is known to a stranger.
        for (method, path) in [
            ("GET", "/conform/capabilities"),
            ("POST", "/conform/execute"),
            ("GET", "/conform/execute"),
            ("GET", "/"),
        ] {
            let (status, _, body) = serving.ask_with(headers, method, path, "");
            assert_eq!((status, &body["message"]), (401, &json!("Unauthorized")));
            assert_eq!(body["error"]["code"], "UNAUTHORIZED");
        }
    }
    let (status, head, body) = serving.ask_with(TOKEN, "POST", "/conform/capabilities", "{}");
    assert_eq!((status, &body["code"]), (405, &json!("HTTP_METHOD_NOT_ALLOWED")));
    assert!(head.contains("\r\nallow: get"), "{head}");
    assert_eq!(serving.ask_with(TOKEN, "GET", "/conform/execute", "").0, 405);
    assert_eq!(serving.ask_with(TOKEN, "GET", "/", "").0, 404);
    let much = format!("{TOKEN}Content-Length: 99999999\r\n");
    let (status, _, body) = serving.ask_with(&much, "POST", "/conform/execute", "");
    assert_eq!((status, &body["code"]), (413, &json!("INPUT_TOO_LARGE")));

    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(0), String::new()));
}

#[test]
fn a_fixture_that_runs_when_the_server_is_terminated_is_answered() {
    for signal in ["-TERM", "-HUP"] {
        let serving = serving(&[]);
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let slow = slow_hook(&mark);
        let result = std::thread::scope(|scope| {
            let text = slow.to_string();
            let asked = {
                let serving = &serving;
                scope.spawn(move || serving.ask_with(TOKEN, "POST", "/conform/execute", &text))
            };
            pid_in(&mark);
            serving.begin_to_stop(signal);
            std::fs::write(folder.path().join("mark.go"), "").expect("written");
            asked.join().expect("answered")
        });
        assert_eq!((result.0, &result.2["status"]), (200, &json!("pass")), "{signal} {result:?}");
        assert_eq!(serving.end().0, Some(0), "{signal}");
    }
}

/// `nohup` starts a program with SIGHUP ignored.
#[test]
fn a_server_that_is_to_outlive_its_terminal_does() {
    let script =
        "trap '' HUP; exec \"$0\" conformance serve --listen 127.0.0.1:0 --token tide-table";
    let mut nohup = Command::new("/bin/sh");
    nohup.args(["-c", script, program()]).stderr(Stdio::piped());
    let serving = Server::begin(&mut nohup);
    assert!(ignores_hangup(serving.pid()));
    serving.signal("-HUP");
    let (status, _, _) = serving.ask_with(TOKEN, "GET", "/conform/capabilities", "");
    assert_eq!(status, 200);
    serving.signal("-TERM");
    assert_eq!(serving.end().0, Some(0));
}

/// Copies fixtures, and gives their hooks more time: a busy machine can need more than 5 s to start
/// the Node of a hook. No fixture expects that this limit passes.
fn copy_with_longer_limits(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of fixtures") {
        let entry = entry.expect("a fixture or a folder");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_with_longer_limits(&from, &to);
        } else {
            let fixture = std::fs::read_to_string(&from).expect("a fixture");
            let fixture = fixture.replace("\"timeout_ms\": 5000", "\"timeout_ms\": 30000");
            std::fs::write(&to, fixture).expect("a fixture");
        }
    }
}

#[test]
fn accord_passes_its_own_verifier_in_a_process_and_over_http() {
    let serving = serving(&[]);
    let url = format!("http://{}", serving.address);
    let remote = ["conformance", "check", "--remote", &url, "--token", "tide-table"];
    let judge = |more: &[&str]| {
        let ran = accord(&[&remote[..], &["--tier", "3", "--format", "json"], more].concat(), "");
        let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
        assert_eq!((ran.code, &report["overall"]), (0, &json!("pass")), "{report:#}");
        let tiers = report["results"].as_object().expect("tiers").values();
        tiers.map(|tier| tier["fixtures_passed"].as_u64().expect("a number")).sum::<u64>()
    };
    assert!(judge(&[]) >= 150);
    match std::env::var("ACCORD_EXTERNAL_CORPUS") {
        Ok(folder) => {
            let copy = tempfile::tempdir().expect("a folder");
            copy_with_longer_limits(&Path::new(&folder).join("agentxchain"), copy.path());
            let copy = copy.path().to_str().expect("text");
            assert!(judge(&["--fixtures", copy]) >= 82);
        }
        Err(_) => eprintln!("ACCORD_EXTERNAL_CORPUS names no folder: public fixtures were not run"),
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut check = command(&["conformance", "check", "--surface", "history", "--target"]);
    check.arg(own).env("PATH", path_with_accord());
    let ran = run(check, "");
    assert_eq!(ran.code, 0, "{ran:?}");
}
