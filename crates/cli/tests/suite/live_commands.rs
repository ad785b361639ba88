//! Each command of `accord live`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::accord::run;
use crate::live_place::{Sessions, contract};
use crate::memory::bare;
use crate::terminal::at_terminal_with;

fn release(sessions: &Sessions) -> String {
    sessions.ask("approve the release", &contract(), &json!({"version": "3.0"}))
}

#[test]
fn what_a_session_asks_is_listed_and_answered() {
    let sessions = Sessions::new();
    let said = sessions.ran("list");
    assert!(said.stderr.contains("shop has no live sessions"), "{said:?}");
    let (first, second) = (release(&sessions), release(&sessions));
    let check = |sessions: &Sessions| {
        let listed = sessions.json("list");
        let listed = listed["sessions"].as_array().expect("a list").iter();
        let ids: Vec<&str> = listed.filter_map(|item| item["session_id"].as_str()).collect();
        assert!(ids.contains(&first.as_str()) && ids.contains(&second.as_str()), "{ids:?}");
        let asks = sessions.json("list --waiting");
        assert_eq!(asks["asks"][0]["intent"], "approve the release");
        assert_eq!(asks["asks"][0]["asked_by"]["id"], "painter");
    };
    // Without a host, and with one: the same.
    check(&sessions);
    let sessions = sessions.served();
    check(&sessions);
    let beginning = common(&first, &second);
    sessions.ran(&format!("answer {beginning} reject")).refused("ID_AMBIGUOUS");
    let wrong = sessions.ran(&format!("answer {first} approve --field version=x"));
    assert!(wrong.stderr.contains("expected integer as JSON"), "{wrong:?}");
    let wrong = sessions.ran(&format!("answer {first} approve --payload '{{\"version\":\"x\"}}'"));
    wrong.refused("CONTRACT_VIOLATION");
    sessions.ran(&format!("answer {first} decide")).refused("CONTRACT_VIOLATION");
    sessions.ran(&format!("answer {first} approve --payload '{{'")).refused("CANON_INVALID_JSON");
    let several = sessions.ran(&format!("answer {first}"));
    assert!(several.stderr.contains("its actions are approve, reject"), "{several:?}");
    let part = &first[..first.len() - 4];
    let acked = sessions.json(&format!("answer {part} approve --field version=3 --field note=4"));
    assert_eq!((&acked["sequence"], &acked["action"]), (&json!(3), &json!("approve")));
    let said = sessions.yes(&format!("answer {second} reject"));
    assert!(said.contains(&format!("recorded reject as event 3 of {second}")), "{said}");
    let waiting = sessions.ran("list --waiting");
    assert!(waiting.stderr.contains("no live session of shop waits"), "{waiting:?}");
    sessions.ran("answer no-such reject").refused("SESSION_NOT_FOUND");
    for list in ["list", "list --waiting"] {
        let wrong = sessions.ran(&format!("{list} --project shpo"));
        let said = wrong.refused("project_not_found");
        assert!(said.contains("there is no project \"shpo\""), "{said}");
    }
}

/// The common beginning of two texts.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    &one[..same]
}

#[test]
fn the_only_project_is_the_default_one() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let mut command = sessions.command("list --waiting");
    command.env_remove("ACCORD_PROJECT");
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains(&id), "{ran:?}");
    assert!(ran.stderr.contains("using the project shop"), "{ran:?}");
}

#[test]
fn a_terminal_asks_for_each_value() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let typed = [
        ("action: ", "1\n"),
        ("version (integer): ", "three\n"),
        ("version (integer): ", "3\n"),
        ("note (string), empty for none: ", "\n"),
    ];
    let answered = at_terminal_with(sessions.command(&format!("answer {id}")), &typed);
    assert_eq!(answered.code, 0, "{}", answered.shown);
    for part in [
        "approve the release",
        "3.0",
        "1  Approve (approve)",
        "2  Reject (reject)",
        "The version that you checked",
        "expected integer as JSON",
    ] {
        assert!(answered.shown.contains(part), "no {part} in {}", answered.shown);
    }
    assert!(answered.stdout.contains("recorded approve as event 3"), "{}", answered.stdout);
}

#[test]
fn a_worker_does_not_answer_as_a_person() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let mut command = sessions.command(&format!("answer {id} reject"));
    command.env("ACCORD_TASK_ID", "TASK-2026-01-01-001");
    run(command, "").refused("not_for_workers");
    assert_eq!(sessions.json("list --waiting")["asks"][0]["session_id"], id.as_str());
}

#[test]
fn what_needs_a_host_says_so() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    for words in [format!("open {id}"), format!("watch {id}")] {
        let ran = sessions.ran(&words);
        assert!(ran.stderr.contains("accord serve --data"), "{ran:?}");
        ran.refused("HOST_UNREACHABLE");
    }
}

#[test]
fn a_session_is_watched_while_a_person_answers() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let sessions = sessions.served();
    let mut command = sessions.command(&format!("watch {id} --json --count 3"));
    let mut watching = command.stdout(Stdio::piped()).spawn().expect("accord starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let mut next = move || -> Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("a frame")
    };
    assert_eq!(next()["type"], "x-ask");
    sessions.yes(&format!("answer {id} reject"));
    let event = next();
    assert_eq!(event["type"], "render_event", "{event}");
    assert_eq!(event["payload"]["data"]["payload"]["action"], "reject");
    assert_eq!(next()["type"], "x-answered");
    let ended = crate::wait::exit_of(&mut watching, "the watcher");
    assert!(ended.success());
    let from_first = sessions.yes(&format!("watch {id} --since 0 --from-seq 0 --count 4"));
    assert!(from_first.contains("user.submitted  reject"), "{from_first}");
}

#[test]
fn a_list_says_how_it_goes_on() {
    let sessions = Sessions::new();
    let (first, second) = (release(&sessions), release(&sessions));
    for list in ["list", "list --waiting"] {
        let page = sessions.ran(&format!("{list} --limit 1"));
        let (_, cursor) = page.stderr.split_once("there are more: --cursor ").expect("a cursor");
        let next = sessions.ran(&format!("{list} --limit 1 --cursor {}", cursor.trim()));
        let both = format!("{}{}", page.stdout, next.stdout);
        assert!(both.contains(&first) && both.contains(&second), "{list}: {both}");
        assert!(!next.stderr.contains("--cursor"), "{list}: {next:?}");
    }
}

#[test]
fn a_link_is_for_a_session_of_the_project() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let sessions = sessions.served();
    assert!(sessions.yes(&format!("open {id}")).contains(&format!("/live/{id}#t=")));
    sessions.ran(&format!("open {id} --project other")).refused("project_not_found");
    sessions.ran("open live_none").refused("SESSION_NOT_FOUND");
    sessions.ran("watch live_none").refused("SESSION_NOT_FOUND");
}

#[test]
fn the_key_of_a_person_answers_in_their_name() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let mut key = bare(&["key", "create", "--label", "lead", "--actor", "human:lead"]);
    key.env("ACCORD_DATA", sessions.data());
    let key = run(key, "");
    assert_eq!(key.code, 0, "{key:?}");
    let sessions = sessions.served();
    let url = std::fs::read_to_string(sessions.data().join("accord.url")).expect("an address");
    let with_key = |words: &str, actor: Option<&str>| {
        let mut command = sessions.command(words);
        command.env_remove("ACCORD_DATA").env_remove("ACCORD_ACTOR");
        command.env("ACCORD_URL", url.trim()).env("ACCORD_KEY", key.stdout.trim());
        command.envs(actor.map(|actor| ("ACCORD_ACTOR", actor)));
        run(command, "")
    };
    let answer = format!("answer {id} reject");
    with_key(&answer, Some("human:other")).refused("unauthorized");
    let answered = with_key(&answer, None);
    assert_eq!(answered.code, 0, "{answered:?}");
    let events = with_key(&format!("watch {id} --since 2 --count 1"), None);
    assert!(events.stdout.contains("reject  human:lead"), "{events:?}");
}

#[test]
fn an_answer_with_a_credential_is_accepted_with_a_warning() {
    let sessions = Sessions::new();
    let id = release(&sessions);
    let token = format!("ghp{}{}", "_", "uX9r2KpLq7TzBv4MwYc1Ns8Hd3Jf6GaEo5Ri");
    let words = format!("answer {id} approve --field version=3 --field note={token}");
    let ran = sessions.ran(&words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let warning = "warning: credential_found: note contains a token of GitHub";
    assert!(ran.stdout.contains(warning), "{ran:?}");
    assert!(!ran.stdout.contains(&token) && !ran.stderr.contains(&token), "{ran:?}");
}
