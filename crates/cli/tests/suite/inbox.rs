//! `accord inbox`: what waits for people, and that it comes and goes with its sources.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::accord::{Ran, run};
use crate::acting::request;
use crate::live_place::{Sessions, contract};
use crate::memory::{Memory, Way, bare};
use crate::run_place::Place;
use crate::task_commands::report;
use crate::task_place::Tasks;
use crate::wait::{output_of, wait_for};

const LEAD: [&str; 2] = ["--actor", "human:lead"];

fn items(document: &Value) -> &Vec<Value> {
    document["items"].as_array().expect("items")
}

fn kinds(document: &Value) -> Vec<&str> {
    items(document).iter().map(|item| item["kind"].as_str().expect("a kind")).collect()
}

fn handle(item: &Value) -> &str {
    item["handle"].as_str().expect("a short name")
}

/// Runs `accord inbox` on the data folder of a test.
fn inbox(data: &std::path::Path, words: &[&str]) -> Ran {
    let mut command = bare(&[&["inbox"], words].concat());
    command.env("ACCORD_DATA", data).env("ACCORD_ACTOR", "human:lead").current_dir("/");
    run(command, "")
}

/// What a command printed that was carried out. It can have said more on standard error.
#[track_caller]
fn carried_out(ran: &Ran) -> &str {
    assert_eq!(ran.code, 0, "{ran:?}");
    &ran.stdout
}

fn listed(data: &std::path::Path) -> Value {
    let ran = inbox(data, &["--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn a_review_is_decided_at_the_version_that_was_shown() {
    let memory = Memory::reached(Way::Socket);
    let id = memory.deposit("Chose SQLite", &["--status", "draft"]);
    assert_eq!(memory.ran(&["inbox", "--count"]).yes(), "0\n");
    memory.ran(&["context", "flag", &id, "--review", "human", "--note", "zoom?"]).yes();
    let list = memory.json(&["inbox"]);
    assert_eq!(kinds(&list), ["package.review"]);
    let item = &items(&list)[0];
    assert_eq!(item["title"], "Review: a package of agent:planner");
    assert_eq!((&item["words"], &item["urgency"]), (&json!("Chose SQLite"), &json!(3)));
    assert_eq!(item["id"], format!("package.review:shop:{id}:2"));
    let name = handle(item);
    let page = memory.ran(&["inbox"]);
    let page = carried_out(&page);
    assert!(page.contains(name) && page.contains("complete, send-back"), "{page}");
    let shown = memory.ran(&["inbox", "show", &name[..5]]).yes();
    let (known, claims) = shown.split_once("Claims\n").expect("both");
    assert!(!known.contains("Chose SQLite") || known.starts_with("U3"), "{shown}");
    assert!(claims.contains("Chose SQLite") && claims.contains("zoom?"), "{shown}");

    // What was decided by somebody else in between is not decided again.
    let version = memory.json(&["inbox", "show", name])["item"]["version"].clone();
    let version = version.as_str().expect("a version");
    let refused = memory.ran(&[&["inbox", "do", name, "send-back"], &LEAD[..]].concat());
    assert!(refused.refused("USAGE").contains("--note"));
    let note = ["--note", "Name the cost"];
    let sent = memory.ran(&[&["inbox", "do", name, "send"], &note[..], &LEAD[..]].concat());
    assert_eq!(sent.code, 0, "{sent:?}");
    for line in [
        "$ accord context review",
        "recorded: revision_requested by human:lead",
        "nothing else waits",
    ] {
        assert!(sent.stderr.contains(line), "{line}: {sent:?}");
    }
    memory.ran(&["inbox", "show", name]).refused("INBOX_ITEM_NOT_FOUND");
    memory.ran(&["context", "resubmit", &id]).yes();
    let again = memory.json(&["inbox"]);
    let again = &items(&again)[0];
    assert_ne!(handle(again), name, "it waits again: another item");
    assert_eq!(again["title"], "Review: a package of agent:planner (2 times)");
    let late = ["inbox", "do", handle(again), "complete", "--expect", version];
    memory.ran(&[&late[..], &LEAD[..]].concat()).refused("decision_stale");
    let done = ["inbox", "do", handle(again), "complete"];
    carried_out(&memory.ran(&[&done[..], &LEAD[..]].concat()));
    assert_eq!(memory.ran(&["inbox", "--count"]).yes(), "0\n");
}

#[test]
fn an_open_question_waits_until_it_is_answered() {
    let memory = Memory::new();
    memory.deposit("Plan", &["--question", "Which tax applies?"]);
    let list = memory.json(&["inbox"]);
    assert_eq!(kinds(&list), ["package.question"]);
    let name = handle(&items(&list)[0]).to_owned();
    let answer = ["inbox", "do", &name, "answer", "--note", "That of the country"];
    carried_out(&memory.ran(&[&answer[..], &LEAD[..]].concat()));
    assert_eq!(memory.ran(&["inbox", "--count"]).yes(), "0\n");
    let open = memory.json(&["context", "questions"]);
    assert_eq!(open["questions"], json!([]), "{open}");
}

#[test]
fn marks_are_those_of_a_person_and_survive_a_repair() {
    let memory = Memory::new();
    let id = memory.deposit("Schema", &["--status", "draft"]);
    memory.ran(&["context", "flag", &id, "--review", "human"]).yes();
    let name = handle(&items(&memory.json(&["inbox"]))[0]).to_owned();
    let mark = |words: &[&str]| memory.ran(&[&["inbox"], words, &LEAD[..]].concat());
    mark(&["claim", &name]).yes();
    mark(&["assign", &name, "--to", "human:ops"]).yes();
    mark(&["snooze", &name, "--for", "2h"]).yes();
    let data = memory.data();
    let repair = bare(&["store", "repair", "--data", data.to_str().expect("a path")]);
    assert_eq!(run(repair, "").code, 0);
    let verified = memory.ran(&["context", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let of =
        |actor: &str, more: &[&str]| memory.json(&[&["inbox", "--actor", actor], more].concat());
    assert_eq!(items(&of("human:lead", &[])).len(), 0, "it is put off");
    let ops = of("human:ops", &["--mine"]);
    let item = &items(&ops)[0];
    assert_eq!(item["claim"]["actor"], "human:lead");
    assert_eq!(item["assigned"]["actor"], "human:ops");
    assert_eq!(item["snoozed"], Value::Null);
    assert_eq!(items(&of("human:lead", &["--snoozed"])).len(), 1);
    mark(&["wake", &name]).yes();
    mark(&["release", &name]).yes();
    let back = of("human:lead", &[]);
    assert_eq!(items(&back)[0]["claim"], Value::Null);
    // A mark does not end what waits.
    assert_eq!(items(&back).len(), 1);
}

#[test]
fn tasks_and_live_questions_are_in_the_same_list() {
    let tasks = Tasks::new();
    let first = tasks.create("'Write the parser' --ready");
    let second = tasks.create(&format!("'Use the parser' --after {first}"));
    tasks.yes(&format!("block {first} 'API key missing'"));
    let data = tasks.data();
    let list = listed(&data);
    assert_eq!(kinds(&list), ["task.blocked"], "{list}");
    let item = &items(&list)[0];
    assert_eq!((&item["urgency"], &item["behind"]), (&json!(2), &json!(1)), "{second} {item}");
    assert_eq!(item["words"], "Write the parser: API key missing");
    let done = inbox(&data, &["do", handle(item), "unblock", "--note", "it is there"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("it does not wait any more; nothing else waits"), "{done:?}");

    tasks.yes(&format!("claim {first} --as dev"));
    let mut command = tasks.command("message --json");
    command.env_remove("ACCORD_ACTOR");
    assert_eq!(run(command, report(&first, "dev", "done").to_string()).code, 0);
    // A host that is served follows the tree.
    let tasks = tasks.served();
    let item = wait_for("the review of the task", || {
        items(&listed(&data)).iter().find(|item| item["kind"] == "task.review").cloned()
    });
    let name = handle(&item);
    let shown = inbox(&data, &["show", name]).yes();
    assert!(shown.contains("accord task approve") && shown.contains("--expect"), "{shown}");
    let unasked = inbox(&data, &["do", name, "approve"]);
    assert_eq!(unasked.code, 2, "{unasked:?}");
    assert!(unasked.stderr.contains("\nconfirmation_needed\n"), "{unasked:?}");
    let approved = inbox(&data, &["do", name, "approve", "--", "--yes"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert!(approved.stdout.contains("review to done (approved)"), "{approved:?}");
    assert!(approved.stderr.contains("it does not wait any more"), "{approved:?}");
    assert_eq!(tasks.status(&first), "done");
    wait_for("an empty list", || items(&listed(&data)).is_empty().then_some(()));
}

#[test]
fn a_task_for_a_person_waits_until_the_person_ends_or_refuses_it() {
    let tasks = Tasks::new();
    let first = tasks.create("'Check the contract' --agent human:ann --due 2026-01-31 --ready");
    let second = tasks.create("'Write the parser' --agent claude --ready");
    let waiting = tasks.create(&format!("'Sign it' --agent human:ann --after {second}"));
    let data = tasks.data();
    let list = listed(&data);
    assert_eq!(kinds(&list), ["task.handoff"], "{waiting}: {list}");
    let item = &items(&list)[0];
    assert_eq!((&item["subject"], &item["to"]), (&json!(first), &json!("human:ann")));
    assert_eq!(item["urgency"], 1, "its deadline is over: {item}");
    let mine = inbox(&data, &["--mine", "--actor", "human:ann", "--json"]);
    assert!(carried_out(&mine).contains(&first), "{mine:?}");
    let name = handle(item).to_owned();
    // Who refuses it says why.
    let refused = inbox(&data, &["do", &name, "reject", "--note", "I am no lawyer"]);
    assert_eq!(refused.code, 0, "{refused:?}");
    let blocked = listed(&data);
    assert_eq!(kinds(&blocked), ["task.blocked"], "{blocked}");
    assert!(items(&blocked)[0]["words"].as_str().unwrap().contains("no lawyer"), "{blocked}");

    // It waits again: another item.
    tasks.yes(&format!("unblock {first}"));
    let again = listed(&data);
    assert_eq!(kinds(&again), ["task.handoff"], "{again}");
    assert_ne!(handle(&items(&again)[0]), name);
    let name = handle(&items(&again)[0]).to_owned();
    let done = inbox(&data, &["do", &name, "done", "--note", "Both have signed", "--", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(tasks.status(&first), "done");
    assert_eq!(kinds(&listed(&data)), Vec::<&str>::new());
}

#[test]
fn the_request_of_a_handoff_is_shown_to_its_person() {
    let tasks = Tasks::new();
    let parent = tasks.create("'Ship 3.0' --agent planner --ready");
    tasks.yes(&format!("claim {parent} --as planner"));
    let child = tasks.create(&format!("'Sign the contract' --parent {parent} --ready"));
    let handoff = json!({
        "protocol": "aof", "version": 1, "projectId": "shop", "type": "handoff.request",
        "taskId": child, "fromAgent": "planner", "toAgent": "human:ann",
        "sentAt": "2026-01-01T00:00:00.000Z",
        "payload": {
            "taskId": child, "parentTaskId": parent, "fromAgent": "planner",
            "toAgent": "human:ann", "acceptanceCriteria": ["Both have signed"],
            "constraints": ["No change of the price"], "dueBy": "2099-01-01T00:00:00.000Z",
        },
    });
    let mut command = tasks.command("message --now --json");
    command.env_remove("ACCORD_ACTOR");
    let sent = run(command, handoff.to_string());
    assert_eq!(sent.code, 0, "{sent:?}");
    let data = tasks.data();
    let list = listed(&data);
    assert_eq!(kinds(&list), ["task.handoff"], "{list}");
    let item = &items(&list)[0];
    assert_eq!(item["deadline"], "2099-01-01T00:00:00.000Z", "{item}");
    assert_eq!(item["urgency"], 3);
    let shown = inbox(&data, &["show", handle(item)]).yes();
    let (_, claims) = shown.split_once("Claims\n").expect("claims");
    for expected in ["handed over by: planner", "Both have signed", "No change of the price"] {
        assert!(claims.contains(expected), "{expected}: {shown}");
    }
}

/// Replaces a text in the packages of a store that nothing uses.
fn tamper(data: &std::path::Path, from: &str, to: &str) {
    let connection = rusqlite::Connection::open(data.join("accord.db")).expect("a store");
    let sql = "UPDATE package SET text = replace(text, ?1, ?2) WHERE instr(text, ?1)";
    assert_eq!(connection.execute(sql, [from, to]), Ok(1));
}

#[test]
fn damage_waits_until_it_is_verified() {
    let memory = Memory::new();
    let id = memory.deposit("Chose SQLite", &["--decision", "SQLite it is"]);
    let (sound, damaged) = ("SQLite it is", "SQLITE it is");
    tamper(&memory.data(), sound, damaged);
    assert_eq!(memory.ran(&["context", "verify"]).code, 1);
    let list = memory.json(&["inbox"]);
    assert_eq!(kinds(&list), ["store.damage"], "{list}");
    let name = handle(&items(&list)[0]).to_owned();
    let shown = memory.ran(&["inbox", "show", &name]).yes();
    assert!(shown.contains(&format!("row: {id}")) && shown.contains("cause: "), "{shown}");
    let verify = ["inbox", "do", &name, "verify"];
    let still = memory.ran(&[&verify[..], &LEAD[..]].concat());
    assert!(still.code == 1 && still.stderr.contains("it still waits"), "{still:?}");
    tamper(&memory.data(), damaged, sound);
    let done = memory.ran(&[&verify[..], &LEAD[..]].concat());
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("it does not wait any more"), "{done:?}");
}

#[test]
fn an_answer_to_a_live_question_ends_its_item() {
    let sessions = Sessions::new();
    let session = sessions.ask("Deploy 3.0?", &contract(), &json!({"version": "3"}));
    let sessions = sessions.served();
    let data = sessions.data();
    let list = listed(&data);
    assert_eq!(kinds(&list), ["live.ask"], "{list}");
    let name = handle(&items(&list)[0]).to_owned();
    let shown = inbox(&data, &["show", &name]).yes();
    assert!(shown.contains(&format!("accord live answer {session} approve")), "{shown}");
    let fields = ["do", &name, "approve", "--", "--field", "version=3"];
    let answered = inbox(&data, &fields);
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(inbox(&data, &["--count"]).yes(), "0\n");
}

#[test]
fn the_list_is_followed() {
    let memory = Memory::reached(Way::Socket);
    let mut command = bare(&["inbox", "watch", "--count", "2", "--json"]);
    command.env("ACCORD_DATA", memory.data()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("accord starts");
    let id = memory.deposit("Schema", &["--status", "draft"]);
    // Until the follower has said what there was, or this is what it says.
    wait_for("a change", || {
        memory.ran(&["context", "flag", &id, "--review", "human"]).yes();
        Some(())
    });
    memory.deposit("Plan", &["--question", "Which tax applies?"]);
    let output = output_of(child, "accord inbox watch");
    let lines = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1]["counts"]["total"].as_u64() > lines[0]["counts"]["total"].as_u64());
}

#[test]
fn the_status_says_that_nobody_is_told() {
    let memory = Memory::new();
    let id = memory.deposit("Schema", &["--status", "draft"]);
    let settings = "[notify]\nurl = \"http://127.0.0.1:1/\"\ngroup = \"1ms\"\n";
    std::fs::write(memory.data().join("accord.toml"), settings).expect("written");
    let memory = memory.served(Way::Socket);
    memory.ran(&["context", "flag", &id, "--review", "human"]).yes();
    wait_for("the failure", || {
        let said = memory.ran(&["status"]);
        said.stdout.contains("notifications do not reach 1 receiver").then_some(())
    });
}

#[test]
fn two_commands_that_add_rules_at_once_lose_none() {
    let memory = Memory::new();
    memory.deposit("Schema", &[]);
    let add = |number: usize| {
        let name = format!("rule-{number}");
        let mut command = bare(&["notify", "add", &name, "--format", "mail"]);
        command.env("ACCORD_DATA", memory.data()).env("ACCORD_ACTOR", "human:lead");
        command
    };
    let added: Vec<_> = (0..6).map(|number| add(number).spawn().expect("it starts")).collect();
    for mut child in added {
        assert!(child.wait().expect("it ends").success());
    }
    let mut command = bare(&["notify", "list", "--json"]);
    command.env("ACCORD_DATA", memory.data()).env("ACCORD_ACTOR", "human:lead");
    let list: Value = serde_json::from_str(carried_out(&run(command, ""))).expect("JSON");
    assert_eq!(list["rules"].as_array().map(Vec::len), Some(6), "{list}");
}

#[test]
fn the_state_of_a_folder_is_ten_lines() {
    let memory = Memory::new();
    let place = tempfile::tempdir().expect("a folder");
    let status = || {
        let mut command = bare(&["status"]);
        command.env("ACCORD_DATA", memory.data()).env("ACCORD_ACTOR", "human:lead");
        command.current_dir(place.path());
        carried_out(&run(command, "")).to_owned()
    };
    assert!(status().contains("none yet"), "{}", status());
    let id = memory.deposit("Schema", &["--status", "draft", "--question", "Why?"]);
    memory.ran(&["context", "flag", &id, "--review", "human"]).yes();
    let said = status();
    for line in ["project  shop", "memory   1 package", "inbox    2 items for you", "no server"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(said.contains("$ accord inbox show "), "{said}");
    assert!(said.lines().count() <= 10, "{said}");
}

#[test]
fn what_a_person_must_do_for_a_run_is_in_the_inbox_of_its_folder() {
    let place = Place::begun();
    let inbox = |words: &[&str]| {
        let mut typed = bare(&[&["inbox"], words].concat());
        typed.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
        typed.env("ACCORD_ACTOR", "human:lead");
        carried_out(&run(typed, "")).to_owned()
    };
    let only = || {
        let list: Value = serde_json::from_str(&inbox(&["--json"])).expect("JSON");
        assert_eq!(
            (list["items"].as_array().map(Vec::len), inbox(&["--count"]).trim()),
            (Some(1), "1")
        );
        list["items"][0].clone()
    };
    assert_eq!(only()["words"], "pm");
    place.run("assign pm").yes();
    let assigned = only();
    assert_eq!((&assigned["kind"], &assigned["urgency"]), (&"run.turn".into(), &3.into()));
    place.run("dispatch").yes();
    assert_eq!(only()["id"], assigned["id"], "the turn still waits for the person");
    let shown = inbox(&["show", handle(&assigned)]);
    assert!(shown.contains("PROMPT.md") && shown.contains("stage --note TEXT"), "{shown}");
    inbox(&["do", handle(&assigned), "stage", "--note", "nothing to plan"]);
    // Another turn is due when it is accepted.
    inbox(&["do", handle(&assigned), "accept"]);
    assert_ne!(only()["id"], assigned["id"]);
}

#[test]
fn a_server_names_no_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("made");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one");
    let agent = format!("touch '{}'", made.display());
    let verb = json!({
        "name": "approve", "about": "Approve it", "scope": "review", "needs_note": false,
        "can_be_undone": false, "command": ["accord", "task", "work", "--agent", agent, "--once"],
    });
    let item = json!({
        "id": "task.review:shop:TASK-2026-11-15-001:0", "handle": "abcdef0123",
        "kind": "task.review", "project_id": "shop", "subject": "TASK-2026-11-15-001",
        "title": "a review", "since": "2026-11-15T08:00:00Z", "urgency": 3, "reason": "it waits",
        "behind": 0, "verbs": [verb], "evidence": [],
    });
    let answer = json!({
        "ok": true, "correlationId": "0", "item": item,
        "protocol": {"protocol_version": "1.1", "capabilities": []},
    });
    let server = std::thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().expect("the command comes");
            let (first, _) = request(&stream);
            if first.starts_with("END ") {
                return;
            }
            let answer = answer.to_string();
            let head = "content-type: application/json\r\nconnection: close\r\ncontent-length:";
            // A command that gave up has gone.
            let _ = write!(stream, "HTTP/1.1 200 X\r\n{head} {}\r\n\r\n{answer}", answer.len());
        }
    });
    let url = format!("http://{address}");
    let ran = run(bare(&["inbox", "do", "abcdef0123", "approve", "--url", &url]), "");
    let shown = run(bare(&["inbox", "show", "abcdef0123", "--url", &url]), "");
    let mut stream = TcpStream::connect(address).expect("the server");
    write!(stream, "END /\r\n\r\n").expect("it listens");
    server.join().expect("the server ends");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("$ accord task approve TASK-2026-11-15-001"), "{ran:?}");
    assert!(!made.exists(), "{ran:?}");
    assert!(shown.stdout.contains("$ accord task approve TASK-2026-11-15-001"), "{shown:?}");
    assert!(!shown.stdout.contains("touch"), "{shown:?}");
}
