//! A decision that a person takes on the hub is applied at the edge: once, also if the hub or the
//! edge is killed, and only if its evidence is what the person saw.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::accord::{Ran, command, run};
use crate::edges::{Hub, event_ids, join, kill, request, send, typed};
use crate::flows::GOOD;
use crate::memory::bare;
use crate::run_place::{Place, plan};
use crate::task_place::Tasks;
use crate::wait::wait_until;

/// After each of these steps of a decision's way something lasts. The process that does it is
/// killed there, the hub for those that begin with `hub`.
pub(crate) const STEPS: [&str; 8] = [
    "hub.decided",
    "edge.taken",
    "hub.taken",
    "run.decision",
    "edge.carried_out",
    "edge.reported",
    "hub.applied",
    "edge.told",
];
const DECIDE: [&str; 4] = ["--decide", "run.gate,run.block", "--deciders", "human:lead"];

/// A governed repository that is joined, with a gate that waits.
struct Shop {
    hub: Hub,
    place: Place,
    edge: String,
    item: String,
}

impl Shop {
    fn new(place: Place, variables: &[(&str, &str)]) -> Self {
        let hub = Hub::with(variables);
        join(&place, &hub, &DECIDE).yes();
        request(&place);
        send(&place);
        let edge = hub.edge()["edge_id"].as_str().expect("an id").to_owned();
        let items = hub.get(&format!("/edges/{edge}"))["items"].clone();
        let mut items = items.as_array().expect("items").iter();
        let item = items.find(|item| item["kind"] == "request").expect("a request");
        let item = item["id"].as_str().expect("an id").to_owned();
        Self { hub, place, edge, item }
    }

    /// A command about the edge, on the hub.
    fn on_hub(&self, words: &[&str]) -> Ran {
        let data = self.hub.folder.path().join("data");
        let data = data.to_str().expect("text");
        let of = ["project", "edges", &self.edge];
        let by = ["--project", "shop", "--data", data, "--actor", "human:lead"];
        run(bare(&[&of[..], words, &by[..]].concat()), "")
    }

    fn decide(&self, verb: &str, more: &[&str]) -> Ran {
        self.on_hub(&[&[&self.item, "--decide", verb, "--yes"], more].concat())
    }

    fn decisions(&self) -> Vec<Value> {
        let answer = self.hub.get(&format!("/edges/{}/decisions", self.edge));
        answer["decisions"].as_array().expect("decisions").clone()
    }

    fn state(&self) -> String {
        self.decisions()[0]["state"].as_str().expect("a state").to_owned()
    }

    fn phase(&self) -> String {
        let state: Value =
            serde_json::from_str(&self.place.read(".agentxchain/state.json")).expect("JSON");
        state["phase"].as_str().expect("a phase").to_owned()
    }

    /// The decisions that the record of the edge has.
    fn recorded(&self) -> Vec<Value> {
        let said = self.place.run("decisions --people --json").yes();
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn records_of_hub(&self) -> Vec<Value> {
        self.hub.get("/decisions")["decisions"].as_array().expect("decisions").clone()
    }

    /// The decision was applied once, and both records have it once.
    fn check_applied(&self, about: &str) {
        assert_eq!(self.phase(), "implementation", "{about}");
        let mut passed = self.place.lines(".agentxchain/events.jsonl");
        passed.retain(|line| line["event_type"] == "gate_approved");
        assert_eq!(passed.len(), 1, "{about}: {passed:?}");
        assert!(passed[0].to_string().contains(r#""approved_by":"human"#), "{passed:?}");
        let decisions = self.decisions();
        assert_eq!(decisions.len(), 1, "{about}: {decisions:?}");
        assert_eq!(decisions[0]["state"], "applied", "{about}: {decisions:?}");
        let id = &decisions[0]["decision_id"];
        let ledger = self.place.lines(".agentxchain/decision-ledger.jsonl");
        let lines: Vec<&Value> = ledger.iter().filter(|line| &line["decision_id"] == id).collect();
        assert_eq!(lines.len(), 1, "{about}: {ledger:?}");
        let line = lines[0];
        assert_eq!(line["actor"], "human:lead", "{line}");
        assert!(line["door"].is_string() && line["decided_at"].is_string(), "{line}");
        assert_eq!(line["hub"], decisions[0]["hub"], "{line}");
        for records in [self.recorded(), self.records_of_hub()] {
            let of_it = records.iter().filter(|record| &record["decision_id"] == id).count();
            assert_eq!((of_it, records.len()), (1, 1), "{about}: {records:?}");
        }
        // The next turn, which is that of a person.
        assert_eq!(self.hub.kinds(), ["run.turn"], "{about}");
    }
}

#[test]
fn a_decision_on_the_hub_is_applied_at_the_edge_once() {
    let shop = Shop::new(Place::begun(), &[]);
    let verbs = shop.hub.inbox()[0]["verbs"].clone();
    let names: Vec<&Value> =
        verbs.as_array().expect("verbs").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["approve", "send-back"], "the list says what can be decided: {verbs}");
    let shown = shop.on_hub(&[&shop.item[..12]]).yes();
    assert!(shown.contains("--decide approve"), "{shown}");
    let said = shop.decide("approve", &["--note", "ship it"]).yes();
    assert!(said.contains("decided, not delivered"), "{said}");
    shop.decide("approve", &[]).refused("edge_decision_waits");
    assert_eq!(shop.phase(), "planning", "it waits for the edge");
    let said = typed(&shop.place, &["edge", "--once"]).yes();
    assert!(said.contains("decided by human:lead on the hub: applied"), "{said}");
    shop.check_applied("once");
    send(&shop.place);
    shop.check_applied("again");
    for record in [shop.recorded(), shop.records_of_hub()].concat() {
        assert_eq!(record["door"], "cli", "it was decided in a terminal of the hub: {record}");
    }
    let events = shop.hub.events();
    let states = events.iter().filter(|event| event["type"] == "edge.decision");
    let states: Vec<&Value> = states.map(|event| &event["data"]["state"]).collect();
    assert_eq!(states, ["waiting", "taken", "applied"]);
    let id = shop.decisions()[0]["decision_id"].as_str().expect("an id").to_owned();
    shop.on_hub(&["--withdraw", &id]).refused("edge_decision_ended");
    // The package says who approved it: the hub has the decision itself.
    wait_until("the package of the gate", || shop.gates().len() == 1);
    let gate = &shop.gates()[0];
    assert_eq!(gate["x-approved_by"], "human:lead", "{gate}");
    assert_eq!(gate["x-source"]["decision_id"], json!(id), "{gate}");
    // An edge that names the decision at another gate, or one that nobody took, says it alone.
    let passed = events.iter().find(|event| event["type"] == "run.gate_approved");
    let passed = &passed.expect("the event of the gate")["data"];
    shop.claims(passed, "evt_other", |payload| payload["gate_id"] = json!("qa_signoff"));
    shop.claims(passed, "evt_unknown", |payload| {
        payload["decision_id"] = json!("dec_0123456789abcdef0123456789abcdef");
    });
    wait_until("the packages of these gates", || shop.gates().len() == 3);
    let gates = shop.gates();
    let mut claimed = gates.iter().filter(|it| it["package_id"] != gate["package_id"]);
    assert!(claimed.all(|it| it["x-approved_by"].is_null()), "{gates:?}");
}

impl Shop {
    /// The packages of gates, in the memory of the hub.
    fn gates(&self) -> Vec<Value> {
        let mut gates = self.hub.packages();
        gates.retain(|package| package["x-source"]["kind"] == "run.gate");
        gates
    }

    /// The edge says that a gate was passed, like another one.
    fn claims(&self, like: &Value, id: &str, change: impl FnOnce(&mut Value)) {
        let mut payload = like["payload"].clone();
        change(&mut payload);
        let position = self.hub.edge()["position"].as_u64().expect("a number");
        let entry = json!({
            "seq": position + 1, "kind": "event", "id": id, "type": "gate_approved",
            "at": like["timestamp"], "body": {"run_id": like["run_id"], "payload": payload},
        });
        let path = format!("/accord/v1/projects/shop/edges/{}/outbox", self.edge);
        let request = json!({"entries": [entry]}).to_string();
        let (status, answer) = self.hub.server.ask("POST", &path, &request);
        assert_eq!(status, 200, "{answer}");
    }
}

#[test]
fn a_loop_that_waits_takes_the_decision_of_the_hub() {
    let shop = Shop::new(Place::begun(), &[]);
    let waiting = shop.place.begin("loop --wait --max-turns 0");
    shop.decide("approve", &[]).yes();
    wait_until("the loop to apply the decision", || shop.phase() == "implementation");
    wait_until("the hub to hear of it", || shop.state() == "applied");
    kill(waiting);
    shop.check_applied("a loop");
}

#[test]
fn a_decision_about_other_evidence_comes_back() {
    let shop = Shop::new(Place::begun(), &[]);
    shop.decide("approve", &[]).yes();
    // A file that the gate does not read.
    let file = plan(&shop.place)[0];
    shop.place.write(file, &(shop.place.read(file) + "\nlater\n"));
    typed(&shop.place, &["edge", "--once"]).yes();
    assert_eq!(shop.phase(), "planning");
    let returned = &shop.decisions()[0];
    assert_eq!(
        (&returned["state"], &returned["reason"]),
        (&json!("returned"), &json!("changed since"))
    );
    assert!(shop.recorded().is_empty() && shop.records_of_hub().is_empty());
    // A decision at the edge wins.
    shop.decide("approve", &[]).yes();
    shop.place.run("send-back --reason later --yes").yes();
    send(&shop.place);
    assert_eq!(shop.state(), "superseded");
    assert_eq!(shop.recorded().len(), 1);
    assert!(shop.records_of_hub().is_empty());
}

#[test]
fn a_request_is_sent_back_on_the_hub_and_a_withdrawn_decision_is_not_applied() {
    let shop = Shop::new(Place::begun(), &[]);
    shop.decide("send-back", &[]).refused("WIRE_FIELD_MISSING");
    shop.decide("approve", &[]).yes();
    let id = shop.decisions()[0]["decision_id"].as_str().expect("an id").to_owned();
    shop.on_hub(&["--withdraw", &id[..12]]).yes();
    send(&shop.place);
    assert_eq!((shop.phase().as_str(), shop.state().as_str()), ("planning", "withdrawn"));
    shop.decide("send-back", &["--note", "the tests are missing"]).yes();
    send(&shop.place);
    assert_eq!(shop.state(), "applied");
    let record = &shop.recorded()[0];
    assert_eq!(
        (&record["outcome"], &record["note"]),
        (&json!("sent_back"), &json!("the tests are missing"))
    );
}

#[test]
fn a_hub_that_is_restored_forgets_no_withdrawal_and_records_what_was_applied_once() {
    let mut shop = Shop::new(Place::begun(), &[]);
    shop.decide("approve", &[]).yes();
    shop.hub.back_up();
    let id = shop.decisions()[0]["decision_id"].as_str().expect("an id").to_owned();
    shop.on_hub(&["--withdraw", &id]).yes();
    shop.hub.restore();
    send(&shop.place);
    assert_eq!((shop.phase().as_str(), shop.state().as_str()), ("planning", "returned"));
    let reason = shop.decisions()[0]["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("the hub was restored"), "{reason}");

    // The edge applies the next one, and the hub loses that.
    let mut shop = Shop::new(Place::begun(), &[]);
    shop.decide("approve", &[]).yes();
    shop.hub.back_up();
    send(&shop.place);
    shop.check_applied("before the restore");
    shop.hub.restore();
    assert_eq!(shop.state(), "returned", "the hub does not know it any more");
    send(&shop.place);
    shop.check_applied("after the restore");
    send(&shop.place);
    shop.check_applied("and again");
}

/// A joined repository with a turn that proposes to change two files.
fn proposing() -> Shop {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    place.write("old.txt", "old\n");
    let files = plan(&place);
    place.commit();
    let decide = ["--decide", "run.proposal", "--deciders", "human:lead"];
    join(&place, &hub, &[&decide[..], &["--exclude", "hidden.txt"]].concat()).yes();
    let turn = place.work("pm", &files[..1], |result| {
        result["proposed_changes"] = json!([
            {"path": "old.txt", "action": "modify", "content": "better\n"},
            {"path": "hidden.txt", "action": "create", "content": "new\n"},
        ]);
    });
    place.write(files[0], "Approved: YES\n\nmore\n");
    place.run("accept --checkpoint").yes();
    send(&place);
    let edge = hub.edge()["edge_id"].as_str().expect("an id").to_owned();
    let items = hub.get(&format!("/edges/{edge}"))["items"].clone();
    let mut items = items.as_array().expect("items").iter();
    let item = items.find(|item| item["type"] == "run.proposal").expect("a request");
    let item = item["id"].as_str().expect("an id").to_owned();
    assert!(item.ends_with(&turn), "{item}");
    Shop { hub, place, edge, item }
}

#[test]
fn proposed_changes_are_applied_or_dropped_on_the_hub() {
    let shop = proposing();
    let shown = shop.on_hub(&[&shop.item]).yes();
    assert!(shown.contains("old.txt") && !shown.contains("hidden.txt"), "{shown}");
    assert!(shown.contains("--decide approve") && shown.contains("--decide cancel"), "{shown}");
    let inbox = |words: &[&str]| {
        let data = shop.hub.folder.path().join("data");
        run(bare(&[&["inbox"], words, &["--data", data.to_str().expect("text")]].concat()), "")
            .yes()
    };
    let listed: Value = serde_json::from_str(&inbox(&["--json"])).expect("JSON");
    let mut items = listed["items"].as_array().expect("items").iter();
    let item = items.find(|item| item["kind"] == "run.proposal").expect("an item");
    let shown = inbox(&["show", item["handle"].as_str().expect("a name")]);
    assert!(shown.contains("proposes to: modify old.txt "), "{shown}");
    assert!(shown.contains("proposed files left out: 1"), "{shown}");
    shop.decide("approve", &[]).yes();
    send(&shop.place);
    assert_eq!(shop.state(), "applied", "{:?}", shop.decisions());
    assert_eq!(shop.place.read("old.txt"), "better\n");
    shop.place.write("old.txt", "mine\n");
    send(&shop.place);
    assert_eq!(shop.place.read("old.txt"), "mine\n", "it is applied once");
    let id = &shop.decisions()[0]["decision_id"];
    let of_it =
        |records: Vec<Value>| records.iter().filter(|record| &record["decision_id"] == id).count();
    assert_eq!((of_it(shop.recorded()), of_it(shop.records_of_hub())), (1, 1));

    let shop = proposing();
    shop.decide("cancel", &["--note", "not now"]).yes();
    send(&shop.place);
    assert_eq!(shop.state(), "applied", "{:?}", shop.decisions());
    assert_eq!(shop.place.read("old.txt"), "old\n");
    assert!(shop.place.run("proposal list --all").yes().contains("dropped"));

    // It is another proposal now.
    let shop = proposing();
    shop.decide("approve", &[]).yes();
    let turn = shop.item.rsplit('/').next().expect("a turn");
    shop.place.write(&format!(".agentxchain/proposed/{turn}/old.txt"), "worse\n");
    send(&shop.place);
    assert_eq!(shop.state(), "returned", "{:?}", shop.decisions());
    assert_eq!(shop.place.read("old.txt"), "old\n");
}

#[test]
fn a_gate_with_credentials_is_not_decided_on_the_hub() {
    let place = Place::begun_with(|config| {
        config["gates"]["planning_signoff"]["credentialed"] = true.into();
    });
    let shop = Shop::new(place, &[]);
    let refused = shop.decide("approve", &[]).refused("edge_not_decidable");
    assert!(refused.contains("credentials"), "{refused}");
}

/// Sends what is new, and is killed at a step, if that is a step of the edge.
fn send_killed(shop: &Shop, step: &str) {
    let mut typed = command(&["edge", "--once"]);
    typed.current_dir(shop.place.root()).env("XDG_STATE_HOME", shop.place.state());
    typed.env("ACCORD_KILL_AT", step);
    let ran = typed.output().expect("accord starts");
    assert!(!ran.status.success(), "nothing was killed at {step}: {ran:?}");
}

fn killed_at(step: &str) {
    let variables = [("ACCORD_KILL_AT", step)];
    let is_hub = step.starts_with("hub");
    let mut shop = Shop::new(Place::begun(), if is_hub { &variables } else { &[] });
    let decided = shop.decide("approve", &[]);
    if step == "hub.decided" {
        assert_ne!(decided.code, 0, "the hub was killed");
    } else {
        decided.yes();
        send_killed(&shop, step);
    }
    if is_hub {
        shop.hub.restart();
    }
    for _ in 0..2 {
        send(&shop.place);
    }
    shop.check_applied(step);
}

#[test]
fn a_kill_at_any_step_loses_nothing_and_applies_nothing_twice() {
    for step in STEPS {
        killed_at(step);
    }
}

#[test]
fn every_step_of_a_decision_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("steps");
    let text = path.to_str().expect("text");
    let shop = Shop::new(Place::begun(), &[("ACCORD_STEPS", text)]);
    shop.decide("approve", &[]).yes();
    let mut typed = command(&["edge", "--once"]);
    typed.current_dir(shop.place.root()).env("XDG_STATE_HOME", shop.place.state());
    typed.env("ACCORD_STEPS", text);
    run(typed, "").yes();
    assert_eq!(steps(&path), BTreeSet::from(STEPS.map(str::to_owned)));
}

fn steps(path: &Path) -> BTreeSet<String> {
    std::fs::read_to_string(path).expect("steps").lines().map(str::to_owned).collect()
}

#[test]
fn the_commands_of_a_gate_run_once_also_after_a_kill() {
    let place = Place::begun_with(|config| {
        config["gates"]["planning_signoff"]["gate_actions"] =
            json!([{"run": "echo ran >> commands.log", "label": "once"}]);
    });
    let shop = Shop::new(place, &[]);
    let document = shop.on_hub(&[&shop.item]).yes();
    assert!(document.contains("commands.log"), "{document}");
    shop.decide("approve", &[]).yes();
    send_killed(&shop, "edge.commands");
    send(&shop.place);
    let returned = &shop.decisions()[0];
    assert_eq!(returned["state"], "returned", "{returned}");
    assert_eq!(shop.phase(), "planning");
    shop.decide("approve", &[]).yes();
    send(&shop.place);
    assert_eq!(shop.phase(), "implementation");
    assert_eq!(shop.place.read("commands.log"), "ran\n");
    assert!(!event_ids(&shop.place, 0).is_empty());
}

/// A task tree that is joined, so that the hub decides reviews.
struct Board {
    hub: Hub,
    tasks: Tasks,
    state: tempfile::TempDir,
}

impl Board {
    fn new() -> Self {
        let state = tempfile::tempdir().expect("a folder");
        Self { hub: Hub::with(&[]), tasks: Tasks::new(), state }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut typed = command(words);
        typed.current_dir(self.tasks.root()).env("XDG_STATE_HOME", self.state.path());
        typed
    }

    fn at_edge(&self, words: &[&str]) {
        run(self.command(words), "").yes();
    }

    fn join(&self) {
        let options = ["--decide", "task.review", "--deciders", "human:lead"];
        self.at_edge(&[&["join", self.hub.url(), "--project", "shop"], &options[..]].concat());
    }

    /// A task in review.
    fn create(&self, title: &str) -> String {
        let id = self.tasks.create(&format!("'{title}' --ready"));
        let agent = self.tasks.agent("good.sh", GOOD);
        self.tasks.yes(&format!("work --once --as dev --agent '{agent}'"));
        assert_eq!(self.tasks.status(&id), "review");
        id
    }

    fn decide(&self, task: &str, words: &[&str]) {
        let data = self.hub.folder.path().join("data");
        let by = ["--project", "shop", "--data", data.to_str().expect("text")];
        let by = [&by[..], &["--actor", "human:lead", "--yes"]].concat();
        let edge = self.edge();
        let of = ["project", "edges", &edge, task, "--decide"];
        run(bare(&[&of[..], words, &by[..]].concat()), "").yes();
    }

    fn edge(&self) -> String {
        self.hub.edge()["edge_id"].as_str().expect("an id").to_owned()
    }
}

#[test]
fn a_worker_of_tasks_takes_the_decision_of_the_hub() {
    let board = Board::new();
    let id = board.create("One");
    board.join();
    board.decide(&id, &["approve", "--note", "as planned"]);
    let mut worker = board.command(&["task", "work", "--as", "dev", "--agent", "true"]);
    worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let worker = worker.spawn().expect("accord starts");
    wait_until("the decision of the hub", || board.tasks.status(&id) == "done");
    kill(worker);
}

#[test]
fn a_review_of_a_task_is_decided_on_the_hub() {
    let board = Board::new();
    let first = board.create("One");
    board.join();
    let second = board.create("Two");
    board.at_edge(&["edge", "--once"]);
    let (hub, tasks, edge) = (&board.hub, &board.tasks, board.edge());
    board.decide(&first, &["approve", "--note", "as planned"]);
    board.decide(&second, &["send-back", "--note", "the second shop is missing"]);
    for _ in 0..2 {
        board.at_edge(&["edge", "--once"]);
        assert_eq!(
            (tasks.status(&first).as_str(), tasks.status(&second).as_str()),
            ("done", "ready")
        );
    }
    let decisions = hub.get(&format!("/edges/{edge}/decisions"))["decisions"].clone();
    let decisions = decisions.as_array().expect("decisions");
    assert!(decisions.iter().all(|decision| decision["state"] == "applied"), "{decisions:?}");
    let of_hub = hub.get("/decisions")["decisions"].clone();
    let ids = |records: &Value| -> BTreeSet<String> {
        let records = records.as_array().expect("records").iter();
        records.map(|it| it["decision_id"].as_str().expect("an id").to_owned()).collect()
    };
    let recorded = std::fs::read_to_string(tasks.root().join("state/accord/decisions.jsonl"));
    let recorded = recorded.expect("a record");
    let lines = recorded.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let recorded: Vec<Value> = lines.map(|line| line["decision"].clone()).collect();
    assert_eq!(recorded.len(), 2, "{recorded:?}");
    assert!(recorded.iter().all(|record| record["hub"].is_string()), "{recorded:?}");
    assert_eq!(ids(&of_hub), ids(&Value::Array(recorded)));
    // The task that is done is in the memory of the hub, with the person who decided there.
    wait_until("the package of the task", || !hub.packages().is_empty());
    let packages = hub.packages();
    let done: Vec<&Value> =
        packages.iter().filter(|it| it["x-source"]["kind"] == "task.done").collect();
    assert_eq!(done.len(), 1, "{packages:?}");
    assert_eq!(done[0]["x-approved_by"], "human:lead", "{done:?}");
    assert_eq!(done[0]["x-source"]["task_id"], json!(first), "{done:?}");
    let approved = decisions.iter().find(|it| it["verb"] == "approve").expect("a decision");
    assert_eq!(done[0]["x-source"]["decision_id"], approved["decision_id"], "{done:?}");
}
