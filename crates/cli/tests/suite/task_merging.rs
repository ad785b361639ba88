//! What `accord task merge` makes of what git left: two clones in which two people work.

use std::fs;

use serde_json::json;

use crate::clones::{Clones, try_git};

#[test]
fn a_change_stays_with_its_task_when_git_takes_another_one_for_it() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    two.yes(&format!("comment {id} 'use nom'"));
    two.push();
    one.yes(&format!("block {id} 'no keys for the registry, and nobody knows who has them'"));
    one.ready("Second");
    one.ready("Third");
    let said = one.merge();
    assert!(said.contains(&format!("{id} blocked: First")), "{said}");
    for title in ["First", "Second", "Third"] {
        let comments = one.task(&one.id(title))["task"]["comments"].to_string();
        assert_eq!(comments.contains("use nom"), title == "First", "{title}: {comments}");
    }
    assert_eq!(one.task(&id)["task"]["status"], "blocked");
    one.lints_clean();
}

#[test]
fn an_edit_takes_no_move_of_the_other_copy_back_and_drops_are_printed() {
    let (_folder, one, two) = Clones::trusting(&["First", "Second"]);
    let (first, second) = (one.id("First"), one.id("Second"));
    two.yes(&format!("edit {first} --title Theirs"));
    two.works(&second, "builder");
    two.push();
    one.yes(&format!("edit {first} --title Ours"));
    one.yes(&format!("edit {second} --priority high"));
    let said = one.merge();
    assert!(said.contains("title: \"Ours\" counts, \"Theirs\" is dropped"), "{said}");
    let shown = one.task(&second);
    assert_eq!(shown["task"]["status"], "review", "{shown}");
    assert_eq!(shown["task"]["priority"], "high", "{shown}");
    assert_eq!(one.outputs(&second), ["outputs/builder.txt", "outputs/report.json"]);
    one.lints_clean();
}

#[test]
fn two_persons_decide_about_one_review() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    one.works(&id, "builder");
    one.push();
    assert!(two.pull());
    two.yes(&format!("approve {id} --yes"));
    two.push();
    one.yes(&format!("send-back {id} 'not good' --yes"));
    let said = one.merge();
    assert!(said.contains("two persons decided"), "{said}");
    assert!(said.contains("human:ann") && said.contains("human:bob"), "{said}");
}

#[test]
fn a_rebase_takes_changes_to_the_new_id() {
    let (_folder, one, two) = Clones::trusting(&[]);
    let id = one.ready("'Of ann'");
    one.push();
    assert_eq!(two.ready("'Of bob'"), id);
    two.commit();
    two.yes(&format!("comment {id} 'on his own'"));
    two.commit();
    two.yes(&format!("edit {id} --priority high"));
    two.commit();
    two.yes(&format!("block {id} 'his own block'"));
    two.commit();
    let mut pulled = try_git(&two.path, &["pull", "-q", "--rebase", "origin", "main"]);
    let mut new_ids = std::collections::BTreeSet::new();
    for _ in 0..5 {
        if pulled.code == 0 {
            break;
        }
        two.yes("merge");
        new_ids.insert(two.id("Of bob"));
        two.git("add -A");
        pulled = try_git(&two.path, &["-c", "core.editor=true", "rebase", "--continue"]);
    }
    assert_eq!(pulled.code, 0, "{pulled:?}");
    let of_bob = two.task(&two.id("Of bob"));
    assert_eq!(of_bob["task"]["status"], "blocked", "{of_bob}");
    assert_eq!(of_bob["task"]["priority"], "high", "{of_bob}");
    assert!(of_bob["task"]["comments"].to_string().contains("on his own"), "{of_bob}");
    let of_ann = two.task(&two.id("Of ann"));
    assert_eq!((&of_ann["task"]["id"], &of_ann["task"]["status"]), (&json!(id), &json!("ready")));
    assert_eq!(new_ids.len(), 1, "one new id at every stop: {new_ids:?}");
    assert_eq!(of_bob["task"]["metadata"]["formerIds"], json!([id]));
    let was = two.yes(&format!("show {}", two.id("Of bob")));
    assert!(was.contains("  was      TASK-"), "{was}");
    two.lints_clean();
}

#[test]
fn folder_and_run_follow_their_task_to_its_new_id() {
    let (_folder, one, two) = Clones::trusting(&[]);
    let id = one.ready("'Of ann'");
    one.works(&id, "annbot");
    one.push();
    assert_eq!(two.ready("'Of bob'"), id);
    two.works(&id, "bobbot");
    two.merge();
    let (of_ann, of_bob) = (two.id("Of ann"), two.id("Of bob"));
    for (task, agent) in [(&of_ann, "annbot"), (&of_bob, "bobbot")] {
        assert_eq!(
            two.outputs(task),
            [format!("outputs/{agent}.txt"), "outputs/report.json".into()]
        );
        let result = two.path.join(format!("runs/{task}/run_result.json"));
        let result = fs::read_to_string(result).expect("a result");
        assert!(result.contains(agent) && result.contains(task), "{result}");
        assert_eq!(two.task(task)["task"]["status"], "review");
    }
    two.lints_clean();
}

#[test]
fn the_outputs_of_one_version_stay_together() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    one.works(&id, "annbot");
    one.push();
    two.works(&id, "bobbot");
    fs::write(two.path.join("notes.txt"), "of bob\n").expect("a file");
    two.commit();
    two.pull();
    two.yes("merge");
    assert_eq!(two.outputs(&id), ["outputs/bobbot.txt", "outputs/report.json"]);
    let read = |path: &str| fs::read_to_string(two.path.join(path)).expect("a file");
    assert!(read(&format!("tasks/review/{id}/outputs/report.json")).contains("bobbot"));
    let other = format!("tasks/review/{id}/work/from-other/outputs/report.json");
    assert!(read(&other).contains("annbot"));
    assert!(read(&format!("runs/{id}/run_result.json")).contains("by bobbot"));
    let results = fs::read_dir(two.path.join(format!("runs/{id}/results"))).expect("results");
    let results: Vec<String> =
        results.flatten().filter_map(|it| fs::read_to_string(it.path()).ok()).collect();
    assert!(results.iter().any(|text| text.contains("by annbot")), "{results:?}");
    two.push();
    let marked = try_git(&two.path, &["grep", "-l", "<<<<<<<", "HEAD"]);
    assert_eq!(marked.stdout, "");
}

#[test]
fn what_is_no_task_is_named_before_git_add_is_recommended() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    for (clone, text) in [(&two, "of bob\n"), (&one, "of ann\n")] {
        fs::write(clone.path.join("notes.txt"), text).expect("a file");
        clone.yes(&format!("edit {id} --title 'T {}'", text.trim()));
    }
    two.push();
    one.commit();
    assert!(!one.pull());
    let ran = one.ran("merge");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("notes.txt: git could not merge it"), "{ran:?}");
    assert!(!ran.stdout.contains("git add -A"), "{ran:?}");
    fs::write(one.path.join("notes.txt"), "of both\n").expect("a file");
    one.git("add notes.txt");
    assert_eq!(one.yes("merge"), "nothing to merge\n");
}

#[test]
fn a_task_that_one_removed_and_the_other_changed_stays() {
    let (_folder, one, two) = Clones::trusting(&["First", "Second"]);
    let (first, second) = (one.id("First"), one.id("Second"));
    one.git(&format!("rm -q tasks/ready/{first}.md tasks/ready/{second}.md"));
    one.yes("poll");
    one.push();
    two.yes(&format!("comment {first} 'keep me'"));
    two.commit();
    assert!(!two.pull());
    let said = two.yes("merge");
    assert!(said.contains("removed in the other copy and changed here; it stays"), "{said}");
    assert!(said.contains("git add -A"), "{said}");
    two.push();
    assert_eq!(two.task(&first)["task"]["status"], "ready");
    assert_ne!(two.ran(&format!("show {second}")).code, 0);
}

#[test]
fn a_conflict_that_is_settled_is_no_failed_validation() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    two.yes(&format!("edit {id} --title Theirs"));
    two.yes(&format!("block {id} x"));
    two.push();
    one.yes(&format!("edit {id} --title Ours"));
    one.yes(&format!("claim {id} --as builder"));
    one.merge();
    assert!(!one.yes("watch --no-wait").contains("task.validation.failed"));
}

#[test]
fn what_an_agent_made_of_a_task_that_a_person_ended_is_no_output_of_it() {
    let (_folder, one, two) = Clones::trusting(&["First"]);
    let id = one.id("First");
    two.yes(&format!("close {id} --yes"));
    two.push();
    one.works(&id, "builder");
    one.merge();
    assert_eq!(one.task(&id)["task"]["status"], "done");
    assert_eq!(one.outputs(&id), Vec::<String>::new());
    let made = format!("tasks/done/{id}/work/from-other/outputs/builder.txt");
    assert!(one.path.join(made).exists());
    assert!(two.pull());
    for clone in [&one, &two] {
        clone.lints_clean();
    }
}

#[test]
fn the_same_plan_in_two_clones_is_named_by_the_merge() {
    let (_folder, one, two) = Clones::trusting(&[]);
    for clone in [&one, &two] {
        fs::write(clone.path.join("plan.md"), "- [ ] Alpha\n- [ ] Beta\n").expect("a plan");
        clone.yes("create --from plan.md");
    }
    one.push();
    let said = two.merge();
    assert_eq!(said.matches("has the same key (").count(), 2, "{said}");
    assert_eq!(said.matches("created first, and keeps its id").count(), 2, "{said}");
    let lint = two.ran("lint");
    assert_eq!(lint.code, 1, "{lint:?}");
    assert_eq!(lint.stdout.matches("if it is the same task: accord task cancel").count(), 2);
}
