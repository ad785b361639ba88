//! Workers behind an address, and workers that are tools of an MCP server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_runs::operations::{Reject, Step, StepResult};
use accord_runs::{Environment, Runs, TurnOutcome};
use serde_json::{Value, json};

use crate::support::{Repo, refused};

/// What a server got: the start of the request in lower case, and its body.
type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// A server for a few requests; it ends with its test.
struct Server {
    url: String,
    seen: Seen,
}

/// Answers requests with what `answer` says: a status line's end with headers, and a body.
fn serve(answer: impl Fn(usize, &Value) -> (String, String) + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/turns", listener.local_addr().unwrap());
    let seen = Seen::default();
    let reported = Arc::clone(&seen);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().take(20).enumerate() {
            let Ok(stream) = stream else { return };
            let (head, body) = request(&stream);
            reported.lock().unwrap().push((head, body.clone()));
            let (head, text) = answer(number, &body);
            let length = text.len();
            let reply = format!(
                "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
            );
            // The client may have given up.
            let _ = (&stream).write_all(reply.as_bytes());
        }
    });
    Server { url, seen }
}

fn request(stream: &TcpStream) -> (String, Value) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// A review of the turn that an envelope is about, as a role that only reviews gives it.
fn review(envelope: &Value) -> Value {
    json!({
        "schema_version": "1.0",
        "run_id": envelope["run_id"], "turn_id": envelope["turn_id"],
        "role": envelope["role"], "runtime_id": envelope["runtime_id"],
        "status": "completed", "summary": "looked at it", "decisions": [],
        "objections": [{"id": "OBJ-001", "severity": "low", "statement": "thin",
            "status": "raised"}],
        "files_changed": [], "verification": {"status": "skipped"},
        "artifact": {"type": "review"}, "proposed_next_role": "human",
    })
}

/// A run whose first role only reviews, by this runtime.
fn reviewed_by(runtime: &Value) -> (Repo, Runs) {
    let repo = Repo::with_git();
    repo.configure(|config| {
        config["roles"]["pm"]["write_authority"] = json!("review_only");
        config["roles"]["pm"]["runtime"] = json!("afar");
        config["runtimes"]["afar"] = runtime.clone();
    });
    let runs = repo.started();
    (repo, runs)
}

#[track_caller]
fn accepted(stepped: Result<StepResult, Failure>) {
    let stepped = stepped.unwrap();
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Accepted(_))), "{stepped:?}");
}

fn turn_status(runs: &Runs) -> Value {
    let state = runs.state().unwrap();
    state.only_turn().unwrap().document()["status"].clone()
}

#[test]
fn an_agent_behind_an_address_is_posted_the_turn_and_answers_with_the_result() {
    let server = serve(|_, envelope| {
        let json = "200 OK\r\nContent-Type: application/json".to_owned();
        (json, review(envelope).to_string())
    });
    let (repo, runs) = reviewed_by(&json!({"type": "remote_agent", "url": server.url,
        "headers": {"X-Team": "${HOME}"}}));
    accepted(runs.step(&Step::default()));
    let seen = server.seen.lock().unwrap();
    let (head, body) = &seen[0];
    assert!(head.starts_with("post /turns"), "{head}");
    let home = std::env::var("HOME").unwrap().to_lowercase();
    assert!(head.contains(&format!("x-team: {home}")), "variables are put in: {head}");
    for name in
        ["run_id", "turn_id", "role", "phase", "runtime_id", "dispatch_dir", "prompt", "context"]
    {
        assert!(body[name].is_string(), "{name} in {body}");
    }
    assert_eq!(repo.lines(".agentxchain/history.jsonl")[0]["summary"], "looked at it");
}

#[test]
fn answers_that_are_no_result_are_distinguished() {
    for (head, text, code, word) in [
        ("500 Oops", "out of credit", Code::XchainWorkerFailed, "500"),
        ("200 OK", "hello", Code::XchainWorkerFailed, "not answer with JSON"),
        ("200 OK", r#"{"status": "completed"}"#, Code::XchainWorkerFailed, "not a turn result"),
        ("302 Found\r\nLocation: /elsewhere", "", Code::XchainWorkerFailed, "302"),
    ] {
        let server = serve(move |_, _| (head.to_owned(), text.to_owned()));
        let (_repo, runs) = reviewed_by(&json!({"type": "remote_agent", "url": server.url}));
        let failure = refused(runs.step(&Step::default()), code);
        assert!(failure.message.contains(word), "{failure:?}");
        assert_eq!(turn_status(&runs), "stalled");
        assert_eq!(server.seen.lock().unwrap().len(), 1, "a redirect is not followed");
    }
}

#[test]
fn an_absent_agent_and_a_silent_one_are_distinguished() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_repo, runs) =
        reviewed_by(&json!({"type": "remote_agent", "url": format!("http://{gone}/")}));
    refused(runs.step(&Step::default()), Code::XchainWorkerNotStarted);
    assert_eq!(turn_status(&runs), "failed_start");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let (_repo, runs) =
        reviewed_by(&json!({"type": "remote_agent", "url": url, "timeout_ms": 300}));
    refused(runs.step(&Step::default()), Code::XchainWorkerTimedOut);
}

/// An MCP server as a script: it greets, then does what `then` says.
fn mcp_script(then: &str) -> Value {
    let script = format!(
        r#"
read -r hello
printf '%s' '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-06-18",'
echo '"capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}'
read -r initialized
echo '{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"up"}}}}'
read -r list
{then}
"#
    );
    json!({"type": "mcp", "command": ["/bin/sh", "-c", script]})
}

/// The tools on two pages, a ping in between; the second holds the one that is called.
const TOOLS: &str = r#"
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"other"}],"nextCursor":"p2"}}'
read -r list
echo '{"jsonrpc":"2.0","id":"ping-1","method":"ping"}'
read -r pong
case "$pong" in *ping-1*) ;; *) echo "no pong: $pong" >&2; exit 1;; esac
echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"agentxchain_turn"}]}}'
read -r call
run=$(printf '%s' "$call" | sed 's/.*"run_id":"\([^"]*\)".*/\1/')
turn=$(printf '%s' "$call" | sed 's/.*"turn_id":"\([^"]*\)".*/\1/')
result="{\"schema_version\":\"1.0\",\"run_id\":\"$run\",\"turn_id\":\"$turn\",\"role\":\"pm\","
result="$result"'"runtime_id":"afar","status":"completed","summary":"by tool","decisions":[],'
result="$result"'"objections":[{"id":"OBJ-001","severity":"low","statement":"thin",'
result="$result"'"status":"raised"}],"files_changed":[],"verification":{"status":"skipped"},'
result="$result"'"artifact":{"type":"review"},"proposed_next_role":"human"}'
"#;

#[test]
fn a_tool_of_a_program_is_called_and_answers_with_the_result() {
    let answer = r#"printf '%s' '{"jsonrpc":"2.0","id":4,"result":{"content":[],'
        echo "\"structuredContent\":$result}}""#;
    // Its commands are recognised as those of a worker by this variable.
    let marked = r#"[ "$AGENTXCHAIN_TURN_ID" = "$turn" ] || exit 5"#;
    let (repo, runs) = reviewed_by(&mcp_script(&format!("{TOOLS}\n{marked}\n{answer}")));
    accepted(runs.step(&Step::default()));
    assert_eq!(repo.lines(".agentxchain/history.jsonl")[0]["summary"], "by tool");
}

#[test]
fn what_goes_wrong_with_a_tool_is_said() {
    let none = r#"echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"},{"name":"b"}]}}'
        cat >/dev/null"#;
    let error = format!(
        "{TOOLS}\n{}",
        r#"printf '%s' '{"jsonrpc":"2.0","id":4,"result":{"isError":true,'
           echo '"content":[{"type":"text","text":"no model"}]}}'"#
    );
    let other = format!(
        "{TOOLS}\n{}",
        r#"echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"done!"}]}}'"#
    );
    let refusal = r#"echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"not today"}}'
        cat >/dev/null"#;
    let dies = "echo 'broken pipe dream' >&2; exit 4";
    let garbage = "echo 'this is no JSON'; cat >/dev/null";
    for (then, word) in [
        (none, "only: a, b"),
        (error.as_str(), "no model"),
        (other.as_str(), "done!"),
        (refusal, "not today"),
        (dies, "broken pipe dream"),
        (garbage, "not JSON"),
    ] {
        let (_repo, runs) = reviewed_by(&mcp_script(then));
        let failure = refused(runs.step(&Step::default()), Code::XchainWorkerFailed);
        assert!(failure.message.contains(word), "{word}: {failure:?}");
    }
}

#[test]
fn a_tool_behind_an_address_is_called_in_its_session() {
    let server = serve(|_, message| {
        let id = &message["id"];
        let json = |session: &str, value: Value| {
            (format!("200 OK\r\nContent-Type: application/json{session}"), value.to_string())
        };
        match message["method"].as_str() {
            Some("initialize") => json(
                "\r\nMcp-Session-Id: s-7",
                json!({"jsonrpc": "2.0", "id": id,
                "result": {"protocolVersion": "2025-03-26", "capabilities": {}}}),
            ),
            Some("tools/list") => json(
                "",
                json!({"jsonrpc": "2.0", "id": id,
                "result": {"tools": [{"name": "review"}]}}),
            ),
            Some("tools/call") => {
                let text = review(&message["params"]["arguments"]).to_string();
                let answer = json!({"jsonrpc": "2.0", "id": id,
                    "result": {"content": [{"type": "text", "text": text}]}});
                let note = json!({"jsonrpc": "2.0", "method": "notifications/progress"});
                let events =
                    format!("event: message\ndata: {note}\n\nevent: message\ndata: {answer}\n\n");
                ("200 OK\r\nContent-Type: text/event-stream".to_owned(), events)
            }
            _ => ("202 Accepted".to_owned(), String::new()),
        }
    });
    let (_repo, runs) = reviewed_by(&json!({"type": "mcp", "transport": "streamable_http",
        "url": server.url, "tool_name": "review"}));
    accepted(runs.step(&Step::default()));
    let seen = server.seen.lock().unwrap();
    let heads: Vec<&String> = seen.iter().map(|(head, _)| head).collect();
    assert!(!heads[0].contains("mcp-session-id"));
    for head in &heads[1..] {
        assert!(head.contains("mcp-session-id: s-7"), "{head}");
    }
    assert!(heads[2].contains("mcp-protocol-version: 2025-03-26"), "{}", heads[2]);
    assert!(heads.last().unwrap().starts_with("delete "), "the session is ended");
}

#[test]
fn an_answer_for_a_try_that_is_over_is_left_out() {
    let place: Arc<Mutex<Option<(std::path::PathBuf, Environment)>>> = Arc::default();
    let shared = Arc::clone(&place);
    let server = serve(move |number, envelope| {
        if number == 0 {
            let (root, environment) = shared.lock().unwrap().clone().unwrap();
            let runs = Runs::open(&root, environment).unwrap();
            runs.reject(&Reject { reason: "too slow".to_owned(), ..Reject::default() }).unwrap();
        }
        ("200 OK".to_owned(), review(envelope).to_string())
    });
    let (repo, runs) = reviewed_by(&json!({"type": "remote_agent", "url": server.url}));
    *place.lock().unwrap() = Some((repo.root(), repo.environment()));
    refused(runs.step(&Step::default()), Code::XchainAttemptOver);
    assert!(repo.lines(".agentxchain/history.jsonl").is_empty());
    accepted(runs.step(&Step::default()));
    assert_eq!(server.seen.lock().unwrap().len(), 2, "it was asked again");
}

/// Rejects the turn while its worker has it, and answers only when the test is done.
fn rejects_and_waits(number: usize, runtime: impl FnOnce(&str) -> Value) {
    let place: Arc<Mutex<Option<(std::path::PathBuf, Environment)>>> = Arc::default();
    let shared = Arc::clone(&place);
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let answered = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let noted = Arc::clone(&answered);
    let server = serve(move |at, message| {
        if at == number {
            let (root, environment) = shared.lock().unwrap().clone().unwrap();
            let runs = Runs::open(&root, environment).unwrap();
            runs.reject(&Reject { reason: "too slow".to_owned(), ..Reject::default() }).unwrap();
            let _ = wait.recv_timeout(Duration::from_secs(60));
            noted.store(true, std::sync::atomic::Ordering::SeqCst);
        }
        let result = match message["method"].as_str() {
            Some("tools/list") => json!({"tools": [{"name": "agentxchain_turn"}]}),
            _ => json!({}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        ("200 OK".to_owned(), answer.to_string())
    });
    let (repo, runs) = reviewed_by(&runtime(&server.url));
    *place.lock().unwrap() = Some((repo.root(), repo.environment()));
    refused(runs.step(&Step::default()), Code::XchainAttemptOver);
    assert!(!answered.load(std::sync::atomic::Ordering::SeqCst), "it waited for the answer");
    drop(done);
}

#[test]
fn an_agent_whose_attempt_is_over_is_not_waited_for() {
    rejects_and_waits(0, |url| json!({"type": "remote_agent", "url": url}));
}

#[test]
fn a_tool_whose_attempt_is_over_is_not_waited_for() {
    // `initialize`, the notification and the list of tools come before the call.
    rejects_and_waits(3, |url| json!({"type": "mcp", "transport": "streamable_http", "url": url}));
}

#[test]
fn a_limit_of_a_response_is_named() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let (_repo, runs) =
        reviewed_by(&json!({"type": "remote_agent", "url": url, "timeout_ms": 300}));
    let failure = refused(runs.step(&Step::default()), Code::XchainWorkerTimedOut);
    let end = "gave no response within 300 ms; runtimes.afar.timeout_ms is 300";
    assert!(failure.message.ends_with(end), "{failure:?}");
    let next = runs.status().unwrap().next;
    let names = accord_runs::answers::CommandNames::default();
    let answer = accord_runs::answers::next_answer(&next[0], &names);
    assert!(answer.command.unwrap().ends_with(" --silence 30m"));
}
