//! Hooks as programs and as addresses.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::Duration;

use accord_contract::Code;
use accord_process::Cancel;
use accord_runs::Runs;
use accord_runs_core::state::Status;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

const AUDIT: &str = ".agentxchain/hook-audit.jsonl";
const ALLOW: &str = r#"echo '{"verdict":"allow"}'"#;

#[test]
fn a_hook_gets_what_it_needs_and_can_allow() {
    let repo = Repo::plain();
    let line = r#"cat > payload.json; env | grep ^AGENTXCHAIN > env.txt
        echo '{"verdict":"warn","message":"hm"}'"#;
    repo.hook("before_assignment", "look", "blocking", 5000, line);
    let runs = repo.started();
    runs.assign(None).unwrap();
    let reported = repo.json("payload.json");
    assert_eq!(reported["hook_phase"], "before_assignment");
    assert_eq!(reported["payload"]["role_id"], "pm");
    assert_eq!(reported["project_root"], repo.root().to_str().unwrap());
    let environment = repo.read("env.txt");
    assert!(environment.contains("AGENTXCHAIN_HOOK_NAME=look"), "{environment}");
    let audit = repo.lines(AUDIT);
    assert_eq!(audit.len(), 1);
    assert_eq!(audit[0]["orchestrator_action"], "warned");
    assert_eq!(audit[0]["message"], "hm");
    assert_eq!(audit[0]["hook_id"], "look");
}

#[test]
fn a_late_hook_keeps_its_exit_code_and_a_killed_one_has_none() {
    for (line, code) in [("sleep 1; exit 3", json!(3)), ("sleep 600", Value::Null)] {
        let repo = Repo::plain();
        repo.hook("before_assignment", "late", "advisory", 100, line);
        repo.started().assign(None).unwrap();
        let audit = &repo.lines(AUDIT)[0];
        assert_eq!(audit["orchestrator_action"], "warned_timeout");
        assert_eq!((&audit["timed_out"], &audit["exit_code"]), (&json!(true), &code), "{line}");
    }
}

#[test]
fn a_blocking_hook_stops_an_assignment_and_blocks_the_run() {
    let repo = Repo::plain();
    repo.hook(
        "before_assignment",
        "no",
        "blocking",
        5000,
        r#"echo '{"verdict":"block","message":"not today"}'"#,
    );
    repo.hook("before_assignment", "later", "blocking", 5000, "touch later; exit 1");
    repo.hook("on_escalation", "notify", "advisory", 5000, "cat > escalation.json; exit 3");
    let runs = repo.started();
    let failure = refused(runs.assign(None), Code::XchainHookBlocked);
    assert!(failure.message.contains("not today"), "{failure}");
    assert_eq!(runs.state().unwrap().status(), Status::Blocked);
    assert!(!repo.has("later"));
    let actions: Vec<Value> =
        repo.lines(AUDIT).iter().map(|line| line["orchestrator_action"].clone()).collect();
    assert_eq!(actions, ["blocked", "skipped", "warned_failure"]);
    assert_eq!(
        repo.json("escalation.json")["payload"]["run_id"],
        runs.state().unwrap().member("run_id")
    );
    assert_eq!(repo.lines(".agentxchain/run-history.jsonl").len(), 1);
    runs.resolve(&consent()).unwrap();
}

#[test]
fn a_hook_that_changes_protected_files_finds_them_restored() {
    let cases = [
        (r#"echo '{}' > .agentxchain/state.json"#, Code::XchainHookStateTamper),
        (r#"rm .agentxchain/history.jsonl"#, Code::XchainHookHistoryTamper),
        (r#"echo x >> .agentxchain/decision-ledger.jsonl"#, Code::XchainHookLedgerTamper),
    ];
    for (line, code) in cases {
        let repo = Repo::plain();
        repo.hook("before_assignment", "evil", "advisory", 5000, &format!("{line}; {ALLOW}"));
        let runs = repo.started();
        let state = repo.json(".agentxchain/state.json");
        refused(runs.assign(None), code);
        assert_eq!(repo.lines(AUDIT)[0]["orchestrator_action"], "aborted_tamper");
        assert_eq!(repo.lines(".agentxchain/history.jsonl").len(), 0);
        assert_eq!(repo.json(".agentxchain/state.json")["run_id"], state["run_id"]);
    }
}

#[test]
fn a_hook_that_removes_the_lock_or_everything_blocks_the_run_and_costs_nothing() {
    for (phase, line, code) in [
        ("before_validation", "rm .agentxchain/locks/*.lock", Code::XchainHookBundleTamper),
        (
            "after_validation",
            "echo x > .agentxchain/locks/accept-turn.lock",
            Code::XchainHookBundleTamper,
        ),
        ("before_validation", "rm -r .agentxchain", Code::XchainHookStateTamper),
        ("before_acceptance", "rm -r .agentxchain/staging", Code::XchainHookBundleTamper),
        (
            "before_acceptance",
            "sed -i s/^/x/ .agentxchain/dispatch/turns/*/PROMPT.md",
            Code::XchainHookBundleTamper,
        ),
    ] {
        let repo = Repo::plain();
        repo.hook(phase, "evil", "advisory", 5000, &format!("{line}; {ALLOW}"));
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
        let kept = [
            turn.staging.clone(),
            format!("{}/PROMPT.md", accord_runs_core::dispatch::bundle_folder(turn.turn.id())),
        ];
        let before = kept.clone().map(|path| repo.read(&path));
        refused(accept(&runs, turn.turn.id()), code);
        assert_eq!(runs.state().unwrap().status(), Status::Blocked, "{line}");
        assert_eq!(kept.map(|path| repo.read(&path)), before, "{line}");
        assert_eq!(runs.repository().lock_holder().unwrap(), None, "{line}");
    }
}

#[test]
fn a_result_that_a_hook_mended_says_so_in_the_history() {
    for mends in [true, false] {
        let repo = Repo::plain();
        let line = match mends {
            true => "sed -i 's/did it/did it well/' .agentxchain/staging/*/turn-result.json",
            false => "true",
        };
        repo.hook("before_validation", "mend", "advisory", 5000, &format!("{line}; {ALLOW}"));
        let runs = repo.started();
        let turn = dispatched(&runs, "pm");
        plan(&repo);
        stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
        let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
        let warnings = accepted.history_entry["warnings"].as_array().unwrap();
        let warned = |warning: &Value| warning.as_str().unwrap().contains("before_validation");
        assert_eq!(warnings.iter().any(warned), mends);
    }
}

#[test]
fn a_hook_may_add_to_a_bundle_and_not_change_it() {
    let repo = Repo::plain();
    let folder = r#"d=$(ls -d .agentxchain/dispatch/turns/*)"#;
    repo.hook(
        "after_dispatch",
        "add",
        "blocking",
        5000,
        &format!(
            "{folder}; echo more > $d/MORE.md; mkdir $d/maps; echo x > $d/maps/HARBOUR.md; {ALLOW}"
        ),
    );
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let names: Vec<&str> = turn.manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ASSIGNMENT.json", "CONTEXT.md", "MORE.md", "PROMPT.md", "maps/HARBOUR.md"]);
    assert!(runs.verify_bundle(turn.turn.id()).unwrap().is_ok());
    // Neither a file in a folder nor a link gets in afterwards.
    let bundle = repo.root().join(&turn.bundle);
    std::fs::write(bundle.join("maps/DETOUR.md"), "this way").unwrap();
    std::os::unix::fs::symlink("maps", bundle.join("plans")).unwrap();
    let found = runs.verify_bundle(turn.turn.id()).unwrap().unwrap_err();
    let found: Vec<_> =
        found.iter().map(|error| (error.fault.as_str(), error.path.as_deref())).collect();
    assert_eq!(
        found,
        [("unexpected_file", Some("maps/DETOUR.md")), ("unexpected_file", Some("plans"))]
    );

    let repo = Repo::plain();
    repo.hook(
        "after_dispatch",
        "edit",
        "blocking",
        5000,
        &format!("{folder}; echo hurry > $d/PROMPT.md; {ALLOW}"),
    );
    let runs = repo.started();
    let turn = runs.assign(None).unwrap().turn;
    refused(runs.dispatch(None), Code::XchainHookBundleTamper);
    assert!(!repo.has(&accord_runs_core::dispatch::bundle_folder(turn.id())));
    assert_eq!(runs.state().unwrap().status(), Status::Blocked);
}

#[test]
fn hooks_around_an_acceptance_have_their_say_in_their_order() {
    let repo = Repo::plain();
    for phase in ["before_validation", "after_validation", "before_acceptance"] {
        repo.hook(phase, "ok", "blocking", 5000, ALLOW);
    }
    let note = r#"echo '{"verdict":"allow","annotations":[{"key":"link","value":"x"}]}'"#;
    repo.hook("after_acceptance", "note", "advisory", 5000, note);
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    accept(&runs, turn.turn.id()).unwrap();
    let phases: Vec<Value> =
        repo.lines(AUDIT).iter().map(|line| line["hook_phase"].clone()).collect();
    assert_eq!(
        phases,
        ["before_validation", "after_validation", "before_acceptance", "after_acceptance"]
    );
    let kept = repo.lines(".agentxchain/hook-annotations.jsonl");
    assert_eq!(kept[0]["annotations"][0]["key"], "link");
    assert_eq!(kept[0]["turn_id"], turn.turn.id().as_str());
}

#[test]
fn a_hook_that_prints_forks_or_sleeps_for_ever_gets_its_verdict() {
    let repo = Repo::plain();
    repo.hook("before_assignment", "floods", "advisory", 10_000, "yes flood");
    repo.hook(
        "before_assignment",
        "shouts",
        "advisory",
        10_000,
        &format!("yes shout | head -c 3000000 >&2; {ALLOW}"),
    );
    repo.hook(
        "before_assignment",
        "forks",
        "advisory",
        3_000,
        "while :; do sleep 30 & echo $! >> child; sleep 0.05; done",
    );
    repo.hook("before_assignment", "leaves", "advisory", 10_000, &format!("sleep 30 & {ALLOW}"));
    repo.hook("before_assignment", "missing", "advisory", 10_000, ALLOW);
    repo.configure(|config| {
        config["hooks"]["before_assignment"][4]["command"] = json!(["accord-no-such-program"]);
    });
    let runs = repo.started();
    runs.assign(None).unwrap();
    // Waiting for what a hook left behind would have exceeded the limit.
    let actions: Vec<Value> =
        repo.lines(AUDIT).iter().map(|line| line["orchestrator_action"].clone()).collect();
    assert_eq!(
        actions,
        ["warned_failure", "continued", "warned_timeout", "continued", "warned_failure"]
    );
    let children = repo.read("child");
    let last = children.lines().last().expect("a child");
    assert!(!runs_still(last), "nothing of the group is left");
    let audit = repo.lines(AUDIT);
    assert!(audit[1]["stderr_excerpt"].as_str().unwrap().len() <= 4096);
    assert!(audit[4]["message"].as_str().unwrap().contains("accord-no-such-program"));
}

#[test]
fn an_address_can_be_a_hook() {
    let (url, server) =
        answer_with("HTTP/1.1 200 OK", r#"{"verdict":"warn","message":"over http"}"#);
    let repo = Repo::plain();
    http_hook(&repo, &url, json!({"Authorization": "Bearer ${HOOK_TOKEN}"}));
    let runs = repo.started();
    runs.assign(None).unwrap();
    let asked = server.join().unwrap();
    assert!(asked.starts_with("POST / "), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer secret"), "{asked}");
    assert!(asked.contains("\"hook_phase\":\"before_assignment\""), "{asked}");
    let audit = repo.lines(AUDIT);
    assert_eq!(
        (&audit[0]["transport"], &audit[0]["message"]),
        (&json!("http"), &json!("over http"))
    );
}

#[test]
fn an_address_that_refuses_redirects_floods_or_is_silent_is_no_yes() {
    let flood = "x".repeat(2 * 1024 * 1024);
    for (status, body) in [
        ("HTTP/1.1 500 Oops", r#"{"verdict":"allow"}"#),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/", r#"{"verdict":"allow"}"#),
        ("HTTP/1.1 200 OK", flood.as_str()),
        ("HTTP/1.1 200 OK", "yes"),
    ] {
        let (url, server) = answer_with(status, body);
        let repo = Repo::plain();
        http_hook(&repo, &url, json!({}));
        let runs = repo.started();
        refused(runs.assign(None), Code::XchainHookBlocked);
        server.join().unwrap();
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let repo = Repo::plain();
    http_hook(&repo, &format!("http://{}/", silent.local_addr().unwrap()), json!({}));
    let runs = repo.started();
    refused(runs.assign(None), Code::XchainHookBlocked);
    assert_eq!(repo.lines(AUDIT)[0]["timed_out"], true);
}

#[test]
fn a_cancelled_request_to_a_hook_ends_before_its_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let repo = Repo::plain();
    http_hook(&repo, &format!("http://{}/", listener.local_addr().unwrap()), json!({}));
    repo.configure(|config| {
        config["hooks"]["before_assignment"][0]["timeout_ms"] = 30_000.into();
    });
    repo.started();
    let cancel = Cancel::new();
    let environment = repo.environment().with_cancel(cancel.clone());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The request has begun. Without an answer, only the cancellation closes the connection
        // before the hook's timeout.
        cancel.cancel();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.read_to_end(&mut Vec::new()).expect("the client closes the connection");
    });
    let runs = Runs::open(&repo.root(), environment).unwrap();
    refused(runs.assign(None), Code::XchainGivenUp);
    server.join().unwrap();
}

/// Whether a process is there and no zombie.
fn runs_still(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn http_hook(repo: &Repo, url: &str, headers: Value) {
    repo.configure(|config| {
        config["hooks"]["before_assignment"] = json!([{
            "name": "far", "type": "http", "url": url, "method": "POST", "headers": headers,
            "timeout_ms": 1000, "mode": "blocking", "env": {"HOOK_TOKEN": "secret"},
        }]);
    });
}

/// A server that answers one request, and gives the request.
fn answer_with(status: &str, body: &str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer =
        format!("{status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let limit = Duration::from_secs(5);
        stream.set_read_timeout(Some(limit)).unwrap();
        let mut asked = Vec::new();
        let mut chunk = [0; 4096];
        while !ends(&asked) {
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => break,
                Ok(read) => asked.extend(&chunk[..read]),
            }
        }
        // It may rightly hang up before it has read everything.
        let _ = stream.write_all(answer.as_bytes());
        String::from_utf8_lossy(&asked).into_owned()
    });
    (url, server)
}

fn ends(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}
