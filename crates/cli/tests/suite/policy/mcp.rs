//! Tools that write: over HTTP, without keys and with them, and over standard input and output.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use accord_host::mcp::{Effect, TOOLSETS};
use serde_json::{Value, json};

use super::commands::{Starter, has_no_proc, make_project};
use super::curl::{OF_TASK, OF_TURN, Request, Sender, Target, has_other_user};
use super::http::{Served, create_keys, has_curl};
use super::tables::{Acting, Tool, Values, may, tools};
use super::tally::{Answer, Tally};

/// The revision of MCP whose requests need no session.
const REVISION: &str = "2026-07-28";

#[test]
fn every_tool_that_writes_has_a_line() {
    let writes = TOOLSETS.iter().flat_map(|set| set.tools);
    let writes = writes.filter(|tool| tool.effect != Effect::Reads);
    let offered: BTreeSet<&str> = writes.map(|tool| tool.name).collect();
    let lines = tools();
    let written: BTreeSet<&str> = lines.iter().map(|line| line.name).collect();
    assert_eq!(written.len(), lines.len(), "a tool has two lines");
    let missing: Vec<_> = offered.difference(&written).collect();
    let unknown: Vec<_> = written.difference(&offered).collect();
    assert!(missing.is_empty(), "tools.txt has no line for {missing:?}");
    assert!(unknown.is_empty(), "tools.txt has lines for no tool that writes: {unknown:?}");
}

/// Every call: the line, and in whose name.
fn calls(lines: &[Tool]) -> Vec<(&Tool, Acting)> {
    let mut calls = Vec::new();
    for line in lines {
        let acting = line.author.acting();
        // A call without an actor is that of the client, which has no session here.
        let named = acting.iter().filter(|acting| **acting != Acting::Nobody);
        let named: Vec<&Acting> = if acting.len() > 1 { named.collect() } else { vec![&acting[0]] };
        calls.extend(named.into_iter().map(|acting| (line, *acting)));
    }
    calls
}

/// The parameters of a call.
fn params(tool: &Tool, acting: Acting) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let arguments = tool.arguments(acting, Values::default());
    json!({"name": tool.name, "arguments": arguments, "_meta": meta})
}

/// What a message answers.
fn answer(message: &Value) -> Answer {
    let text = message.to_string();
    let result = &message["result"];
    let inner = result["content"][0]["text"].as_str().unwrap_or_default();
    let inner: Value = serde_json::from_str(inner).unwrap_or_default();
    let code = match result["isError"].as_bool() {
        Some(false) => "",
        Some(true) => inner["error"]["code"].as_str().unwrap_or("no code"),
        None => message["code"].as_str().unwrap_or("no result"),
    };
    Answer { status: 0, code: code.to_owned(), text }
}

fn add(tally: &mut Tally, door: &str, caller: &str, call: (&Tool, Acting), answer: &Answer) {
    let (Tool { name, need, author, answers, .. }, acting) = call;
    // Without a key, a tool acts as the person for whom its server was started, and no other.
    let caller = if caller == "local" { "local-tool" } else { caller };
    let is_allowed = may(need, caller, *author, acting);
    let code = if answer.code.is_empty() { "ok" } else { &answer.code };
    let is_as_written = answers.contains(&code);
    let cell = format_args!("{door} {caller} {name} ({need}) as {acting}");
    tally.add(cell, is_allowed, answer, is_as_written);
}

/// Calls every tool over HTTP as one caller.
fn over_http(tally: &mut Tally, url: &str, sender: Sender, caller: &str, key: Option<&str>) {
    let lines = tools();
    let calls = calls(&lines);
    let request = |(tool, acting): &(&Tool, Acting)| {
        let mut sets = TOOLSETS.iter();
        let set = sets.find(|set| set.tools.iter().any(|known| known.name == tool.name));
        let params = params(tool, *acting);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut headers = vec![
            "Accept: application/json, text/event-stream".to_owned(),
            format!("MCP-Protocol-Version: {REVISION}"),
            "Mcp-Method: tools/call".to_owned(),
            format!("Mcp-Name: {}", tool.name),
        ];
        headers.extend(key.map(|key| format!("Authorization: Bearer {key}")));
        let path = format!("/mcp/{}", set.expect("its set").name);
        Request { method: "POST", path, headers, body: Some(body.to_string()) }
    };
    let requests: Vec<Request> = calls.iter().map(request).collect();
    let answers = sender.send(Target::Tcp(url), &requests);
    for (call, answered) in calls.into_iter().zip(answers) {
        let message = serde_json::from_str(&answered.text).unwrap_or_default();
        add(tally, "mcp over http", caller, call, &answer(&message));
    }
}

/// Calls every tool over standard input and output of a process.
fn over_stdio(tally: &mut Tally, door: &str, caller: &str, command: Command) {
    let lines = tools();
    let calls = calls(&lines);
    let mut input = String::new();
    for (id, (tool, acting)) in calls.iter().enumerate() {
        let call = json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params(tool, *acting)
        });
        input += &format!("{call}\n");
    }
    let messages = converse(command, input, calls.len());
    for (id, call) in calls.into_iter().enumerate() {
        let message = messages.iter().find(|message| message["id"] == id);
        let message = message.unwrap_or_else(|| panic!("no answer to {}", call.0.name));
        add(tally, door, caller, call, &answer(message));
    }
}

/// Sends messages to a process, and returns its answers. Its standard input stays open until it has
/// answered all of them: a client that closes it wants no more answers.
fn converse(mut command: Command, input: String, answers: usize) -> Vec<Value> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let stdout = child.stdout.take().expect("it is piped");
    let (sender, received) = mpsc::channel();
    let reader = thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    let writer = thread::spawn(move || {
        stdin.write_all(input.as_bytes()).expect("it reads");
        stdin
    });
    let mut messages: Vec<Value> = Vec::new();
    while messages.len() < answers {
        let Ok(line) = received.recv_timeout(Duration::from_secs(120)) else { break };
        let message: Value = serde_json::from_str(&line).expect("standard output is MCP alone");
        messages.extend(message.get("id").is_some().then_some(message));
    }
    drop(writer.join().expect("everything was sent"));
    assert!(child.wait().expect("it ends").success());
    reader.join().expect("everything was read");
    messages
}

#[test]
fn mcp_over_http_is_as_the_table_says() {
    if !has_curl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Served { server, .. } = Served::start(folder.path(), None);
    let mut tally = Tally::default();
    let mut senders = vec![Sender::Local, OF_TASK, OF_TURN];
    if has_other_user() {
        senders.push(Sender::OtherUser);
    }
    for sender in senders {
        over_http(&mut tally, &server.url, sender, sender.caller(), None);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let keys = create_keys(folder.path());
    let Served { server, .. } = Served::start(folder.path(), Some(&keys[0].1));
    for (caller, key) in &keys {
        over_http(&mut tally, &server.url, Sender::Local, caller, Some(key));
    }
    tally.finish("MCP over HTTP", 531);
}

#[test]
fn mcp_over_stdio_is_as_the_table_says() {
    let mut tally = Tally::default();
    let mut starters = vec![Starter::Local, Starter::Worker(OF_TASK), Starter::Worker(OF_TURN)];
    if has_no_proc() {
        starters.push(Starter::NoProc);
    }
    for starter in starters {
        let folder = tempfile::tempdir().expect("a folder");
        make_project(folder.path());
        let command = || {
            let sets: Vec<&str> = TOOLSETS.iter().map(|set| set.name).collect();
            let data = folder.path().to_str().expect("text");
            starter.accord(&["mcp", "--data", data, "--tools", &sets.join(",")])
        };
        over_stdio(&mut tally, "mcp in process", starter.caller(), command());
        let _served = Served::start(folder.path(), None);
        // The host examines the process, whatever that sees itself.
        let caller = if starter == Starter::NoProc { "local" } else { starter.caller() };
        over_stdio(&mut tally, "mcp through the socket", caller, command());
    }
    tally.finish("MCP over standard input and output", 354);
}
