//! `accord serve` and task trees that others use at the same time: every event of a tree is in the
//! stream of its project once.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use accord_base::{By, Door};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::operations::{CreateRequest, InitRequest};
use serde_json::{Value, json};

use crate::accord::run;
use crate::memory::bare;
use crate::server::Server;
use crate::task_place::Tasks;
use crate::wait::{LIMIT, wait_until};

/// An event: its number in the tree, and its own type.
type Logged = (u64, String);

/// The events of a tree, in its own log.
fn logged(root: &Path) -> Vec<Logged> {
    let days = std::fs::read_dir(root.join("events")).expect("a folder");
    let mut days: Vec<PathBuf> = days.map(|day| day.expect("an entry").path()).collect();
    days.retain(|day| day.extension().is_some_and(|end| end == "jsonl"));
    days.sort();
    let text: String =
        days.iter().map(|day| std::fs::read_to_string(day).expect("a log")).collect();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let kind = line["type"].as_str().expect("a type").to_owned();
        (line["eventId"].as_u64().expect("a number"), kind)
    };
    text.lines().map(line).collect()
}

/// A client that follows the events of the project `shop`.
struct Follower {
    lines: BufReader<TcpStream>,
    /// The sequence in the stream.
    last: u64,
}

impl Follower {
    fn new(server: &Server, last: u64) -> Self {
        let mut stream = TcpStream::connect(&server.address).expect("the server listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let address = &server.address;
        write!(
            stream,
            "GET /v1/projects/shop/events HTTP/1.1\r\nHost: {address}\r\n\
             Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n\r\n"
        )
        .expect("the server reads");
        Self { lines: BufReader::new(stream), last }
    }

    /// The next event of the tree. The stream has no gaps, and names each event after its type.
    fn next(&mut self) -> Logged {
        let mut fields = VecDeque::new();
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).expect("the stream goes on");
            assert!(!line.is_empty(), "the stream ended");
            if let Some(id) = line.strip_prefix("id: ") {
                fields.push_back(id.trim().to_owned());
            } else if let Some(name) = line.strip_prefix("event: ") {
                fields.push_back(name.trim().to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                let event: Value = serde_json::from_str(data).expect("JSON");
                let (seq, kind) = (event["seq"].as_u64().expect("a number"), &event["type"]);
                assert_eq!(seq, self.last + 1, "{event}");
                self.last = seq;
                assert!(fields.contains(&seq.to_string()), "{fields:?} {event}");
                let data = &event["data"];
                if let Some(number) = data["sequence"].as_u64() {
                    let own = data["type"].as_str().expect("a type").to_owned();
                    let has_name = own.starts_with("task.");
                    let named = if has_name { own.clone() } else { format!("task.{own}") };
                    assert!(fields.contains(&named), "{fields:?} {kind} {event}");
                    return (number, own);
                }
            } else if line.trim().is_empty() {
                fields.clear();
            }
        }
    }

    fn take(&mut self, count: usize) -> Vec<Logged> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A tree with many events, which no host has seen.
fn busy_tree(root: &Path, count: usize) {
    const CALLERS: usize = 16;
    std::fs::create_dir_all(root).expect("a folder");
    let tree = Tree::open(root, "shop", Environment::system()).expect("a tree");
    let person = By::parse("human:lead", Door::Cli).expect("a person");
    tree.init(&InitRequest::default(), &person).expect("a tree");
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for _ in 0..count / CALLERS {
                    let request =
                        CreateRequest { title: "Ship it".to_owned(), ..CreateRequest::default() };
                    tree.create(&request, &person).expect("a task");
                }
            });
        }
    });
}

/// How many events of tasks the store of a data folder has, while no process has it open.
fn taken_over(data: &Path) -> usize {
    let copy = tempfile::tempdir().expect("a folder");
    for name in ["accord.db", "accord.db-wal"] {
        // The log is not there after a clean end.
        let _ = std::fs::copy(data.join(name), copy.path().join(name));
    }
    let store = rusqlite::Connection::open(copy.path().join("accord.db")).expect("a store");
    let sql = "SELECT count(*) FROM event WHERE kind LIKE 'task.%'";
    // A server that was killed at once has not made the tables yet.
    let count: i64 = store.query_row(sql, [], |row| row.get(0)).unwrap_or(0);
    usize::try_from(count).expect("a count")
}

/// Removes the store of a data folder, and leaves the trees.
fn forget_store(data: &Path) {
    for name in ["accord.db", "accord.db-wal", "accord.db-shm"] {
        // The other files are not there after a clean end.
        let _ = std::fs::remove_file(data.join(name));
    }
    assert_eq!(written(data), 0, "the store is removed");
}

/// The bytes that the store has written.
fn written(data: &Path) -> u64 {
    ["accord.db", "accord.db-wal"]
        .iter()
        .map(|name| std::fs::metadata(data.join(name)).map_or(0, |about| about.len()))
        .sum()
}

#[test]
fn a_server_that_is_killed_while_it_takes_events_over_repeats_and_loses_none() {
    const EVENTS: usize = 3_000;
    let tasks = Tasks::new();
    busy_tree(&tasks.root(), EVENTS);
    let all = logged(&tasks.root());
    assert!(all.len() >= EVENTS - 16, "{}", all.len());
    // Opening a store that has nothing to take over.
    let empty = Tasks::new();
    drop(Server::start(&empty.data(), &[]));
    let basis = written(&empty.data());
    let mut kills_in_the_middle = 0;
    for round in 0..20 {
        let mut before = taken_over(&tasks.data());
        if kills_in_the_middle == 3 || (before >= all.len() && kills_in_the_middle > 0) {
            break;
        }
        if before >= all.len() {
            // The server was done before this process could run. It begins again.
            forget_store(&tasks.data());
            before = 0;
        }
        let start = written(&tasks.data()).max(basis);
        let data = tasks.data();
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().expect("text")];
        let mut child =
            bare(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // Once a part is written. A log that the store uses again does not grow: then any moment
        // will do, and on a busy machine a later one is better.
        let wanted = start + 64 * 1024 * (1 + round % 3);
        let patience = Instant::now() + Duration::from_secs(if round == 0 { 60 } else { round });
        while written(&data) < wanted && Instant::now() < patience {
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().expect("it was running");
        child.wait().expect("it ended");
        let after = taken_over(&tasks.data());
        assert!(after >= before, "events were lost: {before}, then {after}");
        kills_in_the_middle += u32::from(0 < after && after < all.len());
    }
    assert!(kills_in_the_middle > 0, "no kill was in the middle");
    let server = Server::start(&tasks.data(), &[]);
    assert_eq!(Follower::new(&server, 0).take(all.len()), all);
    // From anywhere.
    let mut later = Follower::new(&server, 1_000);
    let next = later.next();
    assert_eq!(later.take(500), all[usize::try_from(next.0).expect("small")..][..500]);
}

#[test]
fn a_server_commands_and_clients_change_one_tree_at_the_same_time() {
    const EACH: usize = 6;
    let tasks = Tasks::new();
    let root = tasks.folder().join("repo");
    std::fs::create_dir(&root).expect("a folder");
    let here = |words: &str| {
        let mut command = tasks.command(&format!("{words} --root {}", root.display()));
        command.env_remove("ACCORD_DATA").env_remove("ACCORD_PROJECT");
        run(command, "")
    };
    assert_eq!(here("init --project shop").code, 0);
    let tasks = &tasks;
    let server = Server::start(&tasks.data(), &[]);
    let created = server.ask("POST", "/v1/projects", r#"{"project_id": "shop"}"#);
    assert_eq!(created.0, 201, "{created:?}");
    let link = |data: PathBuf| {
        let mut link = bare(&["project", "link", "shop", "--tasks"]);
        link.arg(&root).env("ACCORD_DATA", data);
        run(link, "")
    };
    let linked = link(tasks.data());
    assert_eq!(linked.code, 0, "{linked:?}");
    std::thread::scope(|scope| {
        // Clients of the server.
        for caller in 0..2 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..EACH {
                    let body = json!({"title": format!("HTTP {caller}-{number}"), "ready": true});
                    let path = "/accord/v1/projects/shop/tasks?actor=human:lead";
                    let (status, answer) = server.ask("POST", path, &body.to_string());
                    assert_eq!(status, 201, "{answer}");
                    let id = answer["result"]["task"]["id"].as_str().expect("an id");
                    let path = format!("/accord/v1/projects/shop/tasks/{id}/claim");
                    let body = json!({"agent": format!("http-{caller}")}).to_string();
                    assert_eq!(server.ask("POST", &path, &body).0, 200);
                }
            });
        }
        // Commands on the files. The scheduler of the server promotes what they create.
        for caller in 0..2 {
            let (here, root) = (&here, &root);
            scope.spawn(move || {
                for number in 0..EACH {
                    let made =
                        here(&format!("create 'Command {caller}-{number}' --agent dev --id-only"));
                    assert_eq!(made.code, 0, "{made:?}");
                    let id = made.stdout.trim().to_owned();
                    wait_until("the scheduler to promote the task", || {
                        root.join(format!("tasks/ready/{id}.md")).exists()
                    });
                    let claimed = here(&format!("claim {id} --as dev"));
                    assert_eq!(claimed.code, 0, "{claimed:?}");
                }
            });
        }
    });
    let ids = |answer: &Value| -> Vec<String> {
        let list = answer["result"]["tasks"].as_array().expect("a list").iter();
        list.map(|task| task["id"].as_str().expect("an id").to_owned()).collect()
    };
    let (_, served) =
        server.ask("GET", "/accord/v1/projects/shop/tasks?status=in-progress&limit=100", "");
    let listed = here("list --status in-progress --limit 100 --json");
    let listed: Value = serde_json::from_str(&listed.stdout).expect("a document");
    assert_eq!(ids(&served).len(), 4 * EACH);
    assert_eq!(ids(&served), ids(&listed));
    let lint = here("lint");
    assert_eq!(lint.code, 0, "{lint:?}");
    let all = logged(&root);
    assert_eq!(Follower::new(&server, 0).take(all.len()), all);
    // A second host does not schedule the tree.
    let other = Tasks::new();
    let second = Server::start(&other.data(), &[]);
    second.ask("POST", "/v1/projects", r#"{"project_id": "shop"}"#);
    let refused = link(other.data());
    assert!(refused.messages().starts_with("task_tree_of_another_host"), "{refused:?}");
}

#[test]
fn a_server_notices_what_another_tool_changes_within_a_second() {
    const EDITS: usize = 8;
    let tasks = Tasks::new();
    let id = tasks.create("'Write the parser' --ready");
    let tasks = tasks.served();
    let file = |status: &str| tasks.root().join(format!("tasks/{status}/{id}.md"));
    let text = std::fs::read_to_string(file("ready")).expect("the file");
    let mut follower = Follower::new(tasks.host(), 0);
    follower.take(logged(&tasks.root()).len());
    let mut times = Vec::new();
    for edit in 0..EDITS {
        let began = Instant::now();
        let title = format!("title: Edited {edit}");
        std::fs::write(file("ready"), text.replace("title: Write the parser", &title))
            .expect("a file");
        while follower.next().1 != "task.updated" {}
        times.push(began.elapsed());
        let shown = tasks.json(&format!("show {id}"));
        assert_eq!(shown["task"]["title"], format!("Edited {edit}"));
    }
    // A move of the file.
    let began = Instant::now();
    std::fs::rename(file("ready"), file("backlog")).expect("a move");
    while follower.next().1 != "task.transitioned" {}
    times.push(began.elapsed());
    // On a busy machine some take longer. Without a watch, all would.
    let fastest = times.iter().min().expect("edits");
    assert!(*fastest < Duration::from_secs(1), "{times:?}");
}
