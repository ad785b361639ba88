//! Tasks that travel with git: two clones of one repository, used by two people.

mod merging;
mod trust;

use std::fs;

use crate::accord::run;
use crate::clones::{Clone, Clones, git};

#[test]
fn a_fresh_clone_is_read_without_a_trace() {
    let (clones, one, two) = Clones::with(&["First", "Second"]);
    let id = one.id("First");
    one.yes(&format!("claim {id} --as builder"));
    assert!(!one.dirty().contains("run.json"), "{}", one.dirty());
    one.sync();
    two.git("pull -q origin main");
    for words in ["list", "board", "lint", "watch --no-wait", &format!("show {id}")] {
        two.yes(words);
    }
    assert_eq!(two.dirty(), "");
    assert!(!two.path.join("state").exists());
    two.lints_clean();
    // A tree of which git carried no task.
    let (_clones, empty, other) = Clones::with(&[]);
    for folder in ["tasks", "events"] {
        fs::remove_dir_all(other.path.join(folder)).expect("removed");
    }
    other.yes("create 'The first' --ready");
    other.lints_clean();
    empty.yes("list");
    drop(clones);
}

#[test]
fn reading_after_a_checkout_writes_nothing() {
    let (_clones, one, _two) = Clones::with(&["First", "Second"]);
    let (first, second) = (one.id("First"), one.id("Second"));
    one.yes(&format!("block {first} 'no keys'"));
    one.yes(&format!("edit {second} --priority high"));
    one.git("add -A");
    one.git("commit -qm more");
    one.git("checkout -q HEAD~1");
    let shown = one.yes("list");
    assert!(!shown.contains("blocked"), "{shown}");
    one.yes(&format!("show {first}"));
    one.yes("board");
    assert_eq!(one.dirty(), "");
    one.git("checkout -q main");
    assert_eq!(one.status(&first), "blocked");
    assert_eq!(one.dirty(), "");
    one.lints_clean();
}

#[test]
fn work_on_other_tasks_merges_by_itself() {
    let (_clones, one, two) = Clones::with(&["First", "Second", "Third"]);
    let (first, second, third) = (one.id("First"), one.id("Second"), one.id("Third"));
    one.yes(&format!("claim {first} --as builder"));
    one.yes(&format!("edit {third} --priority high"));
    two.yes(&format!("block {second} 'no keys'"));
    one.sync();
    two.git("add -A");
    two.git("commit -qm blocked");
    two.git("pull -q --no-rebase --no-edit origin main");
    assert_eq!(two.dirty(), "");
    assert_eq!(two.yes("merge"), "nothing to merge\n");
    two.git("push -q origin HEAD:main");
    one.git("pull -q origin main");
    for clone in [&one, &two] {
        assert_eq!(clone.status(&first), "in-progress");
        assert_eq!(clone.status(&second), "blocked");
        clone.yes("poll");
        clone.lints_clean();
        // What came with git is no edit.
        assert_eq!(clone.dirty(), "");
    }
    let logs = fs::read_dir(one.path.join("events")).expect("events").flatten();
    assert_eq!(logs.filter(|it| it.path().extension().is_some_and(|it| it == "jsonl")).count(), 2);
}

#[test]
fn a_lease_of_another_copy_holds_nothing_here() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    one.yes(&format!("claim {id} --as builder"));
    one.sync();
    two.git("pull -q origin main");
    let refused = two.ran(&format!("heartbeat {id} --as builder"));
    assert!(refused.stderr.contains("task_needs_adopt"), "{refused:?}");
    // The scheduler of this copy leaves it alone, also with a later change.
    two.yes("create 'Another' --ready");
    two.yes("poll");
    assert_eq!(two.status(&id), "in-progress");
    two.lints_clean();
    // A person takes it.
    two.yes(&format!("block {id} 'taken over'"));
    two.yes(&format!("unblock {id}"));
    two.yes(&format!("claim {id} --as other"));
    assert_eq!(two.status(&id), "in-progress");
}

/// A task in review in both clones, and one that waits for it.
fn reviewed(one: &Clone, two: &Clone) -> (String, String) {
    let id = one.id("First");
    one.yes(&format!("create 'Next' --role dev --after {id}"));
    let next = one.id("Next");
    one.yes(&format!("claim {id} --as builder"));
    let report = serde_json::json!({
        "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
        "fromAgent": "builder", "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z",
        "payload": {"outcome": "done", "summaryRef": "s", "notes": "n",
            "tests": {"total": 0, "passed": 0, "failed": 0}},
    });
    run(one.command("message"), report.to_string());
    one.sync();
    two.git("pull -q origin main");
    two.yes("poll");
    assert_eq!(two.status(&id), "review");
    (id, next)
}

#[test]
fn what_was_removed_is_said_and_comes_back() {
    let (_clones, one, _two) = Clones::with(&["First", "Second"]);
    let id = one.id("First");
    let file = one.path.join(format!("tasks/ready/{id}.md"));
    let text = fs::read_to_string(&file).expect("a task");
    fs::remove_file(&file).expect("removed");
    one.yes("poll");
    assert_ne!(one.ran(&format!("show {id}")).code, 0);
    one.yes(&format!("undelete {id}"));
    assert_eq!(one.status(&id), "ready");
    let again = fs::read_to_string(&file).expect("a task");
    assert_eq!(again.lines().count(), text.lines().count());
    // All of them at once.
    let tasks = one.path.join("tasks");
    fs::rename(&tasks, one.path.join("away")).expect("moved");
    for words in ["list", "create 'Third'", "poll"] {
        let ran = one.ran(words);
        assert!(ran.code != 0 && ran.stderr.contains("the folder is gone"), "{words}: {ran:?}");
    }
    fs::rename(one.path.join("away"), &tasks).expect("moved back");
    assert_eq!(one.status(&id), "ready");
    one.lints_clean();
}

/// The report of an agent that a task is done.
fn report(id: &str, agent: &str, run_id: Option<&str>, notes: &str) -> String {
    let mut report = serde_json::json!({
        "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
        "fromAgent": agent, "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z",
        "payload": {"outcome": "done", "summaryRef": "s", "notes": notes,
            "tests": {"total": 3, "passed": 3, "failed": 0}},
    });
    if let Some(run_id) = run_id {
        report["runId"] = run_id.into();
    }
    report.to_string()
}

#[test]
fn a_claim_makes_the_folders_that_git_does_not_carry() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    two.yes(&format!("claim {id} --as builder"));
    for name in ["inputs", "work", "outputs", "subtasks"] {
        assert!(two.path.join(format!("tasks/in-progress/{id}/{name}")).is_dir(), "{name}");
    }
    two.lints_clean();
}

#[test]
fn a_switch_of_branches_is_no_fault() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    // A copy that changed nothing has no events.
    two.yes("poll");
    two.lints_clean();
    let branch = |name: &str, words: &str| {
        one.git(&format!("checkout -q {name}"));
        one.lints_clean();
        assert_eq!(one.dirty(), "");
        one.yes(words);
        one.lints_clean();
        one.git("add -A");
        one.git("commit -qm more");
    };
    branch("-b feature", "create 'On the branch' --ready");
    for turn in 0..3 {
        branch("main", &format!("comment {id} 'main {turn}'"));
        branch("feature", &format!("comment {id} 'feature {turn}'"));
    }
    one.git("checkout -q main");
    one.yes("poll");
    let events = fs::read_dir(one.path.join("events")).expect("events").flatten();
    let events: String = events.filter_map(|it| fs::read_to_string(it.path()).ok()).collect();
    assert!(!events.contains("task.deleted"), "{events}");
    // A line that was changed is found all the same.
    let log = fs::read_dir(one.path.join("events")).expect("events").flatten();
    let log = log
        .map(|it| it.path())
        .find(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("\"human:ann\"")));
    let log = log.expect("a log");
    let text = fs::read_to_string(&log).expect("lines");
    fs::write(&log, text.replacen("human:ann", "human:eve", 1)).expect("changed");
    assert!(one.ran("lint").stdout.contains("was changed, removed or added"), "{log:?}");
}

#[test]
fn the_same_report_after_the_approval_changes_nothing() {
    let (_clones, one, _two) = Clones::with(&["First"]);
    let id = one.id("First");
    one.yes(&format!("claim {id} --as builder"));
    let send = |notes: &str| run(one.command("message"), report(&id, "builder", None, notes));
    assert_eq!(send("n").code, 0);
    one.yes(&format!("approve {id} --yes"));
    let again = send("n");
    assert!(again.code == 0 && again.stdout.contains("was recorded before"), "{again:?}");
    let other = send("something else");
    assert!(other.code != 0 && other.stderr.contains("task_finished"), "{other:?}");
    assert_eq!(one.status(&id), "done");
    one.lints_clean();
}

#[test]
fn a_tree_that_is_made_again_goes_on_with_its_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = Clone { path: folder.path().join("tree"), person: "human:ann" };
    let last_event = || {
        let board = one.json("board");
        board["last_event"].as_u64().expect("a number")
    };
    fs::create_dir(&one.path).expect("a folder");
    one.yes("init --root . --project shop");
    let first = one.create("First --ready");
    let last = last_event();
    fs::remove_dir_all(&one.path).expect("removed");
    fs::create_dir(&one.path).expect("a folder");
    let said = one.yes("init --root . --project shop");
    assert!(said.contains(&format!("go on after event {last}")), "{said}");
    let second = one.create("Second --ready");
    assert_ne!(first, second);
    assert!(last_event() > last);
    assert!(one.yes("watch --no-wait").contains("tree_made_again"));
    one.lints_clean();
}

#[test]
fn approved_outputs_travel_as_they_are() {
    let clones = Clones { folder: tempfile::tempdir().expect("a folder") };
    git(clones.folder.path(), &["init", "-q", "--bare", "-b", "main", "hub.git"]);
    let one = clones.another("one", "human:ann");
    fs::write(one.path.join(".gitignore"), "*.txt\ndist/\n").expect("a file");
    let said = one.yes("init --root . --project shop");
    assert!(said.contains("accord task create TITLE\n"), "{said}");
    assert!(said.contains("accord task merge") && said.contains("--ids random"), "{said}");
    let id = one.create("First --ready");
    one.yes(&format!("claim {id} --as builder"));
    let outputs = one.path.join(format!("tasks/in-progress/{id}/outputs"));
    fs::create_dir(outputs.join("dist")).expect("a folder");
    fs::write(outputs.join("result.txt"), "one\ntwo\n").expect("an output");
    fs::write(outputs.join("dist/page.html"), "one\n").expect("an output");
    fs::write(one.path.join("notes.txt"), "ignored").expect("a file");
    run(one.command("message"), report(&id, "builder", None, "n"));
    // By its number.
    one.yes("approve 1 --yes");
    one.push();
    assert!(!one.git("ls-files").contains("notes.txt"));
    let url = clones.folder.path().join("hub.git").display().to_string();
    let words = ["-c", "core.autocrlf=true", "clone", "-q", url.as_str(), "windows"];
    git(clones.folder.path(), &words);
    let two = Clone { path: clones.folder.path().join("windows"), person: "human:bob" };
    let outputs = two.path.join(format!("tasks/done/{id}/outputs"));
    assert_eq!(fs::read_to_string(outputs.join("result.txt")).expect("a result"), "one\ntwo\n");
    assert!(outputs.join("dist/page.html").exists());
    two.lints_clean();
}

#[test]
fn a_task_of_another_clone_is_shown_as_one() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let id = one.id("First");
    one.yes(&format!("claim {id} --as builder"));
    one.sync();
    two.git("pull -q origin main");
    let shown = two.yes(&format!("show {id}"));
    assert!(shown.contains("builder in another copy of the tasks"), "{shown}");
    assert!(!shown.contains("  run"), "{shown}");
    assert!(shown.contains(&format!("next  accord task block {id} REASON")), "{shown}");
    for words in ["list", "board --once"] {
        assert!(two.yes(words).contains("in another copy"), "{words}");
    }
    // A worker does not wait for it, and its story is told here, too.
    let ran = two.ran("work --agent true --as other --drain");
    assert_eq!(ran.code, 0, "{ran:?}");
    let story = two.yes("watch --no-wait");
    let writer = one.writer();
    assert!(story.contains(&format!(" of {writer} ")) && story.contains("builder"), "{story}");
}
