//! Tasks that travel with git: two clones of one repository, used by two people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;

/// A repository without a work tree, and clones of it.
struct Clones {
    folder: TempDir,
}

/// A work tree with tasks, and the person who uses it.
struct Clone {
    path: PathBuf,
    person: &'static str,
}

impl Clones {
    /// Two clones of a repository with some ready tasks.
    fn with(titles: &[&str]) -> (Self, Clone, Clone) {
        let clones = Self { folder: tempfile::tempdir().expect("a folder") };
        git(clones.folder.path(), &["init", "-q", "--bare", "-b", "main", "hub.git"]);
        let one = clones.another("one", "human:ann");
        one.yes("init --root . --project shop");
        for title in titles {
            one.yes(&format!("create '{title}' --ready"));
        }
        one.git("add -A");
        one.git("commit -qm begin");
        one.git("push -q origin HEAD:main");
        let two = clones.another("two", "human:bob");
        (clones, one, two)
    }

    fn another(&self, name: &str, person: &'static str) -> Clone {
        git(self.folder.path(), &["clone", "-q", "hub.git", name]);
        let clone = Clone { path: self.folder.path().join(name), person };
        clone.git("config user.name tester");
        clone.git("config user.email tester@example.org");
        clone.git("checkout -qB main");
        clone
    }
}

impl Clone {
    fn command(&self, words: &str) -> Command {
        let words = shell_words::split(&format!("task {words}")).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(&self.path).env("ACCORD_ACTOR", self.person);
        command
    }

    #[track_caller]
    fn ran(&self, words: &str) -> Ran {
        run(self.command(words), "")
    }

    #[track_caller]
    fn yes(&self, words: &str) -> String {
        let ran = self.ran(words);
        assert_eq!(ran.code, 0, "{}: task {words}: {ran:?}", self.path.display());
        ran.stdout
    }

    #[track_caller]
    fn json(&self, words: &str) -> Value {
        let ran = self.ran(&format!("{words} --json"));
        let mut document: Value = serde_json::from_str(&ran.stdout).expect("a document");
        document["result"].take()
    }

    #[track_caller]
    fn create(&self, words: &str) -> String {
        self.yes(&format!("create {words} --id-only")).trim().to_owned()
    }

    #[track_caller]
    fn status(&self, id: &str) -> String {
        self.json(&format!("show {id}"))["task"]["status"].as_str().expect("a status").to_owned()
    }

    /// The ids of tasks by their titles.
    #[track_caller]
    fn id(&self, title: &str) -> String {
        let list = self.json("list --all --limit 500");
        let tasks = list["tasks"].as_array().expect("tasks");
        let found = tasks.iter().find(|task| task["title"] == title);
        found.unwrap_or_else(|| panic!("{title} is not in {list}"))["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    #[track_caller]
    fn lints_clean(&self) {
        let ran = self.ran("lint");
        assert_eq!(ran.code, 0, "{}: {ran:?}", self.path.display());
    }

    #[track_caller]
    fn git(&self, words: &str) -> String {
        let words = shell_words::split(words).expect("words");
        git(&self.path, &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Commits everything, brings in what the others pushed, decides conflicts and pushes.
    #[track_caller]
    fn sync(&self) {
        self.git("add -A");
        let _ = try_git(&self.path, &["commit", "-qm", "work"]);
        if try_git(&self.path, &["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]).code
            != 0
        {
            self.yes("merge");
            self.git("add -A");
            self.git("commit -qm merged");
        } else if self.yes("merge") != "nothing to merge\n" {
            self.git("add -A");
            self.git("commit -qm merged");
        }
        self.git("push -q origin HEAD:main");
    }

    /// The id of the writer that this clone is.
    #[track_caller]
    fn writer(&self) -> String {
        let text = fs::read_to_string(self.path.join("state/accord/writer.json")).expect("a file");
        let writer: Value = serde_json::from_str(&text).expect("a document");
        let ids = writer["ids"].as_array().expect("ids");
        ids.last().and_then(Value::as_str).expect("an id").to_owned()
    }

    /// The person of this clone confirms another one.
    #[track_caller]
    fn confirms(&self, other: &Self) {
        self.yes(&format!("adopt --writer {} --yes", other.writer()));
    }

    /// Brings in what the other one pushed, and confirms it.
    #[track_caller]
    fn confirms_after_pull(&self, other: &Self) {
        let args = ["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"];
        let _ = try_git(&self.path, &args);
        self.confirms(other);
    }

    /// What git has to say about the work tree.
    #[track_caller]
    fn dirty(&self) -> String {
        self.git("status --porcelain --untracked-files=all")
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
    assert_eq!(two.status(&id), "cancelled");
    for title in ["Of one", "Of two", "Second"] {
        assert_eq!(two.status(&two.id(title)), "ready", "{title}");
    }
    two.git("push -q origin HEAD:main");
    one.git("pull -q origin main");
    one.lints_clean();
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

/// The digest of the front matter of a file, as lines of events have it.
fn front(text: &str) -> String {
    let file = accord_tasks_core::task::TaskFile::read(text).expect("a task");
    let left_out = ["lease", "updatedAt", "contentHash"];
    let kept = file.members().iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
    let kept = Value::Object(kept.collect());
    accord_canon::sha256(kept.to_string().as_bytes()).hex()[..16].to_owned()
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
