//! `accord live ask`: a question to a person in one command, and the tool that does the same.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::accord::run;
use crate::live_place::Sessions;
use crate::mcp::Agent;
use crate::memory::bare;
use crate::wait::{output_of, signal, wait_for, wait_until};

/// A command that asks and waits.
struct Asking(Child);

impl Asking {
    fn begin(sessions: &Sessions, words: &str) -> Self {
        let mut command = sessions.command(&format!("ask --actor agent:ci {words}"));
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("accord starts"))
    }

    /// The exit code, the answer, and what was said beside it.
    #[track_caller]
    fn end(self) -> (Option<i32>, String, String) {
        let output = output_of(self.0, "accord live ask");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn kill(mut self) {
        self.0.kill().expect("it is killed");
        self.0.wait().expect("it ends");
    }
}

/// The session of the only question that waits.
#[track_caller]
fn waiting(sessions: &Sessions) -> String {
    let ask = wait_for("a question", || {
        let asks = sessions.json("list --waiting");
        asks["asks"].as_array().filter(|asks| asks.len() == 1).map(|asks| asks[0].clone())
    });
    ask["session_id"].as_str().expect("an id").to_owned()
}

#[test]
fn the_answer_is_printed_and_is_the_exit_code() {
    for is_served in [false, true] {
        let sessions = Sessions::new();
        let sessions = if is_served { sessions.served() } else { sessions };
        for (action, code) in [("yes", 0), ("no", 1)] {
            // The same words: an answer that was read is not given to a later question.
            let asking = Asking::begin(&sessions, "'Deploy 3.0?' --option yes --option no");
            let session = waiting(&sessions);
            sessions.yes(&format!("answer {session} {action}"));
            let (exit, answer, said) = asking.end();
            assert_eq!((exit, answer), (Some(code), format!("{action}\n")), "{said}");
            assert!(
                said.contains(&format!("accord live answer {session} --project shop")),
                "{said}"
            );
            assert_eq!(said.contains("/live/live_"), is_served, "{said}");
            assert!(said.contains("human:lead answered"), "{said}");
        }
        let schema = json!({"type": "object", "required": ["region"], "properties": {
            "region": {"type": "string"},
        }});
        std::fs::write(sessions.folder().join("form.json"), schema.to_string()).expect("a file");
        for (answer, code, printed) in
            [("submit --field region=eu", 0, "{\"region\":\"eu\"}\n"), ("refuse", 1, "refuse\n")]
        {
            let asking = Asking::begin(&sessions, "Where? --form form.json --to human:lead");
            let session = waiting(&sessions);
            let listed = sessions.yes("list --waiting");
            assert!(listed.contains("agent:ci to human:lead"), "{listed}");
            sessions.yes(&format!("answer {session} {answer}"));
            let (exit, answered, said) = asking.end();
            assert_eq!((exit, answered.as_str()), (Some(code), printed), "{said}");
        }
        let (exit, answer, said) = Asking::begin(&sessions, "'Quick?' --within 1s").end();
        assert_eq!((exit, answer.as_str()), (Some(3), ""), "{said}");
        assert!(said.contains("nobody answered until"), "{said}");
    }
}

#[test]
fn a_command_that_was_killed_is_repeated_and_gets_the_answer() {
    let sessions = Sessions::new();
    let question = "'Deploy 3.0?' --option yes --option no";
    let asking = Asking::begin(&sessions, question);
    let session = waiting(&sessions);
    asking.kill();
    // It goes on waiting for the same question.
    let asking = Asking::begin(&sessions, question);
    wait_until("the repeated command", || is_open(&sessions, &session));
    asking.kill();
    sessions.yes(&format!("answer {session} yes"));
    let (exit, answer, said) = Asking::begin(&sessions, question).end();
    assert_eq!((exit, answer.as_str()), (Some(0), "yes\n"), "{said}");
    assert!(!said.contains("waiting"), "{said}");
    // It was printed, so it is confirmed.
    let unread = sessions.json("answers");
    assert_eq!(unread["answers"], json!([]));
}

/// Whether the only question is this one, which nobody has answered.
fn is_open(sessions: &Sessions, session: &str) -> bool {
    let listed = sessions.json("list");
    let listed = listed["sessions"].as_array().expect("a list");
    listed.len() == 1 && listed[0]["session_id"] == session && listed[0]["ask"].is_object()
}

#[test]
fn a_host_that_is_killed_ends_no_question() {
    let sessions = Sessions::new().served();
    let asking = Asking::begin(&sessions, "'Deploy 3.0?'");
    let session = waiting(&sessions);
    let sessions = sessions.killed();
    // The command opens the folder itself, and a person answers beside it.
    sessions.yes(&format!("answer {session} no"));
    let (exit, answer, said) = asking.end();
    assert_eq!((exit, answer.as_str()), (Some(1), "no\n"), "{said}");
}

#[test]
fn a_signal_leaves_the_question_open() {
    let sessions = Sessions::new();
    let asking = Asking::begin(&sessions, "'Deploy 3.0?'");
    let session = waiting(&sessions);
    let pid = asking.0.id();
    // It has said how to answer when it handles signals.
    wait_until("the signal handler", || handles_interrupts(pid));
    signal(pid, "-INT");
    let (exit, answer, said) = asking.end();
    assert_eq!((exit, answer.as_str()), (Some(130), ""), "{said}");
    assert!(said.contains("the question stays open until"), "{said}");
    assert!(is_open(&sessions, &session));
}

/// Whether a process handles SIGINT.
fn handles_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> 1 & 1 == 1)
}

#[test]
fn a_worker_asks_as_an_agent_about_its_work_and_does_not_answer() {
    let sessions = Sessions::new();
    let ask = |task: Option<&str>, actor: &str, more: &str| {
        let mut command = sessions.command(&format!("ask 'Deploy 3.0?' --within 1s {more}"));
        command.env("ACCORD_ACTOR", actor);
        if let Some(task) = task {
            command.env("ACCORD_TASK_ID", task);
        }
        run(command, "")
    };
    let session = |task: Option<&str>| {
        let ran = ask(task, "agent:ci", "--json");
        assert_eq!(ran.code, 3, "{ran:?}");
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(document["result"]["state"], "expired");
        document["result"]["session_id"].clone()
    };
    let (none, one, other) = (session(None), session(Some("TASK-1")), session(Some("TASK-2")));
    assert!(none != one && one != other, "{one} {other}");
    ask(Some("TASK-1"), "human:lead", "").refused("not_for_workers");
}

#[test]
fn what_is_no_question_is_refused() {
    let sessions = Sessions::new();
    let refused = |words: &str, code: &str| sessions.ran(&format!("ask {words}")).refused(code);
    refused("''", "WIRE_FIELD_VALUE");
    refused("' '", "invalid_schema");
    refused("Q --option yes --option YES", "invalid_schema");
    refused("Q --form none.json", "INPUT_UNREADABLE");
    std::fs::write(sessions.folder().join("form.json"), "[]").expect("a file");
    refused("Q --form form.json", "CANON_INVALID_JSON");
    let none = sessions.json("list");
    assert_eq!(none["sessions"], json!([]));
}

fn agent(sessions: &Sessions) -> Agent {
    let mut command = bare(&["mcp", "--tools", "live", "--actor", "agent:builder"]);
    command.env("ACCORD_DATA", sessions.data()).env("ACCORD_PROJECT", "shop");
    Agent::begun(command)
}

#[test]
fn a_tool_call_waits_says_so_and_gives_the_answer() {
    for is_served in [false, true] {
        let sessions = Sessions::new();
        let sessions = if is_served { sessions.served() } else { sessions };
        let mut builder = agent(&sessions);
        let question = |timeout: u64| {
            let options = ["yes", "no"];
            json!({"question": "Deploy 3.0?", "options": options, "timeout": timeout})
        };
        let first = builder.read("ask_person", &question(0));
        assert_eq!(first["state"], "waiting");
        let session = first["session_id"].as_str().expect("an id").to_owned();
        // The same call goes on waiting, and says so to a client that asked for it.
        let (waiting, notified) = builder.call_with_progress("ask_person", &question(11));
        assert_eq!(waiting["structuredContent"]["session_id"], session.as_str(), "{waiting}");
        assert_eq!((&waiting["structuredContent"]["state"], notified), (&json!("waiting"), 1));
        let note = waiting["content"][1]["text"].as_str().expect("a note");
        assert!(note.contains("Call ask_person again with the same arguments"), "{note}");
        sessions.yes(&format!("answer {session} no"));
        let given = builder.read("ask_person", &question(50));
        assert_eq!((&given["option"], &given["accepted"]), (&json!("no"), &json!(false)));
        assert_eq!(given["by"]["id"], "lead");
        // It was written, and so it is confirmed: the next call asks again.
        assert_eq!(builder.read("ask_person", &question(0))["state"], "waiting");
    }
}

#[test]
fn an_agent_that_is_killed_loses_no_answer() {
    let sessions = Sessions::new();
    let question = json!({"question": "Deploy 3.0?", "timeout": 50});
    let mut builder = agent(&sessions);
    builder.begin_call("ask_person", &question);
    let session = waiting(&sessions);
    builder.kill();
    sessions.yes(&format!("answer {session} yes"));
    let given = agent(&sessions).read("ask_person", &question);
    assert_eq!((&given["state"], &given["accepted"]), (&json!("answered"), &json!(true)));
}
