//! A day of mixed work. Two machines with a real coding agent each are joined to a hub, through a
//! proxy that is cut meanwhile: a governed repository with Claude Code, and a task tree with a host
//! of its own and Codex, which also works on a task of the hub. A person decides over HTTP, another
//! one in a terminal of the hub. Hub and edges are killed at every durable step of the way that a
//! decision takes.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Desk;
use super::script::title;
use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::proxy::{Proxy, serve_behind};
use crate::server::Server;
use crate::wait::{exit_of, output_of, wait_for, wait_until};

/// The durable steps of the way of a decision, in their order.
const AT_HUB: [&str; 3] = ["hub.decided", "hub.taken", "hub.applied"];
const AT_RUN: [&str; 5] =
    ["edge.taken", "run.decision", "edge.carried_out", "edge.reported", "edge.told"];
const AT_TASKS: [&str; 4] = ["edge.taken", "edge.carried_out", "edge.reported", "edge.told"];

/// Steps at which a process is still to be killed. It is started again each time.
struct Kills {
    left: Vec<&'static str>,
}

impl Kills {
    fn at(steps: &[&'static str]) -> Self {
        Self { left: steps.to_vec() }
    }

    fn next(&self) -> &'static str {
        self.left.first().copied().unwrap_or("none")
    }

    /// Whether the process ended at its step. Fails if it ended otherwise.
    fn is_killed(&mut self, child: &mut Child) -> bool {
        let Some(status) = child.try_wait().expect("a child") else { return false };
        assert_eq!(status.signal(), Some(6), "{:?}: {status}", self.left);
        self.left.remove(0);
        true
    }
}

/// The hub: a data folder with keys, and a person at its terminal.
struct Hub {
    folder: TempDir,
    proxy: Proxy,
    server: Server,
    kills: Kills,
    /// The key of the person who decides over HTTP.
    lead: String,
    /// A key of the machines.
    machines: String,
}

impl Hub {
    fn new() -> Self {
        let (folder, proxy) = (tempfile::tempdir().expect("a folder"), Proxy::new());
        let types = |words: &str| terminal(&folder, words);
        types("project create shop");
        types("task init --project shop --title Shop --heartbeat 30");
        let by = "--project shop --verb read --verb write";
        let lead =
            types(&format!("key create --label lead {by} --verb approve --actor human:lead"));
        let machines = types(&format!("key create --label machines {by}"));
        let server = serve_behind(&proxy, &folder.path().join("data"), &[]);
        proxy.mend(&server.address);
        let kills = Kills::at(&[]);
        let [lead, machines] = [lead, machines].map(|key| key.trim().to_owned());
        Self { folder, proxy, server, kills, lead, machines }
    }

    /// A command of a person in a terminal of the hub.
    #[track_caller]
    fn types(&self, words: &str) -> String {
        terminal(&self.folder, words)
    }

    /// Ends the process, and starts one that is killed at these steps, one after the other.
    fn is_killed_at(&mut self, steps: &[&'static str]) {
        self.kills = Kills::at(steps);
        self.server.kill();
        self.serve();
    }

    fn serve(&mut self) {
        let data = self.folder.path().join("data");
        let variables = [("ACCORD_KILL_AT", self.kills.next())];
        self.server = serve_behind(&self.proxy, &data, &variables);
        self.proxy.mend(&self.server.address);
    }

    /// Starts it again if it was killed.
    fn tend(&mut self) {
        if self.server.has_ended() {
            self.kills.left.remove(0);
            self.serve();
        }
    }

    /// A request of the person who decides over HTTP.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let key = format!("Authorization: Bearer {}\r\n", self.lead);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, _, answer) = self.server.ask_with(&key, method, path, &body);
        (status, answer)
    }

    /// A request that the hub is killed in the middle of.
    fn ask_in_vain(&self, path: &str, body: &Value) {
        let (key, body) = (&self.lead, body.to_string());
        let mut stream = TcpStream::connect(&self.server.address).expect("a host");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.server.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("a host");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer, "");
    }

    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn items(&self) -> Vec<Value> {
        let answer = self.get("/accord/v1/inbox?limit=100");
        answer["items"].as_array().expect("items").clone()
    }

    /// Waits for an item of a kind.
    fn item(&self, kind: &str) -> Value {
        wait_for(format_args!("an item {kind}"), || {
            self.items().into_iter().find(|item| item["kind"] == kind)
        })
    }

    fn decisions(&self, edge: &str) -> Vec<Value> {
        let answer = self.get(&format!("/accord/v1/projects/shop/edges/{edge}/decisions"));
        answer["decisions"].as_array().expect("decisions").clone()
    }

    fn edge(&self, source: &str) -> String {
        let edges = self.get("/accord/v1/projects/shop/edges")["edges"].clone();
        let mut edges = edges.as_array().expect("edges").iter();
        let edge = edges.find(|edge| edge["source"] == source).expect("it is joined");
        edge["edge_id"].as_str().expect("an id").to_owned()
    }
}

#[track_caller]
fn terminal(folder: &TempDir, line: &str) -> String {
    let words = shell_words::split(line).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = bare(&words);
    command.env("ACCORD_ACTOR", "human:ops").env("ACCORD_DATA", folder.path().join("data"));
    command.current_dir(folder.path());
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    ran.stdout
}

/// A process at an edge that takes decisions, and is killed while it does.
struct Taker<'a> {
    desk: &'a Desk,
    words: &'static [&'static str],
    variables: Vec<(&'static str, String)>,
    kills: Kills,
    child: Child,
}

impl<'a> Taker<'a> {
    fn start(
        desk: &'a Desk,
        words: &'static [&'static str],
        variables: &[(&'static str, String)],
        steps: &[&'static str],
    ) -> Self {
        let (kills, variables) = (Kills::at(steps), variables.to_vec());
        let child = start(desk, words, &variables, &kills);
        Self { desk, words, variables, kills, child }
    }

    fn tend(&mut self) {
        if self.kills.is_killed(&mut self.child) {
            self.child = start(self.desk, self.words, &self.variables, &self.kills);
        }
    }

    fn end(mut self) {
        self.child.kill().expect("it runs");
        exit_of(&mut self.child, "a process at an edge");
    }
}

fn start(
    desk: &Desk,
    words: &[&str],
    variables: &[(&'static str, String)],
    kills: &Kills,
) -> Child {
    let mut command = desk.prepared(Command::new(crate::accord::program()));
    command.args(words).envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("ACCORD_KILL_AT", kills.next());
    let log = std::fs::File::options().append(true).create(true).open(desk.at("edge.log"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("a file"));
    command.spawn().expect("accord starts")
}

/// The lines of a record of a governed run.
fn record(desk: &Desk, name: &str) -> Vec<Value> {
    let path = PathBuf::from(desk.at("shop/.agentxchain")).join(name);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn phase(desk: &Desk) -> String {
    let text = std::fs::read_to_string(desk.at("shop/.agentxchain/state.json")).expect("a state");
    let state: Value = serde_json::from_str(&text).expect("JSON");
    state["phase"].as_str().expect("a phase").to_owned()
}

#[test]
fn a_day_of_mixed_work_loses_nothing_and_does_nothing_twice() {
    let (Some(claude), Some(codex)) = (Desk::fresh("claude"), Desk::fresh("codex")) else { return };
    let mut hub = Hub::new();
    let url = hub.proxy.url.clone();
    let join = format!("accord join {url} --project shop --deciders human:lead,human:ops");
    let joins = |desk: &Desk, decide: &str| {
        // Only the person's shell has this key.
        let said = desk.shell(&format!("ACCORD_KEY={} {join} --decide {decide}", hub.lead)).yes();
        assert!(said.contains("joined"), "{said}");
    };
    let at_hub = [("ACCORD_URL", url.clone()), ("ACCORD_KEY", hub.machines.clone())];

    // The morning: both machines are set up, joined, and their agents connected to the hub.
    let roles = "--agent-role pm --agent-role dev --agent-role qa";
    claude.accord(&format!("run init --name Shop --agent claude {roles}"));
    joins(&claude, "run.gate,run.completion");
    claude.accord("init claude --yes");
    claude.commit("Govern the repository");
    claude.accord("run start");

    codex.accord("project create shop --data .accord");
    codex.accord("task init --root . --project shop --actor human:lead");
    codex.accord("project link shop --tasks .");
    joins(&codex, "task.review");
    codex.accord("init codex --yes");
    codex.commit("Keep tasks");
    let own_host = Server::begin(
        codex
            .prepared(Command::new(crate::accord::program()))
            .args(["serve", "--listen", "127.0.0.1:0", "--data", &codex.at("shop/.accord")])
            .stderr(Stdio::piped()),
    );
    let creates = |words: &str| {
        let words = format!("task create {words} --ready --id-only --actor human:lead");
        codex.accord(&words).trim().to_owned()
    };
    let works = |words: &str| codex.accord(&format!("task work --agent codex --once {words}"));

    // An agent plans, and a gate waits for a person.
    let mut run_edge = Taker::start(&claude, &["run", "loop", "--wait"], &at_hub, &AT_RUN);
    let task_edge = Taker::start(&codex, &["edge"], &[], &[]);
    hub.item("run.gate");

    // Codex works on a task of the hub, and asks a person before it goes on.
    let made = hub.types("task create 'Write the parser' --ready --id-only --project shop");
    let remote = made.trim().to_owned();
    let mut asks = codex.prepared(Command::new(crate::accord::program()));
    asks.args(["live", "ask", "Deploy 3.0?", "--option", "yes", "--option", "no"]);
    asks.args(["--within", "1h", "--actor", "agent:codex", "--project", "shop"]);
    asks.envs(at_hub.clone()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let asks = asks.spawn().expect("accord starts");
    let question = hub.item("live.ask");
    let shell = format!(
        "ACCORD_URL={url} ACCORD_KEY={} accord task work --agent codex --once --project shop",
        hub.machines
    );
    let ran = codex.shell(&shell);
    assert_eq!(ran.code, 0, "{ran:?}");

    // The network is cut. Work at the edge goes on, and the decision on the hub waits. The hub is
    // killed after it has recorded it, so that the person gets no answer.
    hub.is_killed_at(&AT_HUB);
    hub.proxy.cut();
    let manual = creates("'Write the manual'");
    works("--as codex");
    let examples = creates("'Write the examples'");
    works("--as codex");
    let edge = format!("/accord/v1/projects/shop/edges/{}", hub.edge("runs"));
    let items = hub.get(&edge)["items"].clone();
    let mut items = items.as_array().expect("items").iter();
    let request = items.find(|item| item["kind"] == "request").expect("a request");
    let request = request["id"].as_str().expect("an id").replace('/', "%2F");
    let request = hub.get(&format!("{edge}/items/{request}"))["item"].clone();
    let decide = json!({"item": request["id"], "verb": "approve", "note": "as planned",
        "evidence": request["evidence"]});
    let path = format!("{edge}/decisions");
    hub.ask_in_vain(&path, &decide);
    assert_eq!(phase(&claude), "planning");

    // The hub is back, and so is the network. Hub and edge are killed at each step.
    wait_until("the decision at the edge", || {
        hub.tend();
        run_edge.tend();
        hub.kills.left.is_empty() && run_edge.kills.left == ["edge.told"]
    });
    wait_until("the run to go on", || phase(&claude) != "planning");
    let (status, refused) = hub.ask("POST", &path, &decide);
    assert_eq!(status, 404, "it is decided: {refused}");

    // The person in a terminal of the hub decides what else waits.
    let does = |item: &Value, words: &str| {
        let id = item["handle"].as_str().expect("a handle");
        hub.types(&format!("inbox do {id} {words}"));
    };
    does(&question, "yes");
    let ran: Ran = output_of(asks, "the question").into();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "yes\n"), "{ran:?}");
    task_edge.end();
    let mut task_edge = Taker::start(&codex, &["edge"], &[], &AT_TASKS);
    let reviews = wait_for("three reviews", || {
        let reviews = hub.items().into_iter().filter(|item| item["kind"] == "task.review");
        Some(reviews.collect::<Vec<Value>>()).filter(|reviews| reviews.len() == 3)
    });
    for review in &reviews {
        does(review, "approve -- --yes");
    }
    let status = |id: &str| codex.accord(&format!("task show {id} --json"));
    wait_until("the review at the edge", || {
        task_edge.tend();
        task_edge.kills.left.is_empty()
    });
    for task in [&manual, &examples] {
        wait_until("a task that is done", || status(task).contains("\"status\":\"done\""));
    }

    // The run reaches its end, which waits for a person, too.
    let completion = hub.item("run.completion");
    does(&completion, "approve -- --yes");
    // The hub heard of the first decision while it was killed.
    wait_until("the decision at the edge", || {
        run_edge.tend();
        run_edge.kills.left.is_empty()
    });
    let status = exit_of(&mut run_edge.child, "the loop");
    assert!(status.success(), "{status}");
    claude.accord("edge --once");
    wait_until("an empty inbox", || hub.items().is_empty());
    task_edge.end();

    // Nothing was done twice.
    let accepted = record(&claude, "history.jsonl");
    assert_eq!(accepted.len(), 3, "{accepted:?}");
    let events = record(&claude, "events.jsonl");
    for (kind, count) in [("gate_approved", 2), ("turn_accepted", 3), ("run_completed", 1)] {
        let found = events.iter().filter(|event| event["event_type"] == kind).count();
        assert_eq!(found, count, "{kind}: {events:?}");
    }
    for edge in [hub.edge("runs"), hub.edge("tasks")] {
        let decisions = hub.decisions(&edge);
        assert!(decisions.iter().all(|it| it["state"] == "applied"), "{decisions:?}");
    }
    // Every decision has its record, on the hub and at its edge.
    let records = hub.get("/accord/v1/projects/shop/decisions")["decisions"].clone();
    let records = records.as_array().expect("records").clone();
    let ids: BTreeSet<&str> =
        records.iter().map(|it| it["decision_id"].as_str().expect("an id")).collect();
    assert_eq!((ids.len(), records.len()), (6, 6), "{records:?}");
    let at_run = claude.accord("run decisions --people --json");
    let at_tasks = codex.accord("decisions --json");
    let of_edges = records.iter().filter(|it| {
        let id = it["decision_id"].as_str().expect("an id");
        at_run.contains(id) || at_tasks.contains(id)
    });
    assert_eq!(of_edges.count(), 4, "{records:?}\n{at_run}\n{at_tasks}");
    // Every result is in the memory of the hub, once.
    let packages = hub.get("/v1/projects/shop/packages?limit=100")["packages"].clone();
    let packages = packages.as_array().expect("packages").clone();
    let of_accord = packages.iter().filter(|it| it["created_by"]["id"] == "accord");
    let mut sources: Vec<String> =
        of_accord.map(|it| it["x-source"]["kind"].as_str().expect("a kind").to_owned()).collect();
    sources.sort();
    let (turn, gate, done) = ("run.turn", "run.gate", "task.done");
    assert_eq!(sources, ["live.answer", gate, gate, turn, turn, turn, done, done, done]);
    // So is what the agents left there by themselves.
    let roles = ["pm", "dev", "qa"].map(title);
    for deposited in roles.iter().chain([&format!("Left by {remote}")]) {
        let found = packages.iter().filter(|it| it["title"] == deposited.as_str());
        assert_eq!(found.count(), 1, "{deposited}: {packages:?}");
    }
    let own = codex.accord("context pull --limit 100");
    for task in [&manual, &examples] {
        assert_eq!(own.matches(&format!("Left by {task}")).count(), 1, "{own}");
    }
    let briefing = hub.types("context orient --project shop --max-tokens 2000");
    for part in ["Write the manual", "Write the examples", "Deploy 3.0?"] {
        assert!(briefing.contains(part), "{part}: {briefing}");
    }
    // What the remote agent left stands for the result of its task.
    let line = briefing.lines().find(|line| line.contains(&format!("Left by {remote}")));
    assert!(line.is_some_and(|line| line.contains(", done")), "{briefing}");
    let verified = hub.types("context verify");
    assert!(verified.contains("sound"), "{verified}");
    assert!(hub.types(&format!("task show {remote} --project shop")).contains("done"));
    drop(own_host);
}
