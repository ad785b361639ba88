//! Actions over the live channel, and the routes of a page that is signed in.
//!
//! A client of the channel is this program, started once more: curl sends no frames.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tungstenite::client::{ClientRequestBuilder, client_with_config};
use tungstenite::error::Error;
use tungstenite::{HandshakeError, Message, WebSocket};

use super::curl::{OF_TASK, OF_TURN, Request, Sender, Target, has_other_user, other_user};
use super::http::{Served, create_keys, has_curl};
use super::tables::{Acting, Author, Values, may, operations};
use super::tally::{Answer, Tally};
use crate::accord::run;
use crate::wait::LIMIT;

/// What this program sends when it is started as a client.
const CLIENT: &str = "ACCORD_TEST_FRAMES";

/// The test that is also the client.
const THIS: &str = "policy::frames::actions_over_the_channel_are_as_the_table_says";

/// What stands before the answer in the output.
const SAID: &str = "the channel answered ";

/// Subscribes, sends an action, and prints the answer.
fn act(asked: &Value) {
    let text = |name: &str| asked[name].as_str();
    let address = text("address").expect("an address");
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("an option");
    let query = text("token").map(|token| format!("?wsToken={token}")).unwrap_or_default();
    let uri = format!("ws://{address}/ws{query}").parse().expect("an address");
    let mut request = ClientRequestBuilder::new(uri);
    if let Some(key) = text("key") {
        request = request.with_header("Authorization", format!("Bearer {key}"));
    }
    let answer = match client_with_config(request, stream, None) {
        Ok((mut socket, _)) => {
            let mut subscription = json!({"sessionId": asked["session"], "appId": "shop"});
            if let Some(token) = text("token") {
                subscription["wsToken"] = token.into();
            }
            let subscribed = ask(&mut socket, "subscribe", &subscription);
            assert_eq!(subscribed["type"], "ack", "{subscribed}");
            let action = json!({
                "sessionId": asked["session"], "type": "data:submit",
                "payload": {"action": "approve", "data": null}
            });
            ask(&mut socket, "action", &action)
        }
        Err(HandshakeError::Failure(Error::Http(refused))) => {
            json!({"type": "refused", "status": refused.status().as_u16()})
        }
        Err(error) => panic!("{error}"),
    };
    println!("{SAID}{answer}");
}

/// Sends a frame and waits for its answer.
fn ask(socket: &mut WebSocket<TcpStream>, kind: &str, payload: &Value) -> Value {
    let frame = json!({"type": kind, "payload": payload, "requestId": "asked"});
    socket.send(Message::text(frame.to_string())).expect("the server reads");
    loop {
        let Message::Text(text) = socket.read().expect("a frame") else { continue };
        let answer: Value = serde_json::from_str(text.as_str()).expect("JSON");
        if answer["requestId"] == "asked" {
            return answer;
        }
    }
}

/// Sends an action from another process.
fn sent_by(sender: Sender, program: &Path, asked: &Value) -> Answer {
    let mut command = sender.command(program.to_str().expect("text"));
    command.args(["--exact", THIS, "--nocapture"]).env(CLIENT, asked.to_string());
    let ran = run(command, "");
    let line = ran.stdout.lines().find_map(|line| line.split_once(SAID));
    let (_, text) = line.unwrap_or_else(|| panic!("{sender:?}: {ran:?}"));
    let answer: Value = serde_json::from_str(text).expect("JSON");
    let code = match answer["type"].as_str() {
        Some("ack") => "",
        Some("refused") if answer["status"] == 401 => "UNAUTHENTICATED",
        _ => answer["payload"]["code"].as_str().unwrap_or("no code"),
    };
    Answer { status: 0, code: code.to_owned(), text: text.to_owned() }
}

/// The token of a session, as a host that mounts it gets it.
fn token(served: &Served) -> String {
    let path = format!("/accord/v1/live/resource?uri=ui://ggui/render/{}", served.session);
    let text = served.server.text(&path);
    let (_, rest) = text.split_once("\"wsToken\":\"").unwrap_or_else(|| panic!("{text}"));
    rest.split('"').next().expect("a token").to_owned()
}

/// This program, where the other user can start it.
fn program_for_others(folder: &Path) -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let mut test = other_user("test");
    test.arg("-x").arg(&program);
    if test.output().is_ok_and(|output| output.status.success()) {
        return program;
    }
    let copied = folder.join("suite");
    std::fs::copy(&program, &copied).expect("a copy");
    for path in [folder, &copied] {
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, everybody).expect("permissions");
    }
    copied
}

#[test]
fn actions_over_the_channel_are_as_the_table_says() {
    if let Ok(asked) = std::env::var(CLIENT) {
        return act(&serde_json::from_str(&asked).expect("JSON"));
    }
    let lines = operations();
    let line = lines.iter().find(|line| line.author == Author::Frames).expect("a line");
    let mut tally = Tally::default();
    let mut add = |caller: &str, sender: Sender, program: &Path, asked: &Value| {
        let answer = sent_by(sender, program, asked);
        let is_allowed = may(line.need, caller, Author::Frames, Acting::Nobody);
        let has_token = if asked["token"].is_null() { "" } else { "with a token " };
        let cell = format_args!("channel {caller} {sender:?} {has_token}{}", line.name);
        tally.add(cell, is_allowed, &answer, answer.code.is_empty());
    };
    let own = std::env::current_exe().expect("this program");
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(folder.path(), None);
    let token = token(&served);
    let (address, session) = (&served.server.address, &served.session);
    let plain = json!({"address": address, "session": session});
    let bearer = json!({"address": address, "session": session, "token": token});
    for sender in [Sender::Local, OF_TASK, OF_TURN] {
        add(sender.caller(), sender, &own, &plain);
        let caller = if sender == Sender::Local { "token" } else { "worker" };
        add(caller, sender, &own, &bearer);
    }
    let others = tempfile::tempdir().expect("a folder");
    if has_other_user() {
        let program = program_for_others(others.path());
        add("other-user", Sender::OtherUser, &program, &plain);
        add("token", Sender::OtherUser, &program, &bearer);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let keys = create_keys(folder.path());
    let Served { server, session } = Served::start(folder.path(), Some(&keys[0].1));
    let keys = keys.iter().map(|(caller, key)| (*caller, Some(key)));
    for (caller, key) in keys.chain([("no-key", None)]) {
        let asked = json!({"address": server.address, "session": session, "key": key});
        add(caller, Sender::Local, &own, &asked);
    }
    tally.finish("the live channel", 13);
}

#[test]
fn a_page_that_is_signed_in_needs_nothing_else_and_is_no_worker() {
    if !has_curl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Served { server, session } = Served::start(folder.path(), None);
    let values = Values { session: &session, key: None };
    let lines = operations();
    let mut tally = Tally::default();
    for sender in [Sender::Local, OF_TASK, OF_TURN] {
        // A process of its own asks for the link: other tests fork this one, and a child that ends
        // while a connection of this process is examined leaves it unknown.
        let link = Request {
            method: "POST",
            path: format!("/accord/v1/live/{session}/link"),
            headers: Vec::new(),
            body: None,
        };
        let socket = folder.path().join("accord.sock");
        let made = Sender::Local.send(Target::Socket(&socket), &[link]);
        let made: Value = serde_json::from_str(&made[0].text).expect("JSON");
        let path = made["path"].as_str().unwrap_or_else(|| panic!("{made}"));
        let (_, link) = path.split_once("#t=").expect("a secret");
        let origin = format!("Origin: {}\r\n", server.url);
        let login = json!({"link": link}).to_string();
        // A worker that has read the link does not use it up.
        if sender != Sender::Local {
            let stolen = Request {
                method: "POST",
                path: "/accord/v1/login".to_owned(),
                headers: Vec::new(),
                body: Some(login.clone()),
            };
            let refused = sender.send(Target::Tcp(&server.url), &[stolen]);
            assert_eq!(refused[0].code, "not_for_workers", "{}", refused[0].text);
        }
        let (status, head, answer) = server.ask_with(&origin, "POST", "/accord/v1/login", &login);
        assert_eq!(status, 200, "{answer}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("a cookie");
        let secret = answer["secret"].as_str().expect("a half");
        // The last line ends the login.
        let of_pages = lines.iter().filter(|line| line.author == Author::Login);
        let requests: Vec<Request> = of_pages
            .clone()
            .map(|line| Request {
                method: line.method,
                path: line.path(Acting::Nobody, values),
                headers: vec![format!("Cookie: {cookie}"), format!("X-Accord-Console: {secret}")],
                body: line.body(Acting::Nobody, values),
            })
            .collect();
        let answers = sender.send(Target::Tcp(&server.url), &requests);
        for (line, answer) in of_pages.zip(answers) {
            let is_written = line.statuses.iter().any(|status| i32::from(*status) == answer.status);
            let cell = format_args!("page {sender:?} {}", line.name);
            // A worker that has taken the login does not open the channel with it.
            let is_allowed =
                sender == Sender::Local || !["live_token", "live_act"].contains(&line.name);
            tally.add(cell, is_allowed, &answer, is_written);
        }
    }
    tally.finish("a page that is signed in", 6);
}
