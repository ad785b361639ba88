//! A server schedules task trees, takes their events over and notifies people.

use std::fs;
use std::path::{Path, PathBuf};

use accord_base::{By, Caller, Door, EventKind};
use accord_host::http::Host;
use accord_host::serve::Server;
use accord_host::settings::{Setting, Settings};
use accord_memory::{EventSource, Since, SourceEvent};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{BlockRequest, CreateRequest, InitRequest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{Asker, World, opened, project_id, soon, wait_until};

pub(crate) fn human() -> By {
    By::parse("human:reviewer", Door::Cli).unwrap()
}

/// A tree as a command opens it, without the store.
pub(crate) fn tree(folder: &Path, project: &str) -> Tree {
    fs::create_dir_all(folder).unwrap();
    let tree = Tree::open(folder, project, Environment::system()).unwrap();
    tree.init(&InitRequest::default(), &human()).unwrap();
    tree
}

pub(crate) fn create(tree: &Tree, depends_on: &[TaskId]) -> TaskId {
    let request = CreateRequest {
        title: "Ship it".to_owned(),
        agent: Some("swe-backend".to_owned()),
        depends_on: Some(depends_on.iter().map(ToString::to_string).collect()),
        ..CreateRequest::default()
    };
    tree.create(&request, &human()).unwrap().task.id
}

/// The events of a project: type, number in the tree, own type.
pub(crate) async fn events(host: &Host, project: &str) -> Vec<(String, u64, String)> {
    let project = project_id(project);
    let Ok(mut follower) = host.memory().follow(&Caller::owner(), &project, Since::After(0)).await
    else {
        return Vec::new();
    };
    let newest = host.memory().follow(&Caller::owner(), &project, Since::Now).await.unwrap().seen();
    let mut found = Vec::new();
    while follower.seen() < newest {
        for event in soon("an event", follower.next()).await.unwrap() {
            let event = event.event.unwrap();
            let number = event.data["sequence"].as_u64().unwrap_or(0);
            let own = event.data["type"].as_str().unwrap_or_default().to_owned();
            found.push((event.kind.as_str().to_owned(), number, own));
        }
    }
    found
}

/// The events of a tree, in its own log.
pub(crate) fn logged(folder: &Path) -> Vec<(u64, String)> {
    let mut days: Vec<PathBuf> =
        fs::read_dir(folder.join("events")).unwrap().map(|entry| entry.unwrap().path()).collect();
    days.retain(|day| day.extension().is_some_and(|end| end == "jsonl"));
    days.sort();
    let text: String = days.iter().map(|day| fs::read_to_string(day).unwrap()).collect();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["eventId"].as_u64().unwrap(), line["type"].as_str().unwrap().to_owned())
    };
    text.lines().map(line).collect()
}

/// Demands that every event of a tree is in the stream once, in order, under its name.
pub(crate) async fn all_taken_over(host: &Host, project: &str, folder: &Path) {
    let taken = events(host, project).await;
    let of_tree: Vec<_> = taken.iter().filter(|(_, number, _)| *number > 0).collect();
    let found: Vec<_> = of_tree.iter().map(|(_, number, own)| (*number, own.clone())).collect();
    assert_eq!(found, logged(folder));
    for (kind, _, own) in of_tree {
        let expected = if own.starts_with("task.") { own.clone() } else { format!("task.{own}") };
        assert_eq!(*kind, expected);
    }
}

/// A server of a test.
pub(crate) struct Served {
    pub(crate) host: Host,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

pub(crate) async fn serve(data: &Path, change: impl FnOnce(&mut Settings)) -> Served {
    let mut settings = Settings::default();
    settings.listen = "127.0.0.1:0".parse().unwrap();
    change(&mut settings);
    let host = opened(data, settings).await;
    let server = Server::bind(host.clone()).await.unwrap();
    let (end, ended) = oneshot::channel();
    let running = tokio::spawn(server.run(async move { drop(ended.await) }));
    Served { host, end, running }
}

impl Served {
    pub(crate) async fn close(self) {
        drop(self.host);
        self.end.send(()).unwrap();
        soon("the server to end", self.running).await.unwrap();
    }
}

fn command(text: &str) -> Option<accord_host::settings::CommandLine> {
    Setting::parse(text).unwrap()
}

fn status_of(folder: &Path, id: TaskId) -> Option<String> {
    let statuses = fs::read_dir(folder.join("tasks")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = statuses.filter(|status| status.join(format!("{id}.md")).exists());
    Some(found.next()?.file_name()?.to_str()?.to_owned())
}

#[tokio::test]
async fn who_opens_the_store_takes_the_events_over_once() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    create(&tasks, &[]);
    create(&tasks, &[]);
    assert!(!data.path().join("accord.db").exists());
    // The store does not have the project: it is created with the events.
    let host = opened(data.path(), Settings::default()).await;
    all_taken_over(&host, "atlas", &folder).await;
    assert_eq!(events(&host, "atlas").await[0].0, "project.created");
    drop(host);
    create(&tasks, &[]);
    for _ in 0..2 {
        let host = opened(data.path(), Settings::default()).await;
        all_taken_over(&host, "atlas", &folder).await;
    }
    // A folder with another name than its project says the project in its manifest.
    let slug = data.path().join("projects/map-service-4cfcfdfc");
    create(&tree(&slug, "Map Service"), &[]);
    fs::write(slug.join("project.yaml"), "id: map-service-4cfcfdfc\nprojectId: Map Service\n")
        .unwrap();
    let host = opened(data.path(), Settings::default()).await;
    all_taken_over(&host, "Map Service", &slug).await;
}

#[tokio::test]
async fn events_that_were_taken_over_are_left_out() {
    let world = World::new();
    let source = EventSource { project: project_id("atlas"), id: "tree_1".to_owned() };
    let event = |number: u64| SourceEvent {
        number,
        kind: EventKind::parse("task.created").unwrap(),
        at: accord_contract::time::Time::from_unix_millis(1_000 * i64::try_from(number).unwrap()),
        decision: None,
        data: json!({"sequence": number, "type": "task.created"}),
    };
    let take = |numbers: std::ops::RangeInclusive<u64>, place: &str| {
        let events = numbers.map(event).collect();
        world.host.memory().take_over(&source, events, place).unwrap()
    };
    assert_eq!(take(1..=3, "a"), 3);
    // A host that was killed after the commit comes again with the same events.
    assert_eq!(take(1..=3, "a"), 0);
    assert_eq!(take(2..=5, "b"), 2);
    let known = world.host.memory().taken_over(&source).unwrap();
    assert_eq!((known.number, known.place.as_str()), (5, "b"));
    let numbers: Vec<u64> =
        events(&world.host, "atlas").await.iter().map(|(_, number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    // Another tree of the same project has a position of its own.
    let other = EventSource { id: "tree_2".to_owned(), ..source };
    assert_eq!(world.host.memory().taken_over(&other).unwrap().number, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_is_created_while_the_server_runs_is_scheduled() {
    let data = tempfile::tempdir().unwrap();
    let heard = data.path().join("heard");
    let served = serve(data.path(), |settings| {
        settings.tasks.executor = accord_host::settings::ExecutorKind::Command;
        settings.tasks.command =
            command(r#"sh -c 'echo "{\"outcome\":\"done\"}" > outputs/report.json'"#);
        let tell = format!(
            "sh -c 'echo $ACCORD_NOTICE_TASK $ACCORD_NOTICE_STATUS >> {}'",
            heard.display()
        );
        settings.tasks_notify.command = command(&tell);
    })
    .await;
    // Another process creates the tree.
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    let first = create(&tasks, &[]);
    let second = create(&tasks, &[first]);
    wait_until("the first task to be in review", || {
        status_of(&folder, first).as_deref() == Some("review")
    })
    .await;
    assert_eq!(status_of(&folder, second).as_deref(), Some("backlog"));
    tasks.approve(&first.to_string(), &Default::default(), &human()).unwrap();
    wait_until("the second task to be in review", || {
        status_of(&folder, second).as_deref() == Some("review")
    })
    .await;
    let expected: Vec<String> = [(first, "review"), (first, "done"), (second, "review")]
        .map(|(id, status)| format!("{id} {status}"))
        .into();
    wait_until("the notifications", || {
        let text = fs::read_to_string(&heard).unwrap_or_default();
        text.lines().collect::<Vec<_>>() == expected
    })
    .await;
    served.close().await;
    // Nothing is left to take over.
    let host = opened(data.path(), Settings::default()).await;
    all_taken_over(&host, "atlas", &folder).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_closes_releases_its_leases() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    let id = create(&tasks, &[]);
    let served = serve(data.path(), |settings| {
        settings.tasks.executor = accord_host::settings::ExecutorKind::Command;
        settings.tasks.command = command("sleep 60");
    })
    .await;
    wait_until("the agent to run", || {
        fs::read_dir(folder.join("state/accord/workers"))
            .is_ok_and(|mut found| found.next().is_some())
    })
    .await;
    served.close().await;
    assert_eq!(status_of(&folder, id).as_deref(), Some("ready"));
    let host = opened(data.path(), Settings::default()).await;
    all_taken_over(&host, "atlas", &folder).await;
}

async fn link(asker: &Asker, project: &str, folder: &Path) -> crate::support::Answer {
    let path = format!("/accord/v1/projects/{project}/task-tree");
    asker.ask("PUT", &path, &[], &json!({"folder": folder}).to_string()).await
}

async fn project(asker: &Asker, id: &str) {
    asker.post("/v1/projects", &json!({"project_id": id})).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_linked_tree_is_scheduled_by_one_host() {
    let (data, repository) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tasks = tree(repository.path(), "atlas");
    let id = create(&tasks, &[]);
    let served = serve(data.path(), |_| {}).await;
    let owner = Asker::of(&served.host);
    link(&owner, "atlas", repository.path()).await.refused(404, "project_not_found");
    project(&owner, "atlas").await;
    project(&owner, "borealis").await;
    link(&owner, "borealis", repository.path()).await.refused(409, "task_tree_of_another_project");
    let nothing = tempfile::tempdir().unwrap();
    link(&owner, "atlas", nothing.path()).await.refused(404, "no_task_tree");
    let linked = link(&owner, "atlas", repository.path()).await.expect(200);
    assert_eq!(linked["link"]["folder"], json!(repository.path().canonicalize().unwrap()));
    wait_until("the task to be promoted", || {
        status_of(repository.path(), id).as_deref() == Some("ready")
    })
    .await;
    // Another host is refused, and the refusal names this one.
    let other = World::new();
    project(&other.owner(), "atlas").await;
    let refused = link(&other.owner(), "atlas", repository.path())
        .await
        .refused(409, "task_tree_of_another_host");
    let own = data.path().canonicalize().unwrap();
    assert!(refused["message"].as_str().unwrap().contains(own.to_str().unwrap()), "{refused}");
    // The link outlives the server.
    drop(owner);
    served.close().await;
    let served = serve(data.path(), |_| {}).await;
    let owner = Asker::of(&served.host);
    let links = owner.get("/accord/v1/task-trees").await.expect(200);
    assert_eq!(links["links"][0]["project_id"], "atlas");
    all_taken_over(&served.host, "atlas", repository.path()).await;
    owner.delete("/accord/v1/projects/atlas/task-tree").await.expect(200);
    assert_eq!(owner.get("/accord/v1/task-trees").await.expect(200)["links"], json!([]));
    link(&other.owner(), "atlas", repository.path()).await.expect(200);
    served.close().await;
}

#[tokio::test]
async fn tasks_are_content_of_a_project() {
    let world = World::new();
    let owner = world.owner();
    let folder = world.host.folder().join("projects/atlas");
    for (id, members) in [("atlas", json!({})), ("trial", json!({"x-conformance": true}))] {
        let mut request = members;
        request["project_id"] = id.into();
        owner.post("/v1/projects", &request).await.expect(201);
        create(&tree(&world.host.folder().join("projects").join(id), id), &[]);
    }
    let refused = owner.delete("/accord/v1/projects/atlas").await.refused(409, "project_not_empty");
    assert!(refused["message"].as_str().unwrap().contains("1 task"), "{refused}");
    assert!(folder.join("tasks").is_dir());
    let removed = owner.delete("/accord/v1/projects/trial").await.expect(200);
    assert_eq!(removed["removed"]["tasks"], 1);
    // Its tree goes, too: else its events would create the project again.
    assert!(!world.host.folder().join("projects/trial").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_is_visible_and_blocks_nothing() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    let served = serve(data.path(), |settings| {
        settings.tasks_notify.url = Setting::parse("http://127.0.0.1:9/closed").unwrap();
    })
    .await;
    let block = BlockRequest { reason: "no key".to_owned() };
    for _ in 0..2 {
        tasks.block(&create(&tasks, &[]).to_string(), &block, &human()).unwrap();
    }
    let host = served.host.clone();
    wait_until("both notifications to be given up", || {
        host.metrics().text().contains("accord_task_notifications_total{result=\"failed\"} 2")
    })
    .await;
    let failures = |(_, kind): &(u64, String)| kind == "notification.failed";
    assert_eq!(logged(&folder).into_iter().filter(failures).count(), 1);
    drop(host);
    served.close().await;
}

/// The data folder of a test must not be the one that a variable of the environment names.
#[test]
fn settings_belong_together() {
    let resolve = |text: &str| {
        let folder: TempDir = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("accord.toml"), text).unwrap();
        accord_host::settings::Sources { folder: folder.path().to_owned(), ..Default::default() }
            .resolve()
            .map(|resolved| resolved.settings)
            .map_err(|failure| failure.message)
    };
    let settings = resolve(
        "[tasks]\nexecutor = \"command\"\ncommand = \"agent -p '{prompt}'\"\n\
         [tasks.notify]\nurl = \"https://example.org/hook?x=1\"\nsecret_file = \"secret\"\n",
    )
    .unwrap();
    assert_eq!(settings.tasks.command.unwrap().words(), ["agent", "-p", "{prompt}"]);
    assert!(resolve("[tasks]\nexecutor = \"command\"\n").unwrap_err().contains("tasks.command"));
    assert!(resolve("[tasks.notify]\nsecret_file = \"s\"\n").unwrap_err().contains("url"));
    assert!(resolve("[tasks]\nexecutor = \"magic\"\n").unwrap_err().contains("neither manual"));
}
