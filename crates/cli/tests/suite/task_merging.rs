//! What `accord task merge` makes of what git left: two clones in which two people work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;

/// A work tree with tasks, and the person who uses it.
struct Clone {
    path: PathBuf,
    person: &'static str,
}

/// Two clones of a repository with some ready tasks, which trust each other.
fn clones(titles: &[&str]) -> (TempDir, Clone, Clone) {
    let folder = tempfile::tempdir().expect("a folder");
    git(folder.path(), &["init", "-q", "--bare", "-b", "main", "hub.git"]);
    let another = |name: &str, person: &'static str| {
        git(folder.path(), &["clone", "-q", "hub.git", name]);
        let clone = Clone { path: folder.path().join(name), person };
        clone.git("config user.name tester");
        clone.git("config user.email tester@example.org");
        clone.git("checkout -qB main");
        clone
    };
    let one = another("one", "human:ann");
    one.yes("init --root . --project shop");
    one.yes("create 'Of nobody'");
    titles.iter().for_each(|title| drop(one.yes(&format!("create '{title}' --ready"))));
    one.commit();
    one.git("push -q origin HEAD:main");
    let two = another("two", "human:bob");
    // Each makes a key, and confirms that of the other one.
    two.yes("create Seed");
    two.commit();
    two.git("push -q origin HEAD:main");
    one.git("pull -q origin main");
    one.yes(&format!("adopt --writer {} --yes", two.writer()));
    two.yes(&format!("adopt --writer {} --yes", one.writer()));
    for clone in [&one, &two] {
        clone.commit();
        clone.pull();
        clone.git("push -q origin HEAD:main");
    }
    one.git("pull -q origin main");
    (folder, one, two)
}

impl Clone {
    #[track_caller]
    fn ran(&self, words: &str, input: &str) -> Ran {
        let words = shell_words::split(&format!("task {words}")).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(&self.path).env("ACCORD_ACTOR", self.person);
        run(command, input)
    }

    #[track_caller]
    fn yes(&self, words: &str) -> String {
        let ran = self.ran(words, "");
        assert_eq!(ran.code, 0, "{}: task {words}: {ran:?}", self.path.display());
        ran.stdout
    }

    #[track_caller]
    fn task(&self, id: &str) -> Value {
        let ran = self.ran(&format!("show {id} --json"), "");
        let mut document: Value = serde_json::from_str(&ran.stdout).expect("a document");
        document["result"].take()
    }

    #[track_caller]
    fn create(&self, words: &str) -> String {
        self.yes(&format!("create {words} --ready --id-only")).trim().to_owned()
    }

    /// The ids of tasks by their titles.
    #[track_caller]
    fn id(&self, title: &str) -> String {
        let ran = self.ran("list --all --limit 500 --json", "");
        let list: Value = serde_json::from_str(&ran.stdout).expect("a document");
        let tasks = list["result"]["tasks"].as_array().expect("tasks");
        let mut found = tasks.iter().filter(|task| task["title"] == title);
        let id = found.next().unwrap_or_else(|| panic!("{title} is not in {list}"))["id"].clone();
        assert!(found.next().is_none(), "{title} is twice in {list}");
        id.as_str().expect("an id").to_owned()
    }

    #[track_caller]
    fn git(&self, words: &str) -> String {
        let words = shell_words::split(words).expect("words");
        git(&self.path, &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn commit(&self) {
        self.git("add -A");
        let _ = try_git(&self.path, &["commit", "-qm", "work"]);
    }

    #[track_caller]
    fn push(&self) {
        self.commit();
        self.git("push -q origin HEAD:main");
    }

    /// Whether git needed nobody.
    fn pull(&self) -> bool {
        let args = ["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"];
        try_git(&self.path, &args).code == 0
    }

    /// Commits, brings in what the other one pushed, and merges. Answers what the merge says.
    #[track_caller]
    fn merge(&self) -> String {
        self.commit();
        self.pull();
        let said = self.yes("merge");
        assert_eq!(self.yes("merge"), "nothing to merge\n");
        self.push();
        said
    }

    #[track_caller]
    fn lints_clean(&self) {
        let ran = self.ran("lint", "");
        assert_eq!(ran.code, 0, "{}: {ran:?}", self.path.display());
    }

    #[track_caller]
    fn writer(&self) -> String {
        let text = fs::read_to_string(self.path.join("state/accord/writer.json")).expect("a file");
        let writer: Value = serde_json::from_str(&text).expect("a document");
        let ids = writer["ids"].as_array().expect("ids");
        ids.last().and_then(Value::as_str).expect("an id").to_owned()
    }

    /// An agent claims a task, writes an output, and reports that it is done.
    #[track_caller]
    fn works(&self, id: &str, agent: &str) {
        self.yes(&format!("claim {id} --as {agent}"));
        let output = self.path.join(format!("tasks/in-progress/{id}/outputs/{agent}.txt"));
        fs::write(output, agent).expect("an output");
        let report = self.path.join(format!("tasks/in-progress/{id}/outputs/report.json"));
        fs::write(report, format!("{{\"by\": \"{agent}\"}}\n")).expect("an output");
        let message = json!({
            "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
            "fromAgent": agent, "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z",
            "payload": {"outcome": "done", "summaryRef": "s", "notes": format!("by {agent}"),
                "tests": {"total": 0, "passed": 0, "failed": 0}},
        });
        let ran = self.ran("message", &message.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// The paths of the outputs of a task.
    #[track_caller]
    fn outputs(&self, id: &str) -> Vec<String> {
        let shown = self.task(id);
        let outputs = shown["outputs"].as_array().expect("outputs").iter();
        outputs.map(|it| it["path"].as_str().expect("a path").to_owned()).collect()
    }
}

fn try_git(folder: &Path, args: &[&str]) -> Ran {
    let mut git = Command::new("git");
    git.args(args).current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    run(git, "")
}

#[track_caller]
fn git(folder: &Path, args: &[&str]) -> String {
    let ran = try_git(folder, args);
    assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    ran.stdout
}

#[test]
fn a_change_stays_with_its_task_when_git_takes_another_one_for_it() {
    let (_folder, one, two) = clones(&["First"]);
    let id = one.id("First");
    two.yes(&format!("comment {id} 'use nom'"));
    two.push();
    one.yes(&format!("block {id} 'no keys for the registry, and nobody knows who has them'"));
    one.create("Second");
    one.create("Third");
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
    let (_folder, one, two) = clones(&["First", "Second"]);
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
    let (_folder, one, two) = clones(&["First"]);
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
    let (_folder, one, two) = clones(&[]);
    let id = one.create("'Of ann'");
    one.push();
    assert_eq!(two.create("'Of bob'"), id);
    two.commit();
    two.yes(&format!("comment {id} 'on his own'"));
    two.commit();
    two.yes(&format!("edit {id} --priority high"));
    two.commit();
    two.yes(&format!("block {id} 'his own block'"));
    two.commit();
    let mut pulled = try_git(&two.path, &["pull", "-q", "--rebase", "origin", "main"]);
    for _ in 0..5 {
        if pulled.code == 0 {
            break;
        }
        two.yes("merge");
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
    let was = two.yes(&format!("show {}", two.id("Of bob")));
    assert!(was.contains("  was      TASK-"), "{was}");
    two.lints_clean();
}

#[test]
fn folder_and_run_follow_their_task_to_its_new_id() {
    let (_folder, one, two) = clones(&[]);
    let id = one.create("'Of ann'");
    one.works(&id, "annbot");
    one.push();
    assert_eq!(two.create("'Of bob'"), id);
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
    let (_folder, one, two) = clones(&["First"]);
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
    let (_folder, one, two) = clones(&["First"]);
    let id = one.id("First");
    for (clone, text) in [(&two, "of bob\n"), (&one, "of ann\n")] {
        fs::write(clone.path.join("notes.txt"), text).expect("a file");
        clone.yes(&format!("edit {id} --title 'T {}'", text.trim()));
    }
    two.push();
    one.commit();
    assert!(!one.pull());
    let ran = one.ran("merge", "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("notes.txt: git could not merge it"), "{ran:?}");
    assert!(!ran.stdout.contains("git add -A"), "{ran:?}");
    fs::write(one.path.join("notes.txt"), "of both\n").expect("a file");
    one.git("add notes.txt");
    assert_eq!(one.yes("merge"), "nothing to merge\n");
}

#[test]
fn a_task_that_one_removed_and_the_other_changed_stays() {
    let (_folder, one, two) = clones(&["First", "Second"]);
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
    assert_ne!(two.ran(&format!("show {second}"), "").code, 0);
}

#[test]
fn a_conflict_that_is_settled_is_no_failed_validation() {
    let (_folder, one, two) = clones(&["First"]);
    let id = one.id("First");
    two.yes(&format!("edit {id} --title Theirs"));
    two.yes(&format!("block {id} x"));
    two.push();
    one.yes(&format!("edit {id} --title Ours"));
    one.yes(&format!("claim {id} --as builder"));
    one.merge();
    assert!(!one.yes("watch --no-wait").contains("task.validation.failed"));
}
