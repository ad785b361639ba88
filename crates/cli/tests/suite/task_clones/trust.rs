//! What another clone decided, and what an agent can make of it.

use std::fs;

use serde_json::Value;

use super::reviewed;
use crate::clones::{Clone, Clones};

#[test]
fn an_approval_of_another_copy_counts_once_that_copy_is_confirmed() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let (id, next) = reviewed(&one, &two);
    one.yes(&format!("approve {id} --yes"));
    one.sync();
    two.git("pull -q origin main");
    // It is named, with the command; its file stays, and what waits for it goes on waiting.
    let writer = one.writer();
    let said = two.yes("list");
    assert!(said.contains("done by human:ann in another copy, not verified here"), "{said}");
    let lint = two.ran("lint");
    assert!(
        lint.code == 1 && lint.stdout.contains(&format!("adopt --writer {writer}")),
        "{lint:?}"
    );
    two.yes("poll");
    assert_eq!((two.status(&id), two.status(&next)), ("review".into(), "backlog".into()));
    assert!(two.ran(&format!("approve {id} --yes")).stderr.contains("task_needs_adopt"));
    assert_eq!(two.dirty(), "");
    // One confirmation, and it flows.
    let shown = two.json(&format!("show {id}"));
    assert_eq!(shown["task"]["unadopted"]["writer"], writer.as_str(), "{shown}");
    let said = two.yes(&format!("adopt --writer {writer} --yes"));
    assert!(said.contains("human:ann") && said.contains(&id), "{said}");
    assert!(two.ran(&format!("adopt --writer {writer} --yes")).code != 0);
    two.yes("poll");
    assert_eq!((two.status(&id), two.status(&next)), ("done".into(), "ready".into()));
    two.lints_clean();
    two.sync();
    one.git("pull -q origin main");
    one.confirms(&two);
    one.yes(&format!("block {next} 'not yet'"));
    one.yes(&format!("unblock {next}"));
    one.yes(&format!("close {next} --yes"));
    one.sync();
    two.git("pull -q origin main");
    assert_eq!(two.status(&next), "done");
    two.lints_clean();
    assert!(two.ran("adopt --writer nobody22 --yes").stderr.contains("nothing_to_adopt"));
}

#[test]
fn a_forged_line_of_an_event_log_ends_no_review() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let (id, next) = reviewed(&one, &two);
    two.confirms(&one);
    one.yes(&format!("approve {id} --yes"));
    let text = |clone: &Clone, status: &str| {
        fs::read_to_string(clone.path.join(format!("tasks/{status}/{id}.md"))).expect("a task")
    };
    // An agent knows the file and the line of an approval, and changes the task.
    let done = text(&one, "done").replace("title: First", "title: Forged");
    let log = fs::read_dir(one.path.join("events")).expect("events").flatten();
    let log = log.map(|it| it.path()).find(|it| it.to_string_lossy().contains(&one.writer()));
    let log = fs::read_to_string(log.expect("a log")).expect("lines");
    let line = log.lines().rfind(|line| line.contains("\"done\"")).expect("an approval");
    let mut line: Value = serde_json::from_str(line).expect("a line");
    line["front"] = front(&done).into();
    for writer in ["inventedw".to_owned(), one.writer(), two.writer()] {
        let forged = two.path.join(format!("events/2999-01-01.{writer}.jsonl"));
        fs::write(&forged, format!("{line}\n")).expect("a forged log");
        fs::rename(
            two.path.join(format!("tasks/review/{id}.md")),
            two.path.join(format!("tasks/done/{id}.md")),
        )
        .expect("moved");
        fs::write(two.path.join(format!("tasks/done/{id}.md")), &done).expect("forged");
        two.yes("poll");
        assert_eq!((two.status(&id), two.status(&next)), ("review".into(), "backlog".into()));
        let lint = two.ran("lint").stdout;
        assert!(lint.contains("not verified here"), "{writer}: {lint}");
        fs::remove_file(&forged).expect("removed");
        fs::remove_file(two.path.join(format!("tasks/done/{id}.md"))).expect("removed");
        two.git(&format!("checkout -- tasks/review/{id}.md"));
        assert_eq!(two.status(&id), "review");
    }
}

#[test]
fn a_move_that_no_event_explains_does_not_count() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let (id, _) = reviewed(&one, &two);
    // Somebody moves it by hand, and pushes that.
    let file = |clone: &Clone, status: &str| clone.path.join(format!("tasks/{status}/{id}.md"));
    let text = fs::read_to_string(file(&one, "review")).expect("a task");
    fs::write(file(&one, "done"), text.replace("status: review", "status: done")).expect("moved");
    fs::remove_file(file(&one, "review")).expect("moved");
    one.git("add -A");
    one.git("commit -qm forged");
    one.git("push -q origin HEAD:main");
    two.git("pull -q origin main");
    let lint = two.ran("lint");
    assert_eq!(lint.code, 1, "{lint:?}");
    two.yes("poll");
    assert_eq!(two.status(&id), "review");
    two.yes(&format!("adopt {id} --yes"));
    assert_eq!(two.status(&id), "done");
}

#[test]
fn a_persons_decision_in_another_copy_ends_the_work_here() {
    let (_clones, one, two) = Clones::with(&["First", "Second"]);
    let (id, other) = (one.id("First"), one.id("Second"));
    one.yes(&format!("claim {id} --as builder"));
    one.yes(&format!("claim {other} --as builder"));
    one.sync();
    two.git("pull -q origin main");
    two.yes(&format!("cancel {id} --reason no"));
    two.yes(&format!("block {other} 'not now'"));
    two.sync();
    one.git("pull -q origin main");
    assert!(one.ran("lint").stdout.contains("adopt --writer"));
    one.confirms(&two);
    assert_eq!((one.status(&id), one.status(&other)), ("cancelled".into(), "blocked".into()));
    assert!(one.ran(&format!("heartbeat {id} --as builder")).code != 0);
    one.yes("poll");
    assert!(!one.dirty().contains("in-progress"), "{}", one.dirty());
}

#[test]
fn two_persons_approve_one_review() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let (id, _) = reviewed(&one, &two);
    two.yes(&format!("approve {id} --yes --note 'of bob'"));
    two.sync();
    one.yes(&format!("approve {id} --yes --note 'of ann'"));
    one.git("add -A");
    one.git("commit -qm approved");
    one.confirms_after_pull(&two);
    one.yes("merge");
    one.git("add -A");
    one.git("commit -qm merged");
    one.git("push -q origin HEAD:main");
    two.git("pull -q origin main");
    two.confirms(&one);
    for clone in [&one, &two] {
        assert_eq!(clone.status(&id), "done");
        clone.lints_clean();
    }
}

#[test]
fn the_report_of_another_copy_is_shown_as_such() {
    let (_clones, one, two) = Clones::with(&["First"]);
    let (id, _) = reviewed(&one, &two);
    let shown = two.yes(&format!("show {id}"));
    assert!(shown.contains("reported") && shown.contains("done by builder"), "{shown}");
    assert!(shown.contains("builder reported in another copy of the tasks"), "{shown}");
    assert!(!one.yes(&format!("show {id}")).contains("in another copy"));
    let list = two.json("list --status review");
    assert_eq!(list["tasks"][0]["done_by"], "builder", "{list}");
}

/// The digest of the front matter of a file, as lines of events have it.
fn front(text: &str) -> String {
    let file = accord_tasks_core::task::TaskFile::read(text).expect("a task");
    let left_out = ["lease", "updatedAt", "contentHash"];
    let kept = file.members().iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
    let kept = Value::Object(kept.collect());
    accord_canon::sha256(kept.to_string().as_bytes()).hex()[..16].to_owned()
}
