//! The runs of joined repositories on their hub: over HTTP, with the command, and over MCP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::accord::{Ran, command, run};
use crate::edges::{Hub, event_ids, join, request, send, typed};
use crate::run_place::{Place, plan, text};
use crate::wait::exit_of;

fn on_hub(hub: &Hub, words: &[&str]) -> Ran {
    let mut typed = command(words);
    typed.env("ACCORD_DATA", hub.folder.path().join("data")).env("ACCORD_PROJECT", "shop");
    typed.current_dir("/");
    run(typed, "")
}

/// Calls tools of the set of runs, over the URL of the hub. Returns the results.
fn tools(hub: &Hub, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut server = command(&["mcp", "--tools", "runs", "--url", hub.url()]);
    server.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = server.spawn().expect("it starts");
    let mut input = server.stdin.take().expect("an input");
    let mut output = BufReader::new(server.stdout.take().expect("an output")).lines();
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}}});
    writeln!(input, "{begin}").expect("it reads");
    output.next().expect("an answer").expect("text");
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .expect("it reads");
    let results = calls.iter().map(|(tool, arguments)| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        writeln!(input, "{call}").expect("it reads");
        let answer = output.next().expect("an answer").expect("text");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let result = &answer["result"];
        let said = result["content"][0]["text"].as_str().expect("a text");
        let document = serde_json::from_str(said).unwrap_or_else(|_| json!(said));
        json!({"refused": result["isError"] == true, "said": document})
    });
    let results = results.collect();
    drop(input);
    exit_of(&mut server, "accord mcp");
    results
}

#[test]
fn a_hub_shows_the_run_of_a_repository_on_another_machine() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    assert!(on_hub(&hub, &["project", "runs"]).yes().contains("no repository is joined to shop"));
    join(&place, &hub, &["--name", "laptop"]).yes();
    let run_id = text(&place.json("status")["state"], "run_id").to_owned();
    let listed = hub.get("/runs")["runs"].clone();
    let edge = text(&listed[0], "edge_id").to_owned();
    // What is now is sent at the join, and nothing that happened before.
    assert_eq!((&listed[0]["run_id"], &listed[0]["requests"]), (&json!(run_id), &json!(1)));
    assert_eq!((&listed[0]["phase"], &listed[0]["status"]), (&json!("planning"), &json!("active")));
    assert_eq!(hub.edge()["run"].get("last_event"), None);

    // Until the gate waits for a person.
    request(&place);
    send(&place);
    let shown = hub.get(&format!("/runs/{run_id}"))["run"].clone();
    assert_eq!(shown["edge_id"], json!(edge));
    assert_eq!((&shown["phase"], &shown["status"]), (&json!("planning"), &json!("paused")));
    assert_eq!((&shown["turns"], &shown["waits"][0]["type"]), (&json!([]), &json!("run.gate")));
    let as_of = hub.edge()["last_contact_at"].clone();
    assert_eq!(shown["as_of"], as_of, "what is shown is as of the last contact");
    let history = hub.get(&format!("/runs/{edge}/history"));
    let turns = history["turns"].as_array().expect("turns");
    assert_eq!((turns.len(), &turns[0]["run_id"]), (1, &json!(run_id)), "{history}");
    let decisions = &turns[0]["decisions"][0]["statement"];
    assert_eq!(decisions, "sell books first", "{history}");

    // A turn that is worked on.
    place.run("approve-transition --yes").yes();
    let turn = place.hand_out("dev")["turn"].clone();
    let before = event_ids(&place, 0).len();
    send(&place);
    assert!(before > 0);
    let shown = hub.get(&format!("/runs/{edge}"))["run"].clone();
    assert_eq!(shown["phase"], "implementation");
    assert_eq!(shown["turns"][0]["turn_id"], turn["turn_id"], "{shown}");
    assert_eq!(shown["turns"][0]["role"], "dev");
    let said = on_hub(&hub, &["project", "runs", &edge[..8]]).yes();
    for part in ["laptop", "as of", "implementation", "active", text(&turn, "turn_id"), "(dev)"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = on_hub(&hub, &["project", "runs", &run_id, "--history"]).yes();
    assert!(said.contains("planning") && said.contains("pm"), "{said}");
    on_hub(&hub, &["project", "runs", "edge_none"]).refused("edge_not_found");
}

#[test]
fn what_only_the_repository_can_do_says_where_it_is() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    join(&place, &hub, &["--name", "laptop"]).yes();
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let before = place.read(".agentxchain/state.json");
    let said = on_hub(&hub, &["project", "runs", &edge, "--prompt"]).refused("run_elsewhere");
    assert!(said.contains("\"laptop\"") && said.contains("accord run status"), "{said}");
    let result = hub.folder.path().join("result.json");
    std::fs::write(&result, r#"{"summary": "done"}"#).expect("a file");
    let stage = ["project", "runs", &edge, "--stage", result.to_str().expect("text")];
    let said = on_hub(&hub, &stage).refused("run_elsewhere");
    assert!(said.contains("accord run stage"), "{said}");
    assert_eq!(place.read(".agentxchain/state.json"), before);
}

#[test]
fn an_agent_reads_runs_and_waits_for_them_over_mcp() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    join(&place, &hub, &["--name", "laptop"]).yes();
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let of = |more: Value| {
        let mut arguments = json!({"project_id": "shop", "run": edge});
        arguments.as_object_mut().expect("an object").extend(more.as_object().unwrap().clone());
        arguments
    };
    let found = tools(
        &hub,
        &[
            ("run_status", json!({"project_id": "shop"})),
            ("run_status", of(json!({}))),
            ("run_wait", of(json!({"timeout": 0}))),
            ("run_prompt", of(json!({}))),
            ("run_stage", of(json!({"summary": "done"}))),
            ("run_status", json!({"project_id": "shop", "run": "run_none"})),
        ],
    );
    assert_eq!(found[0]["said"]["runs"][0]["edge_id"], json!(edge), "{found:?}");
    assert_eq!(found[1]["said"]["run"]["waits"][0]["type"], "run.turn", "{found:?}");
    assert_eq!(found[2]["said"]["changed"], false, "{found:?}");
    for (refused, code) in
        [(&found[3], "run_elsewhere"), (&found[4], "run_elsewhere"), (&found[5], "edge_not_found")]
    {
        assert_eq!(refused["refused"], true, "{refused}");
        assert!(refused["said"].to_string().contains(code), "{refused}");
    }

    // One waits while the repository goes on.
    let version = text(&found[1]["said"]["run"], "version").to_owned();
    let waiting = std::thread::scope(|scope| {
        let arguments = of(json!({"since": version, "timeout": 50}));
        let waiting = scope.spawn(|| tools(&hub, &[("run_wait", arguments)]));
        request(&place);
        send(&place);
        waiting.join().expect("an answer")
    });
    assert_eq!(waiting[0]["said"]["changed"], true, "{waiting:?}");
    let history = tools(&hub, &[("run_history", of(json!({"last": 1})))]);
    assert_eq!(history[0]["said"]["turns"][0]["role"], "pm", "{history:?}");
}

/// A hub that runs as the user of a repository.
fn of_the_user(place: &Place) -> Hub {
    Hub::with(&[("XDG_STATE_HOME", place.state().to_str().expect("text"))])
}

#[test]
fn a_hub_reads_a_repository_that_is_open_to_it_and_stages_results() {
    let place = Place::begun();
    let hub = of_the_user(&place);
    let said = join(&place, &hub, &["--name", "desk", "--open-to-hub"]).yes();
    assert!(said.contains("also what is not sent"), "{said}");
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let run_id = text(&place.json("status")["state"], "run_id").to_owned();
    assert_eq!(hub.edge()["run"]["turns"], json!([]));
    let shown = hub.get(&format!("/runs/{run_id}"))["run"].clone();
    assert_eq!((&shown["here"], &shown["status"]), (&json!(true), &json!("active")), "{shown}");
    assert!(text(&shown["next"][0], "command").contains("accord run assign"), "{shown}");

    let turn = text(&place.hand_out("pm")["turn"], "turn_id").to_owned();
    let shown = hub.get(&format!("/runs/{edge}"))["run"].clone();
    assert_eq!(shown["turns"], json!([{"turn_id": turn, "role": "pm"}]));
    let said = on_hub(&hub, &["project", "runs", &edge, "--prompt"]).yes();
    assert!(said.contains(&format!("# Turn {turn}")), "{said}");
    let files = plan(&place);
    place.commit();
    files.iter().for_each(|path| place.write(path, &(place.read(path) + "\nmore\n")));
    let of = |more: Value| {
        let mut arguments = json!({"project_id": "shop", "run": edge});
        arguments.as_object_mut().expect("an object").extend(more.as_object().unwrap().clone());
        arguments
    };
    let result = json!({"turn": turn, "summary": "planned", "files": files, "next_phase": true,
        "decisions": ["sell books first"]});
    let found = tools(&hub, &[("run_prompt", of(json!({}))), ("run_stage", of(result.clone()))]);
    assert!(text(&found[0], "said").contains(&turn), "{found:?}");
    assert_eq!(found[1]["said"]["staged"]["turn_id"], json!(turn), "{found:?}");
    assert_eq!(found[1]["said"]["staged"].get("problem"), None, "{found:?}");

    // The loop judges it as one that was staged there. The hub does not wait for what is sent.
    let wrong = tools(&hub, &[("run_stage", of(json!({"turn": "turn_0", "summary": "x"})))]);
    assert!(wrong[0]["said"].to_string().contains("turn_not_active"), "{wrong:?}");
    place.run("accept --checkpoint").yes();
    let shown = hub.get(&format!("/runs/{edge}"))["run"].clone();
    assert_eq!(
        (&shown["status"], &shown["waits"][0]["type"]),
        (&json!("paused"), &json!("run.gate"))
    );
    let version = text(&shown, "version").to_owned();
    let waiting = std::thread::scope(|scope| {
        let arguments = of(json!({"since": version, "timeout": 50}));
        let waiting = scope.spawn(|| tools(&hub, &[("run_wait", arguments)]));
        place.run("approve-transition --yes").yes();
        waiting.join().expect("an answer")
    });
    assert_eq!(waiting[0]["said"]["changed"], true, "{waiting:?}");
    let history = tools(&hub, &[("run_history", of(json!({})))]);
    let turns = history[0]["said"]["turns"].as_array().expect("turns");
    assert_eq!((turns.len(), &turns[0]["turn_id"]), (1, &json!(turn)), "{history:?}");

    // A worker stages in its repository, and not for others.
    place.hand_out("dev");
    let file = hub.folder.path().join("result.json");
    std::fs::write(&file, json!({"summary": "done"}).to_string()).expect("a file");
    let stage = ["project", "runs", &edge, "--stage", file.to_str().expect("text")];
    let mut worker = command(&stage);
    worker.env("ACCORD_DATA", hub.folder.path().join("data")).env("ACCORD_PROJECT", "shop");
    worker.env("AGENTXCHAIN_TURN_ID", &turn).current_dir("/");
    run(worker, "").refused("not_for_workers");
}

#[test]
fn a_repository_is_open_to_the_hub_of_its_join_alone_and_until_it_is_closed() {
    let place = Place::begun();
    let (hub, other) = (of_the_user(&place), of_the_user(&place));
    join(&place, &hub, &["--open-to-hub"]).yes();
    let edge = text(&hub.edge(), "edge_id").to_owned();
    let turn = text(&place.hand_out("pm")["turn"], "turn_id").to_owned();
    let prompt = ["project", "runs", &edge, "--prompt"];
    assert!(on_hub(&hub, &prompt).yes().contains(&turn));

    // Somebody joins an edge with the same id to another hub of the same user.
    let same = json!({"name": "desk", "source": "runs", "send": "summary"}).to_string();
    let path = format!("/accord/v1/projects/shop/edges/{edge}");
    assert_eq!(other.server.ask("PUT", &path, &same).0, 200);
    on_hub(&other, &prompt).refused("run_elsewhere");
    assert_eq!(other.get("/runs")["runs"][0]["here"], false);

    // Joined again without the choice.
    join(&place, &hub, &[]).yes();
    on_hub(&hub, &prompt).refused("run_elsewhere");
    join(&place, &hub, &["--open-to-hub"]).yes();
    on_hub(&hub, &prompt).yes();
    typed(&place, &["leave"]).yes();
    on_hub(&hub, &prompt).refused("run_elsewhere");
}
