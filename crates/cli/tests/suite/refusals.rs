//! What a program reads when a command refuses.

use serde_json::Value;

use crate::accord::{Ran, accord, run};
use crate::help::{commands, help};
use crate::memory::bare;

/// A refusal of every command that has --json: the command, the rest of its arguments, and its
/// input. The current folder is empty.
const REFUSED: &[(&str, &str, &str)] = &[
    ("codes", "NO_SUCH_CODE", ""),
    ("config show", "--set no.such=1", ""),
    ("config trust", "--data nowhere", ""),
    ("context answer", "q a --project p --actor agent:a", ""),
    ("context ask", "Q --project p --actor agent:a", ""),
    ("context complete", "pkg --project p", ""),
    ("context deposit", "- --project p --actor agent:a", "{"),
    ("context digest", "", ""),
    ("context export", "--project p --output out", ""),
    ("context flag", "pkg --review human", ""),
    ("context import", "nowhere.ndjson", ""),
    ("context orient", "--project p", ""),
    ("context pull", "", ""),
    ("context questions", "--project p", ""),
    ("context resubmit", "pkg", ""),
    ("context review", "pkg complete", ""),
    ("context verify", "", ""),
    ("fact assert", "a b c", ""),
    ("fact invalidate", "a b --project p", ""),
    ("fact list", "--project p", ""),
    ("kb cid", "", "{\"a\":1,\"a\":2}"),
    ("kb explain", "no-such-file", ""),
    ("kb hash", "", "["),
    ("kb verify", "", "{}"),
    ("key create", "--label l", ""),
    ("key list", "--url http://127.0.0.1:1", ""),
    ("key revoke", "k", ""),
    ("notify add", "phone --format json --to-url http://127.0.0.1:1/ --actor human:a", ""),
    ("notify list", "--actor agent:coder", ""),
    ("notify remove", "phone --actor human:a", ""),
    ("person add", "lead --email nowhere", ""),
    ("person change", "lead --no-email", ""),
    ("person link", "lead --item none", ""),
    ("person list", "--url http://127.0.0.1:1", ""),
    ("person remove", "lead", ""),
    ("project archive", "p", ""),
    ("project create", "p --data /proc/nowhere", ""),
    ("project link", "p --tasks nowhere", ""),
    ("project links", "", ""),
    ("project list", "", ""),
    ("project remove", "p", ""),
    ("project rename", "p q", ""),
    ("project restore", "p", ""),
    ("project show", "p", ""),
    ("project unlink", "p", ""),
    ("project use", "p --url http://127.0.0.1:1", ""),
    ("run accept", "", ""),
    ("run adopt", "", ""),
    ("run approve-completion", "", ""),
    ("run approve-transition", "", ""),
    ("run assign", "", ""),
    ("run checkpoint", "", ""),
    ("run coordinator approve-gate", "", ""),
    ("run coordinator init", "", ""),
    ("run coordinator resync", "", ""),
    ("run coordinator send-back", "--reason r", ""),
    ("run coordinator status", "", ""),
    ("run coordinator step", "", ""),
    ("run decisions", "", ""),
    ("run dispatch", "", ""),
    ("run doctor", "--repo nowhere", ""),
    ("run escalate", "--reason r", ""),
    ("run events", "", ""),
    ("run history", "", ""),
    ("run init", "--agent \"'\"", ""),
    ("run loop", "", ""),
    ("run proposal apply", "turn_1", ""),
    ("run proposal drop", "turn_1", ""),
    ("run proposal list", "", ""),
    ("run proposal show", "turn_1", ""),
    ("run reissue", "--reason r", ""),
    ("run reject", "--reason r", ""),
    ("run resolve", "", ""),
    ("run send-back", "--reason r", ""),
    ("run stage", "--summary s", ""),
    ("run start", "", ""),
    ("run status", "--repo nowhere", ""),
    ("run step", "", ""),
    ("decisions", "", ""),
    ("inbox assign", "abcd --to human:lead --actor human:a", ""),
    ("inbox claim", "abcd --actor human:a", ""),
    ("inbox do", "abcd approve", ""),
    ("inbox release", "abcd --actor human:a", ""),
    ("inbox show", "abcd", ""),
    ("inbox snooze", "abcd --actor human:a", ""),
    ("inbox wake", "abcd --actor human:a", ""),
    ("inbox watch", "", ""),
    ("edge status", "", ""),
    ("join", "http://127.0.0.1:1 --project p", ""),
    ("leave", "", ""),
    ("project edges", "--project p", ""),
    ("project runs", "--project p", ""),
    ("status", "--url http://127.0.0.1:1", ""),
    ("session end", "s", ""),
    ("session list", "", ""),
    ("session start", "--project p --data /proc/nowhere", ""),
    ("store backup", "to", ""),
    ("store compact", "", ""),
    ("store repair", "", ""),
    ("store restore", "from", ""),
    ("store trim", "--days 1", ""),
    ("live answer", "live_1 approve --project p", ""),
    ("live answers", "--project p", ""),
    ("live ask", "Q --form nowhere --project p", ""),
    ("live list", "--project p", ""),
    ("live open", "live_1 --project p", ""),
    ("live watch", "live_1 --project p", ""),
    ("task adopt", "TASK-1 --project p", ""),
    ("task approve", "TASK-1 --project p", ""),
    ("task block", "TASK-1 why --project p", ""),
    ("task board", "--project p", ""),
    ("task cancel", "TASK-1 --project p", ""),
    ("task check", "TASK-1 --project p", ""),
    ("task claim", "--as a --project p", ""),
    ("task close", "TASK-1 --project p", ""),
    ("task comment", "TASK-1 text --project p", ""),
    ("task create", "t --project p --data /proc/nowhere", ""),
    ("task dep add", "TASK-1 TASK-2 --project p", ""),
    ("task dep remove", "TASK-1 TASK-2 --project p", ""),
    ("task edit", "TASK-1 --project p", ""),
    ("task heartbeat", "TASK-1 --as a --project p", ""),
    ("task init", "--project p --data /proc/nowhere", ""),
    ("task lint", "--project p", ""),
    ("task list", "--project p", ""),
    ("task merge", "--project p", ""),
    ("task message", "--project p", ""),
    ("task outputs", "TASK-1 --project p", ""),
    ("task poll", "--project p", ""),
    ("task promote", "TASK-1 --project p", ""),
    ("task release", "TASK-1 --as a --project p", ""),
    ("task reopen", "TASK-1 why --project p", ""),
    ("task resurrect", "TASK-1 --project p", ""),
    ("task send-back", "TASK-1 why --project p", ""),
    ("task session-end", "--project p", ""),
    ("task show", "TASK-1 --project p", ""),
    ("task unblock", "TASK-1 --project p", ""),
    ("task undelete", "TASK-1 --project p", ""),
    ("task watch", "--project p", ""),
    ("watch", "", ""),
    ("task work", "--agent true --as a --project p", ""),
];

#[test]
fn every_command_with_json_refuses_with_an_envelope() {
    let mut found = Vec::new();
    collect(&[], &mut found);
    let place = tempfile::tempdir().expect("a folder");
    for words in &found {
        let known = REFUSED.iter().find(|(command, ..)| command == words);
        let (_, args, input) = known.unwrap_or_else(|| panic!("add a refusal of {words}"));
        let args = shell_words::split(&format!("{words} {args} --json")).expect("words");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = bare(&args);
        command.current_dir(place.path());
        is_envelope(&args, run(command, input));
        // Arguments that the parser refuses.
        let wrong = [&args[..], &["--no-such-flag"]].concat();
        let envelope = is_envelope(&wrong, accord(&wrong, ""));
        assert_eq!(envelope["code"], "USAGE");
    }
    assert_eq!(found.len(), REFUSED.len(), "a command in the list has no --json");
    assert!(place.path().read_dir().expect("a folder").next().is_none(), "something was created");
}

#[test]
fn reports_as_json_refuse_with_an_envelope() {
    for args in [
        &["compat", "no-such-file", "none", "--format", "json"][..],
        &["check", "gopher", "--format=json"],
    ] {
        is_envelope(args, accord(args, ""));
    }
}

/// The refusal of a command is a document on standard output with the code of the message.
#[track_caller]
fn is_envelope(args: &[&str], ran: Ran) -> Value {
    assert_eq!(ran.code, 2, "{args:?} {ran:?}");
    let envelope: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error} in {ran:?}"));
    let code = ran.stderr.split_whitespace().next();
    assert_eq!(envelope["ok"], false, "{args:?} {envelope}");
    assert_eq!(envelope["error"]["code"].as_str(), code, "{args:?} {envelope}");
    assert_eq!(envelope["code"], envelope["error"]["code"], "{args:?} {envelope}");
    for member in ["type", "message", "suggestion"] {
        assert!(envelope["error"][member].is_string(), "{args:?} {member} {envelope}");
    }
    envelope
}

/// Adds the commands that have --json.
fn collect(words: &[&str], found: &mut Vec<String>) {
    let shown = help(words);
    let below = commands(&shown);
    for name in &below {
        collect(&[words, &[name]].concat(), found);
    }
    if below.is_empty() && shown.contains("--json") {
        found.push(words.join(" "));
    }
}
