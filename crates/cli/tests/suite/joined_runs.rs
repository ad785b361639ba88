//! The runs of joined repositories on their hub: over HTTP, with the command, and over MCP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::accord::{Ran, command, run};
use crate::edges::{Hub, event_ids, join, request, send};
use crate::run_place::{Place, text};
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
    assert_eq!((&listed[0]["run_id"], &listed[0]["requests"]), (&Value::Null, &json!(1)));

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
