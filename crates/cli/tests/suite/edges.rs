//! Edges and their hub as separate processes, joined through a proxy that the test cuts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, command, run};
use crate::memory::bare;
use crate::proxy::{Proxy, serve_behind};
use crate::run_place::{Place, plan};
use crate::server::Server;
use crate::wait::wait_until;

/// Serves the hub in a folder, which has the name of the proxy, too.
fn start(folder: &Path, proxy: &Proxy, variables: &[(&str, &str)]) -> Server {
    serve_behind(proxy, &folder.join("data"), variables)
}

/// A hub with the project `shop`, and a proxy before it.
pub(crate) struct Hub {
    pub(crate) folder: TempDir,
    pub(crate) server: Server,
    proxy: Proxy,
}

impl Hub {
    fn new() -> Self {
        Self::with(&[])
    }

    /// One with variables in the environment of its process.
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let proxy = Proxy::new();
        let server = start(folder.path(), &proxy, variables);
        let request = json!({"project_id": "shop", "name": "Shop"}).to_string();
        let (status, _) = server.ask("POST", "/v1/projects", &request);
        assert_eq!(status, 201);
        proxy.mend(&server.address);
        Self { folder, server, proxy }
    }

    /// Its URL, through the proxy.
    pub(crate) fn url(&self) -> &str {
        &self.proxy.url
    }

    pub(crate) fn restart(&mut self) {
        self.server.kill();
        self.server = start(self.folder.path(), &self.proxy, &[]);
        self.proxy.mend(&self.server.address);
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) =
            self.server.ask("GET", &format!("/accord/v1/projects/shop{path}"), "");
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// The events of the project until now.
    pub(crate) fn events(&self) -> Vec<Value> {
        // An event of its own says where the others end.
        let request = json!({"actor_id": "reader", "actor_type": "agent"}).to_string();
        let (_, session) = self.server.ask("POST", "/v1/projects/shop/sessions", &request);
        let last = session["session_id"].as_str().expect("an id").to_owned();
        let mut stream = TcpStream::connect(&self.server.address).expect("a host");
        let head = format!(
            "GET /v1/projects/shop/events HTTP/1.1\r\nHost: {}\r\nLast-Event-ID: 0\r\n\r\n",
            self.server.address
        );
        stream.write_all(head.as_bytes()).expect("a host");
        let mut events = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("a stream");
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).expect("JSON");
            if data.contains(&last) {
                return events;
            }
            events.push(event);
        }
        panic!("the stream ended");
    }

    /// The source ids of the events of runs, in the order of the stream.
    fn run_events(&self) -> Vec<String> {
        let events = self.events();
        let of_runs = events.iter().filter(|event| {
            let kind = event["type"].as_str().unwrap_or_default();
            kind.starts_with("run.") && event["data"]["id"].is_string()
        });
        of_runs.map(|event| event["data"]["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// The packages that Accord made, as the memory has them.
    pub(crate) fn packages(&self) -> Vec<Value> {
        let path = "/v1/projects/shop/packages?limit=100";
        let (status, answer) = self.server.ask("GET", path, "");
        assert_eq!(status, 200, "{answer}");
        answer["packages"].as_array().expect("packages").clone()
    }

    /// What waits for people.
    pub(crate) fn inbox(&self) -> Vec<Value> {
        let (status, answer) = self.server.ask("GET", "/accord/v1/inbox", "");
        assert_eq!(status, 200, "{answer}");
        answer["items"].as_array().expect("items").clone()
    }

    /// The kinds of what waits for people.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let items = self.inbox();
        let kinds = items.iter().map(|item| item["kind"].as_str().expect("a kind"));
        kinds.map(str::to_owned).collect()
    }

    pub(crate) fn edge(&self) -> Value {
        let edges = self.get("/edges")["edges"].as_array().expect("edges").clone();
        assert_eq!(edges.len(), 1, "{edges:?}");
        edges[0].clone()
    }
}

pub(crate) fn typed(place: &Place, words: &[&str]) -> Ran {
    let mut typed = command(words);
    typed.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
    run(typed, "")
}

/// Sends what is new.
pub(crate) fn send(place: &Place) {
    typed(place, &["edge", "--once"]).yes();
}

fn begin_edge(place: &Place) -> Child {
    let mut edge = command(&["edge"]);
    edge.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
    edge.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    edge.spawn().expect("accord starts")
}

pub(crate) fn kill(mut edge: Child) {
    edge.kill().expect("it was running");
    edge.wait().expect("it ended");
}

/// The ids of the events of the repository after a number of them.
pub(crate) fn event_ids(place: &Place, after: usize) -> Vec<String> {
    let lines = place.lines(".agentxchain/events.jsonl");
    let ids = lines.iter().skip(after);
    ids.map(|line| line["event_id"].as_str().expect("an id").to_owned()).collect()
}

/// A turn of the project manager up to the gate.
pub(crate) fn request(place: &Place) {
    let files = plan(place);
    place.commit();
    let history = place.root().join(".agentxchain/history.jsonl");
    let turns = std::fs::read_to_string(history).unwrap_or_default().lines().count();
    place.work("pm", &files, |result| {
        result["phase_transition_request"] = json!("implementation");
        result["decisions"] = json!([{"id": format!("DEC-{:03}", turns + 1), "category": "scope",
            "statement": "sell books first", "rationale": "they are there"}]);
    });
    for path in &files {
        place.write(path, &(place.read(path) + "\nmore\n"));
    }
    place.run("accept --checkpoint").yes();
}

pub(crate) fn join(place: &Place, hub: &Hub, more: &[&str]) -> Ran {
    typed(place, &[&["join", &hub.proxy.url, "--project", "shop"], more].concat())
}

#[test]
fn what_happens_at_an_edge_reaches_the_hub_once_and_in_order() {
    let (mut hub, place) = (Hub::new(), Place::begun());
    let before = event_ids(&place, 0).len();
    let shown = join(&place, &hub, &["--dry-run"]).yes();
    assert!(
        shown.contains("nothing was sent") && shown.contains("from before the join"),
        "{shown}"
    );
    assert!(shown.contains("this key may join"), "{shown}");
    let other = ["join", &hub.proxy.url, "--project", "other", "--dry-run"];
    let shown = typed(&place, &other);
    assert_eq!(shown.code, 1, "{}", shown.stdout);
    assert!(shown.stdout.contains("project_not_found"), "{}", shown.stdout);
    assert!(hub.get("/edges")["edges"].as_array().expect("edges").is_empty());
    let decide = ["--decide", "run.gate", "--deciders", "human:lead"];
    let said = join(&place, &hub, &decide).yes();
    assert!(said.contains("joined"), "{said}");
    assert_eq!(hub.run_events(), Vec::<String>::new(), "nothing from before the join");

    request(&place);
    send(&place);
    assert_eq!(hub.run_events(), event_ids(&place, before));
    let edge = hub.edge();
    assert_eq!(edge["requests"], 1, "{edge}");
    let id = edge["edge_id"].as_str().expect("an id").to_owned();
    let items = hub.get(&format!("/edges/{id}"))["items"].clone();
    let gate = items.as_array().expect("items").iter().find(|item| item["kind"] == "request");
    let gate = gate.expect("a request");
    assert_eq!(gate["type"], "run.gate");
    let item = gate["id"].as_str().expect("an id").replace('/', "%2F");
    let sent = hub.get(&format!("/edges/{id}/items/{item}"))["item"].clone();
    let document = &sent["document"];
    assert_eq!(document["diff"], "diff not sent", "{document}");
    assert_eq!(document["digest"].as_str().expect("a digest").len(), 64);
    assert!(!document["files"].as_array().expect("files").is_empty(), "{document}");
    let (kind, digest) = ("run.gate", &sent["evidence"]);
    let waits = hub.inbox();
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &json!(kind)), "{waits:?}");
    let title = waits[0]["title"].as_str().expect("a title");
    assert!(title.starts_with("A gate waits at the edge "), "{title}");
    assert_eq!((&waits[0]["version"], &waits[0]["urgency"]), (digest, &json!(2)));
    let data = hub.folder.path().join("data");
    let mut show = command(&["inbox", "show", waits[0]["handle"].as_str().expect("a name")]);
    show.env("ACCORD_DATA", &data).current_dir("/");
    let shown = run(show, "").yes();
    let (known, claims) = shown.split_once("Claims\n").expect("both");
    assert!(known.contains("as of: ") && known.contains(&id), "{shown}");
    assert!(claims.contains("file: ") && claims.contains("diff not sent"), "{shown}");

    // The hub decides at what it showed, and takes the decision back before the edge has it.
    assert!(shown.contains("accord inbox do") && shown.contains("approve"), "{shown}");
    let handle = waits[0]["handle"].as_str().expect("a name");
    let on_hub = |words: &[&str]| {
        let mut typed = command(words);
        typed.env("ACCORD_DATA", &data).env("ACCORD_ACTOR", "human:lead").current_dir("/");
        run(typed, "")
    };
    let decided = on_hub(&["inbox", "do", handle, "approve", "--", "--yes"]);
    assert_eq!(decided.code, 0, "{decided:?}");
    let shown = on_hub(&["inbox", "show", handle]).yes();
    assert!(shown.contains("decision, waiting: approve by human:lead"), "{shown}");
    let decisions = hub.get(&format!("/edges/{id}/decisions"))["decisions"].clone();
    let decision = decisions[0]["decision_id"].as_str().expect("an id");
    let withdraw = ["project", "edges", &id, "--project", "shop", "--withdraw", decision];
    on_hub(&withdraw).yes();

    // The hub is away: the work goes on, and is sent later.
    hub.proxy.cut();
    place.run("send-back --reason later --yes").yes();
    typed(&place, &["edge", "--once"]).refused("HOST_UNREACHABLE");
    let status = typed(&place, &["edge", "status", "--json"]).yes();
    let status: Value = serde_json::from_str(&status).expect("JSON");
    assert!(status["edges"][0]["waiting"].as_u64().expect("a number") > 0, "{status}");
    assert!(status["edges"][0]["trouble"].is_string(), "{status}");
    let edge = begin_edge(&place);
    request(&place);
    kill(edge);
    hub.restart();
    send(&place);
    assert_eq!(hub.run_events(), event_ids(&place, before));
    // Git takes lines of the record away and brings them back: no event is sent again.
    let record = place.read(".agentxchain/events.jsonl");
    for text in ["", &record] {
        place.write(".agentxchain/events.jsonl", text);
        send(&place);
    }
    place.run("approve-transition --yes").yes();
    send(&place);
    assert_eq!(hub.run_events(), event_ids(&place, before));
    // The next turn, which is that of a person.
    assert_eq!((&hub.edge()["requests"], hub.kinds()), (&json!(1), vec!["run.turn".to_owned()]));
    // What was decided there is in the memory of the hub, once.
    let kinds = |packages: &[Value]| -> Vec<String> {
        let kinds = packages.iter().map(|it| it["x-source"]["kind"].as_str().unwrap_or("?"));
        kinds.map(str::to_owned).collect()
    };
    wait_until("the packages of the gate and of two turns", || hub.packages().len() == 3);
    let packages = hub.packages();
    let gates: Vec<&Value> =
        packages.iter().filter(|it| it["x-source"]["kind"] == "run.gate").collect();
    assert_eq!(gates.len(), 1, "{packages:?}");
    assert_eq!(gates[0]["x-source"]["edge"], json!(id));
    assert_eq!(gates[0]["x-approved_by"], Value::Null, "it is what the edge says");
    assert!(gates[0]["decisions_made"][0].as_str().expect("a decision").contains("approved it"));
    let before = kinds(&packages);
    assert_eq!(before.iter().filter(|kind| *kind == "run.turn").count(), 2, "{before:?}");
    hub.restart();
    send(&place);
    assert_eq!(kinds(&hub.packages()), before);

    typed(&place, &["leave", "--erase"]).yes();
    assert!(hub.get("/edges")["edges"].as_array().expect("edges").is_empty());
    assert_eq!(hub.run_events(), Vec::<String>::new(), "the data of the events is removed");
    typed(&place, &["edge", "--once"]).refused("not_joined");
}

#[test]
fn a_daemon_and_a_hub_that_are_killed_lose_and_repeat_nothing() {
    let (mut hub, place) = (Hub::new(), Place::begun());
    let before = event_ids(&place, 0).len();
    join(&place, &hub, &[]).yes();
    for round in 0..3 {
        let edge = begin_edge(&place);
        if round == 1 {
            hub.proxy.cut();
        }
        request(&place);
        if round == 2 {
            hub.server.kill();
        }
        kill(edge);
        place.run("send-back --reason again --yes").yes();
        hub.restart();
    }
    let edge = begin_edge(&place);
    let expected = event_ids(&place, before);
    wait_until("the hub to have all events", || hub.run_events() == expected);
    kill(edge);
}

#[test]
fn a_hub_that_is_restored_gets_what_it_lacks_once() {
    let (mut hub, place) = (Hub::new(), Place::begun());
    let before = event_ids(&place, 0).len();
    join(&place, &hub, &[]).yes();
    request(&place);
    send(&place);
    let incarnation = |place: &Place| {
        let status = typed(place, &["edge", "status", "--json"]).yes();
        let status: Value = serde_json::from_str(&status).expect("JSON");
        status["edges"][0]["incarnation"].as_str().expect("an id").to_owned()
    };
    let first = incarnation(&place);
    hub.back_up();
    place.run("send-back --reason later --yes").yes();
    send(&place);
    let all = event_ids(&place, before);
    assert_eq!(hub.run_events(), all);
    hub.restore();
    assert_ne!(hub.run_events(), all);
    send(&place);
    assert_eq!(hub.run_events(), all);
    assert_ne!(incarnation(&place), first, "the hub is another incarnation");
}

impl Hub {
    fn folders(&self) -> [String; 2] {
        let of = |name: &str| self.folder.path().join(name).to_str().expect("text").to_owned();
        [of("backup"), of("data")]
    }

    /// Backs the store up while it is served.
    pub(crate) fn back_up(&self) {
        let [backup, data] = self.folders();
        run(bare(&["store", "backup", &backup, "--data", &data]), "").yes();
    }

    /// Puts the backup in place of the store, and serves it.
    pub(crate) fn restore(&mut self) {
        self.server.kill();
        let [backup, data] = self.folders();
        run(bare(&["store", "restore", &backup, "--data", &data, "--replace"]), "").yes();
        self.server = start(self.folder.path(), &self.proxy, &[]);
        self.proxy.mend(&self.server.address);
    }
}

#[test]
fn copies_and_clones_are_not_the_edge() {
    let (hub, place) = (Hub::new(), Place::begun());
    join(&place, &hub, &[]).yes();
    let folder = tempfile::tempdir().expect("a folder");
    let copy = |name: &str, program: &str, options: &[&str]| {
        let target = folder.path().join(name);
        let mut made = std::process::Command::new(program);
        made.args(options).arg(place.root()).arg(&target);
        assert_eq!(run(made, "").code, 0);
        target
    };
    let at = |folder: &Path, words: &[&str]| {
        let mut typed = command(words);
        typed.current_dir(folder).env("XDG_STATE_HOME", place.state());
        run(typed, "")
    };
    let copied = copy("copy", "cp", &["-r"]);
    let refused = at(&copied, &["edge", "--once"]).refused("edge_duplicated");
    assert!(refused.contains("accord join"), "{refused}");
    let again = ["join", &hub.proxy.url, "--project", "shop"];
    at(&copied, &again).refused("edge_duplicated");
    at(&copied, &[&again[..], &["--new"]].concat()).yes();
    let clone = copy("clone", "git", &["clone", "--quiet"]);
    at(&clone, &["edge", "--once"]).refused("not_joined");
    send(&place);
    typed(&place, &["join", "http://127.0.0.1:9", "--project", "shop"]).refused("already_joined");
    // One that is not there any more stops no other.
    let lost = copy("lost", "cp", &["-r"]);
    at(&lost, &[&again[..], &["--new"]].concat()).yes();
    std::fs::remove_dir_all(&lost).expect("removed");
    let all = at(&clone, &["edge", "--once", "--all"]);
    assert_eq!(all.stdout.lines().count(), 2, "{}", all.stdout);
    assert!(all.stderr.contains("lost"), "{}", all.stderr);
    // A folder that was moved goes on.
    let moved = folder.path().join("moved");
    std::fs::rename(&copied, &moved).expect("moved");
    at(&moved, &["edge", "--once"]).yes();
    assert_eq!(hub.get("/edges")["edges"].as_array().expect("edges").len(), 3);
    let status = at(&moved, &["status"]).yes();
    assert!(status.contains("joined to shop"), "{status}");
    // A new join ends the old one.
    at(&moved, &[&again[..], &["--new"]].concat()).yes();
    let edges = hub.get("/edges")["edges"].as_array().expect("edges").clone();
    let left = edges.iter().filter(|edge| edge["left_at"].is_string());
    assert_eq!((edges.len(), left.count()), (4, 1), "{edges:?}");

    // The files of the edge are the user's own.
    use std::os::unix::fs::PermissionsExt as _;
    let edges = place.state().join("accord/edges");
    for entry in std::fs::read_dir(&edges).expect("edges").flatten() {
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&entry.path()), 0o700);
        for file in std::fs::read_dir(entry.path()).expect("files").flatten() {
            assert_eq!(mode(&file.path()), 0o600, "{file:?}");
        }
    }
}

#[test]
fn a_difference_is_sent_without_credentials_and_without_excluded_files() {
    let (hub, place) = (Hub::new(), Place::begun());
    join(&place, &hub, &["--send", "diff", "--exclude", "*.env"]).yes();
    let token = "ghp_9aK2mQx7Lp4Rt8Vw1Zc6Nb3Yd5Hf0Js2Gu7E";
    let files = plan(&place);
    place.commit();
    place.work("pm", &files, |result| {
        result["phase_transition_request"] = json!("implementation");
    });
    for path in &files {
        let root = place.root().display();
        let more = format!("\nplain words\ntoken {token}\nin {root}/x, prod.env\n");
        place.write(path, &(place.read(path) + &more));
    }
    place.run("accept --checkpoint").yes();
    send(&place);
    let id = hub.edge()["edge_id"].as_str().expect("an id").to_owned();
    let items = hub.get(&format!("/edges/{id}"))["items"].clone();
    let mut texts = String::new();
    for item in items.as_array().expect("items") {
        let item = item["id"].as_str().expect("an id").replace('/', "%2F");
        texts.push_str(&hub.get(&format!("/edges/{id}/items/{item}")).to_string());
    }
    assert!(texts.contains("+plain words"), "{texts}");
    assert!(texts.contains("[removed: a token of GitHub]"), "{texts}");
    assert!(!texts.contains(token), "{texts}");
    assert!(texts.contains("in ./x, [excluded]"), "{texts}");
    assert!(!texts.contains(place.root().to_str().expect("text")), "{texts}");
}

/// Runs a command about the tasks at a place.
fn task_at(place: &Place, words: &str) -> String {
    let words: Vec<&str> = std::iter::once("task").chain(words.split(' ')).collect();
    let mut typed = command(&words);
    typed.current_dir(place.root()).env("XDG_STATE_HOME", place.state());
    typed.env("ACCORD_ACTOR", "human:lead");
    run(typed, "").yes()
}

#[test]
fn a_task_for_a_person_is_in_the_inbox_of_the_hub_until_it_is_done() {
    let (hub, place) = (Hub::new(), Place::new());
    task_at(&place, "init --root . --project shop");
    join(&place, &hub, &[]).yes();
    let task = task_at(&place, "create Contract --agent human:ann --ready --id-only");
    send(&place);
    let waits = hub.inbox();
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &json!("task.handoff")), "{waits:?}");
    let words = waits[0]["words"].as_str().expect("words");
    assert!(words.contains(task.trim()) && words.contains("human:ann: Contract"), "{words}");
    task_at(&place, &format!("close {} --yes", task.trim()));
    send(&place);
    assert_eq!(hub.inbox(), Vec::<Value>::new());
}

#[test]
fn a_task_tree_is_an_edge_too() {
    let (hub, place) = (Hub::new(), Place::new());
    let task = |words: &str| task_at(&place, words);
    task("init --root . --project shop");
    let early = task("create Early --ready --id-only");
    join(&place, &hub, &[]).yes();
    let late = task("create Late --ready --id-only");
    let (early, late) = (early.trim(), late.trim());
    task(&format!("block {late} no-disk"));
    send(&place);
    let edge = hub.edge();
    assert_eq!((&edge["source"], &edge["requests"]), (&json!("tasks"), &json!(1)), "{edge}");
    let id = edge["edge_id"].as_str().expect("an id");
    let items = hub.get(&format!("/edges/{id}"))["items"].clone();
    assert_eq!(items[0]["type"], "task.blocked", "{items}");
    let waits = hub.inbox();
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &json!("task.blocked")), "{waits:?}");
    assert_eq!(waits[0]["verbs"], json!([]), "it is decided at the edge: {waits:?}");
    task(&format!("unblock {late}"));
    send(&place);
    assert_eq!(hub.inbox(), Vec::<Value>::new());
    assert_eq!(hub.edge()["requests"], 0);
    let events = hub.events();
    let of_tasks: Vec<&Value> =
        events.iter().filter(|event| event["data"]["taskId"].is_string()).collect();
    assert!(of_tasks.iter().all(|event| event["data"]["taskId"] == late), "{early}: {of_tasks:?}");
    let numbers: Vec<u64> =
        of_tasks.iter().map(|event| event["data"]["sequence"].as_u64().expect("one")).collect();
    assert!(numbers.is_sorted() && numbers.len() > 2, "{numbers:?}");
    typed(&place, &["leave"]).yes();
    assert!(hub.edge()["left_at"].is_string());
}

#[test]
fn another_outbox_for_the_same_edge_is_noticed() {
    let (hub, place) = (Hub::new(), Place::begun());
    join(&place, &hub, &[]).yes();
    let edges = place.state().join("accord/edges");
    let edge = std::fs::read_dir(&edges).expect("edges").flatten().next().expect("an edge");
    let outbox = edge.path().join("outbox.jsonl");
    request(&place);
    send(&place);
    let lines = std::fs::read_to_string(&outbox).expect("an outbox");
    let last = lines.lines().last().expect("a line");
    let other = last.replace("\"at\":\"2", "\"at\":\"1");
    assert_ne!(other, last);
    std::fs::write(&outbox, lines.replace(last, &other)).expect("a file");
    let refused = typed(&place, &["edge", "--once"]).refused("edge_damaged");
    assert!(refused.contains("--new"), "{refused}");
    // Names may be abbreviated.
    let id = hub.edge()["edge_id"].as_str().expect("an id").to_owned();
    let data = hub.folder.path().join("data");
    let of = ["project", "edges", &id[..12], "--project", "shop", "--data"];
    let shown = run(bare(&[&of[..], &[data.to_str().expect("text")]].concat()), "").yes();
    assert!(shown.contains(&id), "{shown}");
}

#[test]
fn a_command_sends_what_it_did_when_it_ends() {
    let (hub, place) = (Hub::new(), Place::begun());
    let before = event_ids(&place, 0).len();
    join(&place, &hub, &[]).yes();
    request(&place);
    // The hub may be slow. The next command sends what waits.
    wait_until("the hub to have the events", || {
        place.run("status").yes();
        hub.run_events() == event_ids(&place, before)
    });
}

#[test]
fn a_turn_of_a_person_and_a_block_are_in_the_inbox_of_the_hub() {
    let (hub, place) = (Hub::new(), Place::begun());
    join(&place, &hub, &[]).yes();
    place.run("assign pm").yes();
    place.run("dispatch").yes();
    send(&place);
    let only = |kind: &str| {
        let items = hub.inbox();
        assert_eq!(hub.kinds(), [kind], "{items:?}");
        let id = items[0]["id"].as_str().expect("an id").replace('/', "%2F");
        let (status, shown) = hub.server.ask("GET", &format!("/accord/v1/inbox/{id}"), "");
        assert_eq!(status, 200, "{shown}");
        let facts = shown["item"]["evidence"].as_array().expect("evidence").clone();
        move |name: &str| {
            let found = facts.iter().find(|fact| fact["name"] == name);
            found.and_then(|fact| fact["value"].as_str()).unwrap_or_default().to_owned()
        }
    };
    let command = only("run.turn")("command, there");
    assert!(command.starts_with("accord run stage --turn "), "{command}");
    place.run("escalate --reason 'which tax applies?'").yes();
    send(&place);
    let because = only("run.blocked")("blocked because");
    assert!(because.contains("which tax applies?"), "{because}");
}
