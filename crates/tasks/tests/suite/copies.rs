//! Several copies of one tree, as git carries them, without git.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_base::{By, Door};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::operations::{
    AdoptWriterRequest, AgentExit, ApproveRequest, ClaimRequest, CreateRequest, EndRunRequest,
    EventsQuery, InitRequest, LintQuery, ListQuery, MergeRequest, PollAnswer, PollRequest,
    ShowAnswer, ShowQuery, TaskObserved,
};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Clock, agent, human, ready, report, routed};

/// What git carries of a tree.
const CARRIED: [&str; 4] = ["project.yaml", "tasks", "events", "runs"];

/// A copy of a tree, with a key of its own.
struct Copy {
    folder: tempfile::TempDir,
    tree: Tree,
}

/// The environment of a copy: its random bytes are those of no other one.
fn environment(clock: &Clock, copy: u8) -> Environment {
    let (clock, count) = (clock.clone(), AtomicU64::new(0));
    let random = move || {
        let mut bytes = [copy; 16];
        bytes[8..].copy_from_slice(&count.fetch_add(1, Ordering::AcqRel).to_be_bytes());
        bytes[8] = copy;
        bytes
    };
    Environment::new(move || clock.now(), random, "boot")
}

impl Copy {
    /// A new tree in a work tree of git.
    fn new(clock: &Clock, number: u8) -> Self {
        let copy = Self::empty(clock, number);
        copy.tree.init(&InitRequest::default(), &human()).unwrap();
        copy
    }

    fn empty(clock: &Clock, number: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        let tree = Tree::open(folder.path(), "shop", environment(clock, number)).unwrap();
        Self { folder, tree }
    }

    /// A clone of a tree.
    fn of(other: &Self, clock: &Clock, number: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        for name in CARRIED {
            carry(&other.root().join(name), &folder.path().join(name));
        }
        let tree = Tree::open(folder.path(), "shop", environment(clock, number)).unwrap();
        Self { folder, tree }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn show(&self, id: TaskId) -> ShowAnswer {
        self.tree.show(&id.to_string(), &ShowQuery::default(), &human()).unwrap()
    }

    fn status(&self, id: TaskId) -> Status {
        self.show(id).task.status
    }

    fn poll(&self) -> PollAnswer {
        self.tree.poll(&PollRequest::default(), &human()).unwrap()
    }

    /// The codes of what is wrong.
    fn lint(&self) -> Vec<String> {
        let lint = self.tree.lint(&LintQuery::default(), &human()).unwrap();
        lint.findings.into_iter().map(|finding| finding.code).collect()
    }

    /// A person confirms another copy.
    fn confirm(&self, other: &Self) {
        let request = AdoptWriterRequest { writer: other.writer(), ..Default::default() };
        self.tree.adopt_writer(&request, &human()).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn ready(&self, title: &str) -> TaskId {
        self.tree.create(&ready(title), &human()).unwrap().task.id
    }

    fn claim(&self, id: TaskId) {
        self.tree.claim(&id.to_string(), &ClaimRequest::default(), &agent(AGENT)).unwrap();
    }

    /// A task in review.
    fn reviewed(&self) -> TaskId {
        let id = self.ready("Ship it");
        self.claim(id);
        self.tree.message(&report(&id.to_string(), AGENT, "done"), &agent(AGENT)).unwrap();
        id
    }

    /// Brings files of another copy, as git does.
    fn take(&self, other: &Self, paths: &[String]) {
        for path in paths.iter().map(String::as_str).chain(["events"]) {
            carry(&other.root().join(path), &self.root().join(path));
        }
        let id = |path: &String| {
            let name = path.rsplit('/').next().unwrap().strip_suffix(".md").unwrap();
            TaskId::parse(name).unwrap()
        };
        self.tree.look_at(&paths.iter().map(id).collect::<Vec<_>>()).unwrap();
    }

    /// The writer that this copy is.
    fn writer(&self) -> String {
        let text = fs::read_to_string(self.root().join("state/accord/writer.json")).unwrap();
        let writer: serde_json::Value = serde_json::from_str(&text).unwrap();
        writer["ids"][0].as_str().unwrap().to_owned()
    }

    /// The event logs, as one text.
    fn events(&self) -> String {
        let logs = fs::read_dir(self.root().join("events")).unwrap().flatten();
        logs.filter_map(|log| fs::read_to_string(log.path()).ok()).collect()
    }
}

/// Copies a file or a folder, without what git ignores.
fn carry(from: &Path, to: &Path) {
    let is_ignored = |name: &str| from.ends_with(name);
    if is_ignored("run.json") || is_ignored("run_heartbeat.json") {
        return;
    }
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            carry(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::copy(from, to).unwrap();
    }
}

fn file(status: Status, id: TaskId) -> String {
    format!("tasks/{status}/{id}.md")
}

#[test]
fn a_merge_of_two_tasks_with_one_id_takes_over_no_decision_of_an_unconfirmed_copy() {
    // The task with the same id is the later or the earlier one of both.
    for is_earlier in [false, true] {
        let clock = Clock::default();
        let other = is_earlier.then(|| Copy::new(&clock, 3));
        let same = other.as_ref().map(|other| other.ready("Another"));
        clock.add(10);
        let copy = Copy::new(&clock, 1);
        let id = copy.reviewed();
        let forger = Copy::of(&copy, &clock, 2);
        clock.add(10);
        forger.tree.approve(&id.to_string(), &ApproveRequest::default(), &human()).unwrap();
        let other = other.unwrap_or_else(|| Copy::new(&clock, 3));
        assert_eq!(same.unwrap_or_else(|| other.ready("Another")), id);
        // Git brings both: the approval, and the task that has the same id.
        fs::remove_file(copy.root().join(file(Status::Review, id))).unwrap();
        copy.take(&forger, &[file(Status::Done, id)]);
        copy.take(&other, &[file(Status::Ready, id)]);
        let merge = || copy.tree.merge(&MergeRequest::default(), &human()).unwrap();
        let answer = merge();
        assert_eq!(answer.merged, [], "the approval of nobody counts");
        let problem = &answer.unmerged[0].problem;
        assert!(problem.contains(&format!("adopt --writer {}", forger.writer())), "{problem}");
        assert!(!copy.events().contains("task.merged"), "{}", copy.events());
        // Once a person confirms that copy, both tasks are there.
        copy.confirm(&forger);
        let answer = merge();
        let merged: Vec<_> =
            answer.merged.iter().map(|task| (task.title.as_str(), task.status)).collect();
        let mut expected = vec![("Ship it", Status::Done), ("Another", Status::Ready)];
        if is_earlier {
            expected.reverse();
        }
        assert_eq!(merged, expected);
        for task in &answer.merged {
            assert_eq!(copy.status(task.task_id), task.status);
        }
        assert_eq!(copy.lint(), Vec::<String>::new());
        // The one that keeps the id says where the other one is, while that is open.
        let renumbered = answer.merged[1].task_id;
        let findings = copy.show(id).findings.join("\n");
        let is_said = findings.contains(&format!("another one now: {renumbered}"));
        assert_eq!(is_said, !is_earlier, "{findings}");
        // The approval is that of the other copy, also after the merge repeated it here.
        let approved = answer.merged.iter().find(|task| task.status == Status::Done).unwrap();
        let findings = copy.show(approved.task_id).findings.join("\n");
        assert!(findings.contains("approved by human:reviewer"), "{findings}");
        assert!(!findings.contains(&copy.writer()), "{findings}");
        let is_named = findings.contains(&format!("({})", forger.writer()));
        assert_eq!(is_named, !is_earlier, "{findings}");
    }
}

#[test]
fn a_task_in_progress_in_another_copy_is_shown_as_such() {
    let clock = Clock::default();
    let copy = Copy::new(&clock, 1);
    let id = copy.ready("Ship it");
    copy.claim(id);
    assert_eq!(copy.show(id).task.lease.unwrap().elsewhere, None);
    let other = Copy::of(&copy, &clock, 2);
    for _ in 0..2 {
        let lease = other.show(id).task.lease.unwrap();
        assert_eq!((lease.agent.as_str(), lease.run_id), (AGENT, None));
        assert_eq!(lease.elsewhere, Some(true));
        let list = other.tree.list(&ListQuery::default(), &human()).unwrap();
        assert_eq!(list.tasks[0].lease.as_ref().unwrap().elsewhere, Some(true));
        // Also after this copy wrote something.
        other.ready("Another");
    }
}

#[test]
fn copies_that_promote_a_task_write_the_same() {
    let clock = Clock::default();
    let copy = Copy::new(&clock, 1);
    let first = copy.ready("First");
    let waits = CreateRequest { depends_on: Some(vec![first.to_string()]), ..routed("Second") };
    let second = copy.tree.create(&waits, &human()).unwrap().task.id;
    let other = Copy::of(&copy, &clock, 2);
    clock.add(10);
    copy.tree.close(&first.to_string(), &Default::default(), &human()).unwrap();
    fs::remove_file(other.root().join(file(Status::Ready, first))).unwrap();
    other.take(&copy, &[file(Status::Done, first)]);
    other.confirm(&copy);
    let mut texts = Vec::new();
    for one in [&copy, &other] {
        clock.add(60);
        one.poll();
        texts.push(one.text(&file(Status::Ready, second)));
    }
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].contains("lastTransitionAt: 2026-02-09T21:00:10"), "{}", texts[0]);
}

#[test]
fn a_plan_that_two_copies_carried_out_is_named() {
    let clock = Clock::default();
    let (one, other) = (Copy::new(&clock, 1), Copy::new(&clock, 2));
    let planned = || CreateRequest { key: Some("plan.md:1".into()), ..ready("Alpha") };
    let first = one.tree.create(&planned(), &human()).unwrap().task.id;
    let used = other.ready("Another");
    assert_eq!(used, first);
    let second = other.tree.create(&planned(), &human()).unwrap().task.id;
    one.take(&other, &[file(Status::Ready, second)]);
    let lint = one.tree.lint(&LintQuery::default(), &human()).unwrap();
    let found = lint.findings.iter().find(|found| found.code == "duplicate_key").unwrap();
    assert_eq!(found.task_id, Some(second));
    assert!(found.problem.contains(&first.to_string()), "{found:?}");
    let cancel = format!("accord task cancel {second}");
    assert!(found.suggestion.as_ref().unwrap().contains(&cancel), "{found:?}");
    one.confirm(&other);
    one.tree.cancel(&second.to_string(), &Default::default(), &human()).unwrap();
    assert!(!one.lint().contains(&"duplicate_key".to_owned()));
}

#[test]
fn checks_of_a_task_run_in_another_copy() {
    let clock = Clock::default();
    let copy = Copy::new(&clock, 1);
    let id = copy.reviewed();
    let other = Copy::of(&copy, &clock, 2);
    let run = other.show(id).task.run.unwrap();
    let run_id = run.run_id.unwrap_or_default();
    let observed = TaskObserved {
        run_id: run_id.clone(),
        sandbox: "bubblewrap".to_owned(),
        checks: Vec::new(),
        work_tree: other.root().join("src").display().to_string(),
        base: None,
        commits: Vec::new(),
        files: Vec::new(),
        left_out: 0,
        cost: None,
        executed: None,
        elsewhere: None,
        said_by: None,
        checked_here: None,
        changes: None,
    };
    let request = EndRunRequest {
        agent: Some(run.agent),
        run_id,
        exit: AgentExit::Success,
        text: None,
        observed: Some(observed.clone()),
        uploads: None,
        changes: None,
    };
    let by = By::parse("script:worker", Door::Cli).unwrap();
    other.tree.end_run(&id.to_string(), &request, &by).unwrap();
    let shown = other.show(id);
    assert_eq!((shown.task.status, shown.observed), (Status::Review, Some(observed)));
    // The file has no path of this machine.
    let text = other.text(&file(Status::Review, id));
    assert!(text.contains("work_tree: src"), "{text}");
}

#[test]
fn events_of_all_copies_are_read_by_their_times() {
    let clock = Clock::default();
    let copy = Copy::new(&clock, 1);
    let id = copy.ready("Ship it");
    let other = Copy::of(&copy, &clock, 2);
    clock.add(10);
    other.ready("Another");
    clock.add(10);
    copy.claim(id);
    other.take(&copy, &[]);
    let read = |query: EventsQuery| {
        let answer = other.tree.events(&query).unwrap();
        let said = answer.events.into_iter().map(|event| (event.kind, event.copy));
        (said.collect::<Vec<_>>(), answer.more)
    };
    let theirs = Some(copy.writer());
    let said = |kind: &str, copy: &Option<String>| (kind.to_owned(), copy.clone());
    let all = EventsQuery { copies: true, ..EventsQuery::default() };
    let (events, more) = read(all.clone());
    assert_eq!(events[..2], [said("task.created", &theirs), said("task.created", &None)]);
    assert!(events[2..].iter().all(|(_, copy)| *copy == theirs), "{events:?}");
    assert!(events.len() > 2 && !more);
    // Page by page, and those of one task.
    let mut pages = Vec::new();
    loop {
        let after = Some(pages.len() as u64);
        let (page, more) = read(EventsQuery { after, limit: Some(2), ..all.clone() });
        pages.extend(page);
        if !more {
            break;
        }
    }
    assert_eq!(pages, events);
    let (of_task, _) = read(EventsQuery { task_id: Some(id.to_string()), ..all });
    assert_eq!(of_task.len(), events.len() - 1);
    // Without the others, its own.
    let (own, _) = read(EventsQuery::default());
    assert_eq!(own, [said("task.created", &None)]);
}
