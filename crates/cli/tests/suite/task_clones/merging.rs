//! Both clones changed the same task, or created one with the same id.

use std::fs;

use serde_json::Value;

use super::report;
use crate::accord::run;
use crate::clones::{Clones, try_git};

#[test]
fn a_persons_decision_wins_over_a_later_edit() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    one.yes(&format!("close {id} --yes --note 'by hand'"));
    one.sync();
    two.yes(&format!("edit {id} --title 'Later'"));
    two.yes(&format!("claim {id} --as builder"));
    two.git("add -A");
    two.git("commit -qm claimed");
    // Whether git finds a conflict depends on how much of the file changed.
    let _ = try_git(&two.path, &["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    let lint = two.ran("lint");
    assert!(lint.code == 1 && lint.stdout.contains("accord task merge"), "{lint:?}");
    // Whose decision it is, a person confirms first.
    let refused = two.ran("merge");
    assert!(refused.code == 1 && refused.stdout.contains("adopt --writer"), "{refused:?}");
    two.confirms(&one);
    // A trial changes nothing.
    let before = two.dirty();
    assert!(two.yes("merge --dry-run").contains("a person decided"), "no decision");
    assert_eq!(two.dirty(), before);
    two.yes("merge");
    two.git("add -A");
    two.git("commit -qm merged");
    two.git("push -q origin HEAD:main");
    assert_eq!(two.status(&id), "done");
    two.lints_clean();
    // What lost is in the log.
    let text: String = fs::read_dir(two.path.join("events"))
        .expect("events")
        .flatten()
        .filter_map(|it| fs::read_to_string(it.path()).ok())
        .collect();
    assert!(text.contains("task.merged") && text.contains("title: Later"), "{text}");
    // The decision was made elsewhere.
    let shown = two.yes(&format!("show {id}"));
    assert!(shown.contains("not verified here"), "{shown}");
    one.git("pull -q origin main");
    assert!(!one.yes(&format!("show {id}")).contains("not verified here"));
    one.lints_clean();
}

#[test]
fn two_tasks_of_one_id() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let of_one = one.create("'Of one' --ready");
    let of_two = two.create("'Of two' --ready");
    assert_eq!(of_one, of_two);
    let waits = two.create(&format!("'Waits for two' --after {of_two}"));
    one.sync();
    two.sync();
    one.sync();
    for clone in [&one, &two] {
        assert_eq!(clone.id("Of one"), of_one);
        let renumbered = clone.id("Of two");
        assert_ne!(renumbered, of_one);
        let shown = clone.json(&format!("show {renumbered}"));
        assert_eq!(shown["task"]["metadata"]["formerIds"], serde_json::json!([of_two]));
        let shown = clone.json(&format!("show {waits}"));
        assert_eq!(shown["task"]["depends_on"][0]["id"], renumbered.as_str());
        clone.lints_clean();
    }
}

#[test]
fn a_merge_that_nobody_finished_is_said() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.create("'Of one' --ready");
    assert_eq!(two.create("'Of two' --ready"), id);
    // Git finds no conflict.
    two.yes(&format!("block {id} 'no keys'"));
    two.commit();
    one.push();
    assert!(two.pull());
    let words = ["list", "board --once", "poll", "work --agent true --as x --role none --drain"];
    for words in words.map(str::to_owned).into_iter().chain([format!("show {id}")]) {
        let ran = two.ran(&words);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("accord task merge"), "{words}: {said}");
        assert!(!said.contains("damaged"), "{words}: {said}");
    }
    two.confirms(&one);
    two.yes("merge");
    assert!(!two.yes("poll").contains("accord task merge"));
}

#[test]
fn the_work_of_a_task_follows_it_to_another_id() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let of_one = one.create("'Of one' --ready");
    let of_two = two.create("'Of two' --ready");
    assert_eq!(of_one, of_two);
    two.yes(&format!("claim {of_two} --as builder"));
    fs::write(two.path.join(format!("tasks/in-progress/{of_two}/outputs/made.txt")), "made")
        .expect("an output");
    run(two.command("message"), report(&of_two, "builder", None, "mine"));
    one.sync();
    two.sync();
    one.sync();
    for clone in [&one, &two] {
        let shown = clone.json(&format!("show {}", clone.id("Of two")));
        assert_eq!(shown["outputs"][0]["path"], "outputs/made.txt", "{shown}");
        assert_eq!(shown["task"]["run"]["agent"], "builder", "{shown}");
        let shown = clone.json(&format!("show {of_one}"));
        assert_eq!(shown["outputs"], serde_json::json!([]), "{shown}");
        assert_eq!(shown["task"]["run"], Value::Null, "{shown}");
        clone.lints_clean();
    }
}

#[test]
fn a_rebase_in_which_git_mixes_two_tasks() {
    let (_clones, one, two) = Clones::with(&["First", "Second"]);
    let id = one.id("First");
    two.create("'Of two' --ready");
    two.yes(&format!("block {id} waiting"));
    two.git("add -A");
    two.git("commit -qm two");
    one.create("'Of one' --ready");
    one.yes(&format!("cancel {id} --reason no"));
    one.sync();
    // The files are alike: git takes the new task of one side for the renamed one of the other.
    let pulled = try_git(&two.path, &["pull", "-q", "--rebase", "origin", "main"]);
    assert_ne!(pulled.code, 0, "{pulled:?}");
    two.confirms(&one);
    two.yes("merge");
    // A second one finds nothing.
    assert_eq!(two.yes("merge"), "nothing to merge\n");
    two.git("add -A");
    two.git("-c core.editor=true rebase --continue");
    two.lints_clean();
    // Nor does one after the rebase.
    assert_eq!(two.yes("merge"), "nothing to merge\n");
    assert_eq!(two.status(&id), "cancelled");
    for title in ["Of one", "Of two", "Second"] {
        assert_eq!(two.status(&two.id(title)), "ready", "{title}");
    }
    two.git("push -q origin HEAD:main");
    one.git("pull -q origin main");
    one.lints_clean();
}

#[test]
fn random_ids_need_no_merge() {
    let (_clones, one, two) = Clones::with(&[]);
    let said = one.yes("init --root . --ids random");
    assert!(said.contains("readers by the pattern"), "{said}");
    one.sync();
    two.git("pull -q origin main");
    let (of_one, of_two) = (one.create("'Of one'"), two.create("'Of two'"));
    assert_ne!(of_one, of_two);
    one.sync();
    two.git("add -A");
    two.git("commit -qm two");
    two.git("pull -q --no-rebase --no-edit origin main");
    assert_eq!(two.yes("merge"), "nothing to merge\n");
    two.lints_clean();
}

#[test]
fn both_sides_of_one_task_keep_what_they_said() {
    let (_clones, one, two) = Clones::with(&["First", "Second"]);
    let (first, second) = (one.id("First"), one.id("Second"));
    two.yes(&format!("comment {first} 'use nom'"));
    two.yes(&format!("edit {second} --due 2999-01-01"));
    two.sync();
    // Its file moves and changes a lot, beside new tasks that look like it.
    one.yes(&format!("block {first} 'no keys for the registry, and nobody knows who has them'"));
    one.yes(&format!("comment {first} 'or serde'"));
    one.yes(&format!("edit {second} --priority high"));
    for title in ["Third", "Fourth"] {
        one.create(&format!("{title} --ready"));
    }
    one.sync();
    let tasks = one.json("list --all --limit 500");
    assert_eq!(tasks["total"], 4, "{tasks}");
    let shown = one.json(&format!("show {first}"));
    let said = shown["task"]["comments"].as_array().expect("comments");
    let said: Vec<&str> = said.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(said, ["use nom", "or serde"]);
    assert_eq!(shown["task"]["status"], "blocked");
    let shown = one.json(&format!("show {second}"));
    assert_eq!(shown["task"]["due"], "2999-01-01");
    assert_eq!(shown["task"]["priority"], "high");
    one.lints_clean();
    two.git("pull -q origin main");
    two.lints_clean();
}

#[test]
fn the_agent_that_lost_its_task_in_a_merge_reports_in_vain() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    let claimed = two.json(&format!("claim {id} --as late"));
    let run_id = claimed["run_id"].as_str().expect("a run").to_owned();
    two.git("add -A");
    two.git("commit -qm claimed");
    one.yes(&format!("claim {id} --as builder"));
    run(one.command("message"), report(&id, "builder", None, "mine"));
    one.sync();
    let _ = try_git(&two.path, &["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    two.yes("merge");
    assert_eq!(two.status(&id), "review");
    let result = two.path.join(format!("runs/{id}/run_result.json"));
    let before = fs::read_to_string(&result).expect("a report");
    assert!(before.contains("mine"), "{before}");
    let late = run(two.command("message"), report(&id, "late", Some(&run_id), "late"));
    assert!(late.code != 0, "{late:?}");
    assert_eq!(fs::read_to_string(&result).expect("a report"), before);
    assert!(two.yes(&format!("show {id}")).contains("done by builder"));
}

#[test]
fn fifty_operations_in_each_clone_merged_ten_times() {
    let (_clones, one, two) = Clones::with(&[]);
    let mut titles = Vec::new();
    for round in 0..10 {
        for (clone, name) in [(&one, "one"), (&two, "two")] {
            let mut mine = Vec::new();
            for number in 0..2 {
                let title = format!("{name} {round} {number}");
                mine.push(clone.create(&format!("'{title}' --ready")));
                titles.push(title);
            }
            // An own new task, and one that both know.
            clone.yes(&format!("block {} 'no keys'", mine[0]));
            clone.yes(&format!("claim {} --as builder-{name}", mine[1]));
            let known =
                titles.iter().find(|title| title.starts_with(&format!("one {}", round / 2)));
            let shared = known.filter(|_| round > 0).map(|title| clone.id(title));
            match shared {
                Some(id) => clone.yes(&format!("edit {id} --title '{}'", known.expect("a title"))),
                None => clone.yes(&format!("edit {} --priority low", mine[0])),
            };
        }
        one.sync();
        two.sync();
        one.sync();
    }
    two.git("pull -q origin main");
    for clone in [&one, &two] {
        let list = clone.json("list --all --limit 500");
        assert_eq!(list["total"], titles.len(), "{list}");
        titles.iter().for_each(|title| drop(clone.id(title)));
        clone.yes("poll");
        clone.lints_clean();
        assert_eq!(clone.dirty(), "");
    }
    // No event was lost: every number of each writer is there once.
    let mut writers: std::collections::BTreeMap<String, Vec<u64>> = Default::default();
    for entry in fs::read_dir(two.path.join("events")).expect("events").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        let Some(writer) = name.strip_suffix(".jsonl").and_then(|it| it.split_once('.')) else {
            continue;
        };
        let text = fs::read_to_string(entry.path()).expect("a log");
        let numbers = text.lines().map(|line| {
            let event: Value = serde_json::from_str(line).expect("an event");
            event["eventId"].as_u64().expect("a number")
        });
        writers.entry(writer.1.to_owned()).or_default().extend(numbers);
    }
    assert_eq!(writers.len(), 2, "{writers:?}");
    for numbers in writers.values_mut() {
        numbers.sort_unstable();
        let first = numbers[0];
        let all: Vec<u64> = (first..first + numbers.len() as u64).collect();
        assert_eq!(*numbers, all);
        assert!(numbers.len() >= 50, "{}", numbers.len());
    }
}
