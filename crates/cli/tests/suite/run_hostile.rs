//! Input that means harm, through the command: it gets its code, and changes nothing but what
//! records it.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::run_place::{Place, result};
use crate::wait::wait_until;

const STATE: &str = ".agentxchain/state.json";
const HISTORY: &str = ".agentxchain/history.jsonl";
const RECORDS: [&str; 4] =
    [HISTORY, ".agentxchain/decision-ledger.jsonl", ".agentxchain/repo-decisions.jsonl", "TALK.md"];

#[test]
fn what_is_staged_instead_of_a_result_gets_its_code() {
    let place = Place::begun();
    let handed = place.hand_out("pm");
    let staging = place.at(handed["staging"].as_str().expect("a path"));
    let folder = staging.parent().expect("a folder").to_owned();
    std::fs::create_dir_all(&folder).expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let secret = elsewhere.path().join("secret");
    std::fs::write(&secret, "{\"secret\": 1}").expect("a file");
    let sound = result(&handed["turn"], &handed["runtime_id"], &[]);
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let tricks: [(&str, &str, &dyn Fn()); 11] = [
        ("200 MB", "file_too_large", &|| {
            let file = File::create(&staging).expect("a file");
            file.set_len(200_000_000).expect("a length");
        }),
        ("deep JSON", "validation_failed", &|| write(&staging, &deep)),
        ("no UTF-8", "validation_failed", &|| {
            std::fs::write(&staging, b"{\"a\": \"\xff\"}").expect("a file");
        }),
        ("wrong types", "validation_failed", &|| {
            let mut wrong = sound.clone();
            for (_, member) in wrong.as_object_mut().expect("an object") {
                *member = match member {
                    Value::Array(_) => json!({"0": []}),
                    Value::Object(_) => json!([1]),
                    _ => json!([{"a": null}]),
                };
            }
            write(&staging, &wrong.to_string());
        }),
        ("the result of another turn", "validation_failed", &|| {
            let mut other = sound.clone();
            other["turn_id"] = json!("turn_0000000000000000");
            write(&staging, &other.to_string());
        }),
        ("a link out of the repository", "path_outside_repository", &|| {
            symlink(&secret, &staging).expect("a link");
        }),
        ("a link upwards", "path_outside_repository", &|| {
            symlink("../../../../secret", &staging).expect("a link");
        }),
        ("a link to a device", "path_outside_repository", &|| {
            symlink("/dev/zero", &staging).expect("a link");
        }),
        ("a link to a folder", "not_a_file", &|| {
            symlink("../../dispatch", &staging).expect("a link");
        }),
        ("a pipe", "not_a_file", &|| {
            let made = Command::new("mkfifo").arg(&staging).status();
            assert!(made.expect("mkfifo is there").success());
        }),
        ("a folder", "not_a_file", &|| {
            std::fs::create_dir(&staging).expect("a folder");
        }),
    ];
    for (what, code, put) in tricks {
        put();
        refused(&place, "accept", code, what);
        match staging.is_dir() && !staging.is_symlink() {
            true => std::fs::remove_dir(&staging).expect("it is still there"),
            false => std::fs::remove_file(&staging).expect("it is still there"),
        }
    }
    // The folder that it lies in is a link, too.
    std::fs::remove_dir(&folder).expect("it is empty");
    std::fs::write(elsewhere.path().join("turn-result.json"), sound.to_string()).expect("a file");
    symlink(elsewhere.path(), &folder).expect("a link");
    refused(&place, "accept", "path_outside_repository", "a linked folder");
    std::fs::remove_file(&folder).expect("it is still there");
    assert_eq!(std::fs::read(&secret).expect("a file"), b"{\"secret\": 1}");
    // The turn can be done after all.
    place.write("work.txt", "done\n");
    let sound = result(&handed["turn"], &handed["runtime_id"], &["work.txt"]);
    place.write(handed["staging"].as_str().expect("a path"), &sound.to_string());
    place.run("accept").yes();
}

#[test]
fn paths_that_leave_the_repository_are_refused_in_every_spelling() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::fs::write(elsewhere.path().join("file"), "kept").expect("a file");
    let place = Place::begun();
    symlink(elsewhere.path(), place.at("out")).expect("a link");
    place.commit();
    let handed = place.hand_out("pm");
    let staging = handed["staging"].as_str().expect("a path");
    place.write("work.txt", "done\n");
    let absolute = elsewhere.path().join("file").display().to_string();
    for path in [
        "../file",
        "src/../../file",
        "./../file",
        absolute.as_str(),
        "out",
        "out/file",
        "./.agentxchain/state.json",
        ".git/hooks/pre-commit",
        "a\\..\\..\\b",
        "nul\u{0}",
        "",
    ] {
        for listed in ["files_changed", "proposed_changes"] {
            let mut result = result(&handed["turn"], &handed["runtime_id"], &["work.txt"]);
            match listed {
                "files_changed" => result[listed] = json!(["work.txt", path]),
                _ => result[listed] = json!([{"path": path, "action": "create", "content": "x"}]),
            }
            place.write(staging, &result.to_string());
            let code = match path {
                "out" | "out/file" => "path_outside_repository",
                _ => "validation_failed",
            };
            let answer = refused(&place, "accept", code, &format!("{listed}: {path:?}"));
            let names_it = answer.to_string().contains(&json!(path).to_string().replace('"', ""));
            assert!(names_it, "{listed}: {path:?}: {answer}");
        }
    }
    assert_eq!(std::fs::read_to_string(elsewhere.path().join("file")).expect("a file"), "kept");
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 1);
}

#[test]
fn damaged_files_are_named_and_never_overwritten() {
    let place = Place::begun();
    place.work("pm", &[], |_| {});
    let sound = place.read(STATE);
    let commands =
        ["accept", "reject --reason no", "assign pm", "escalate --reason x", "start --restart"];
    for (path, text, code) in [
        (STATE, &sound[..sound.len() / 2], "state_invalid"),
        (STATE, "", "state_invalid"),
        (STATE, "[]", "state_invalid"),
        (HISTORY, "{\"turn_id\": \"tu\n{\"a\": 1}\n", "record_invalid"),
    ] {
        let before = place.read(path);
        place.write(path, text);
        for command in commands {
            let ran = place.run(&format!("{command} --json"));
            if path == HISTORY && ran.code == 0 {
                // Not every command asks for the history.
                continue;
            }
            let answer: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
            if path == STATE || command == "accept" {
                assert_eq!(answer["code"], code, "{command}: {answer}");
                assert!(answer["error"]["message"].to_string().contains(path), "{answer}");
            }
            assert_eq!(place.read(path), text, "{command}");
        }
        let doctor = place.run("doctor");
        assert_eq!(doctor.code, 1, "{doctor:?}");
        assert!(doctor.stdout.contains(path), "{doctor:?}");
        place.write(path, &before);
        place.write(STATE, &sound);
    }
}

#[test]
fn a_line_that_was_cut_off_is_passed_over_and_cut_away() {
    let place = Place::begun();
    place.write("work.txt", "done\n");
    place.commit();
    let turn = place.work("pm", &["work.txt"], |_| {});
    place.write("work.txt", "more\n");
    place.write(HISTORY, "{\"turn_id\": \"turn_torn\", \"summ");
    assert_eq!(place.run("history").yes().matches("turn_torn").count(), 0);
    place.run("accept").yes();
    let history = place.read(HISTORY);
    assert_eq!(history.lines().count(), 1, "{history}");
    assert!(history.contains(&turn) && !history.contains("turn_torn"), "{history}");
}

#[test]
fn a_hook_that_forks_or_prints_for_ever_is_ended_and_refuses() {
    for (what, line) in [
        ("forks", "echo $$ > group; while :; do sleep 30 & sleep 0.05; done"),
        ("prints 1 GB", "echo $$ > group; head -c 1000000000 /dev/zero"),
        ("shouts 1 GB", "echo $$ > group; head -c 1000000000 /dev/zero >&2; sleep 30"),
    ] {
        let place = Place::begun_with(|config| {
            config["hooks"] = json!({"before_assignment": [{"name": "evil", "type": "process",
                "command": ["/bin/sh", "-c", line], "timeout_ms": 3000, "mode": "blocking"}]});
        });
        let before = records(&place);
        let answer: Value =
            serde_json::from_str(&place.run("assign pm --json").stdout).expect("JSON");
        assert_eq!(answer["code"], "hook_blocked", "{what}: {answer}");
        assert_eq!(records(&place), before, "{what}");
        let group = place.read("group");
        wait_until("the end of the hook's process group", || !is_at_work(group.trim()));
        let audit = place.read(".agentxchain/hook-audit.jsonl");
        assert_eq!(audit.lines().count(), 1, "{what}: {audit}");
        assert!(audit.len() < 40_000, "{what}: what it printed is not kept");
        let state: Value = serde_json::from_str(&place.read(STATE)).expect("a state");
        assert_eq!(state["status"], "blocked", "{what}");
    }
}

/// Whether a process of the group still runs; one that nobody has fetched yet does not.
fn is_at_work(group: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("the system tells of its processes");
    let stats = processes.filter_map(|entry| {
        let stat = entry.ok()?.path().join("stat");
        let text = std::fs::read_to_string(stat).ok()?;
        // The name in parentheses may hold anything; what is wanted comes behind it.
        Some(text.rsplit_once(')')?.1.trim_start().to_owned())
    });
    let mut stats = stats.map(|text| text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    stats.any(|stat| stat[0] != "Z" && stat[2] == group)
}

/// Types a command that must be refused, and makes sure that no record changed.
#[track_caller]
fn refused(place: &Place, words: &str, code: &str, what: &str) -> Value {
    let before = records(place);
    let ran = place.run(&format!("{words} --json"));
    assert_eq!(ran.code, 2, "{what}: {ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
    if !code.is_empty() {
        assert_eq!(answer["code"], code, "{what}: {answer}");
    }
    assert_eq!(records(place), before, "{what}");
    answer
}

fn records(place: &Place) -> Vec<String> {
    RECORDS.iter().map(|path| place.read(path)).collect()
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file");
}
