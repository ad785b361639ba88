//! Operations over HTTP: without keys, through the socket of the data folder, and with keys.

use std::collections::BTreeSet;
use std::path::Path;

use accord_base::{Decision, Need};
use accord_host::http::every_declaration;
use serde_json::{Value, json};

use super::curl::{OF_TASK, OF_TURN, Request, Sender, Target, has_other_user, is_possible};
use super::tables::{Acting, Author, Operation, Values, may, operations};
use super::tally::Tally;
use crate::accord::run;
use crate::memory::bare;
use crate::server::Server;

/// A server with a live session.
pub(super) struct Served {
    pub(super) server: Server,
    pub(super) session: String,
}

impl Served {
    pub(super) fn start(data: &Path, key: Option<&str>) -> Self {
        let server = Server::start(data, &[]);
        let header = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
        let ask = |path: &str, body: Value| {
            let (status, _, answer) = server.ask_with(&header, "POST", path, &body.to_string());
            assert_eq!(status, 200, "{answer}");
            answer["result"].clone()
        };
        let tool = |name: &str, body: Value| {
            let query = "project_id=shop&actor=agent:painter";
            ask(&format!("/accord/v1/live/tools/{name}?{query}"), body)
        };
        let contract = json!({"actionSpec": {"approve": {"label": "Approve"}}});
        let draft = json!({"intent": "Approve", "blueprintDraft": {"contract": contract}});
        let made = tool("ggui_handshake", draft);
        let rendered =
            tool("ggui_render", json!({"handshakeId": made["handshakeId"], "props": {}}));
        let session = rendered["sessionId"].as_str().expect("an id").to_owned();
        ask("/accord/v1/projects/shop/tasks/init?actor=agent:painter", json!({}));
        Self { server, session }
    }
}

/// The keys, as the table calls them, and the options that create them.
pub(super) const KEYS: [(&str, &str); 6] = [
    ("admin-key", "--verb admin"),
    ("person-key", "--actor human:lead --verb read --verb write --verb review --verb approve"),
    ("reviewer-key", "--actor human:lead --verb read --verb write --verb review"),
    ("agent-key", "--actor agent:dev --verb read --verb write --verb review --verb approve"),
    (
        "act-as-key",
        "--actor agent:dev --act-as --verb read --verb write --verb review --verb approve",
    ),
    ("plain-key", "--verb read --verb write --verb review --verb approve"),
];

/// Creates the keys: as the table calls them, and their secrets.
pub(super) fn create_keys(data: &Path) -> Vec<(&'static str, String)> {
    let create = |(name, options): &(&'static str, &str)| {
        let mut args = vec!["key", "create", "--new", "--label", name];
        args.extend(options.split_whitespace());
        let mut command = bare(&args);
        command.env("ACCORD_DATA", data);
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        (*name, ran.stdout.trim().to_owned())
    };
    KEYS.iter().map(create).collect()
}

pub(super) fn has_curl() -> bool {
    let mut curl = std::process::Command::new("curl");
    curl.arg("--version");
    is_possible(curl, "send requests with curl")
}

/// Sends every operation as one caller, and compares the answers.
fn try_all(tally: &mut Tally, door: &str, caller: &str, sending: &Sending<'_>) {
    let operations = operations();
    let mut sent: Vec<(&Operation, Acting)> = Vec::new();
    for operation in operations.iter().filter(|line| line.author != Author::Frames) {
        sent.extend(operation.author.acting().iter().map(|acting| (operation, *acting)));
    }
    let requests: Vec<Request> =
        sent.iter().map(|(operation, acting)| sending.request(operation, *acting)).collect();
    let answers = sending.sender.send(sending.target, &requests);
    for ((operation, acting), answer) in sent.iter().zip(answers) {
        let Operation { name, need, author, statuses, .. } = operation;
        let is_allowed = match author {
            Author::Login => false,
            Author::Link => caller != "worker",
            Author::Owner if !matches!(sending.target, Target::Socket(_)) => false,
            author => may(need, caller, *author, *acting),
        };
        let status = u16::try_from(answer.status).expect("a status");
        // Who acts can be missing.
        let is_unnamed = *acting == Acting::Nobody && author.acting().len() > 1;
        let is_as_written =
            statuses.contains(&status) || (is_unnamed && matches!(status, 400 | 422));
        let sender = sending.sender;
        let cell = format_args!("{door} {caller} {sender:?} {name} ({need}) as {acting}");
        tally.add(cell, is_allowed, &answer, is_as_written);
    }
}

/// How one caller sends.
struct Sending<'a> {
    sender: Sender,
    target: Target<'a>,
    values: Values<'a>,
}

impl Sending<'_> {
    fn request(&self, operation: &Operation, acting: Acting) -> Request {
        let key = self.values.key.map(|key| format!("Authorization: Bearer {key}"));
        Request {
            method: operation.method,
            path: operation.path(acting, self.values),
            headers: key.into_iter().collect(),
            body: operation.body(acting, self.values),
        }
    }
}

fn need_name(need: Need) -> &'static str {
    match need {
        Need::Read => "read",
        Need::Write => "write",
        Need::Create => "create",
        Need::Join => "join",
        Need::Admin => "admin",
        Need::Decide(Decision::Approve) => "approve",
        Need::Decide(Decision::Override) => "override",
        Need::Decide(Decision::Review) => "review",
        Need::Decide(Decision::PeerReview) => "peer-review",
        Need::Decide(Decision::Answer) => "answer",
        Need::Decide(Decision::PersonAnswer) => "person-answer",
        Need::Decide(Decision::SignIn) => "sign-in",
        Need::Decide(Decision::Grant) => "grant",
    }
}

#[test]
fn every_operation_that_writes_has_a_line() {
    let declared: BTreeSet<(&str, &str)> = every_declaration()
        .iter()
        .map(|declared| (declared.name, need_name(declared.need)))
        .filter(|(_, need)| *need != "read")
        .collect();
    let lines = operations();
    let written: BTreeSet<(&str, &str)> = lines.iter().map(|line| (line.name, line.need)).collect();
    assert_eq!(written.len(), lines.len(), "an operation has two lines");
    let missing: Vec<_> = declared.difference(&written).collect();
    let unknown: Vec<_> = written.difference(&declared).collect();
    assert!(missing.is_empty(), "operations.txt has no line for {missing:?}");
    assert!(unknown.is_empty(), "operations.txt has lines for no operation: {unknown:?}");
}

#[test]
fn http_without_keys_and_the_socket_are_as_the_table_says() {
    if !has_curl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Served { server, session } = Served::start(folder.path(), None);
    let socket = folder.path().join("accord.sock");
    let values = Values { session: &session, key: None };
    let mut tally = Tally::default();
    let mut senders = vec![Sender::Local, OF_TASK, OF_TURN];
    for sender in senders.clone() {
        let sending = Sending { sender, target: Target::Socket(&socket), values };
        try_all(&mut tally, "socket", sender.caller(), &sending);
    }
    if has_other_user() {
        senders.push(Sender::OtherUser);
    }
    for sender in senders {
        let sending = Sending { sender, target: Target::Tcp(&server.url), values };
        let caller = if sender == Sender::Local { "loopback" } else { sender.caller() };
        try_all(&mut tally, "http", caller, &sending);
    }
    tally.finish("HTTP without keys and the socket", 888);
}

#[test]
fn http_with_keys_is_as_the_table_says() {
    if !has_curl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let keys = create_keys(folder.path());
    let Served { server, session } = Served::start(folder.path(), Some(&keys[0].1));
    let mut tally = Tally::default();
    let callers = keys.iter().map(|(name, secret)| (*name, Some(secret.as_str())));
    for (caller, key) in callers.chain([("no-key", None)]) {
        let values = Values { session: &session, key };
        let target = Target::Tcp(&server.url);
        try_all(&mut tally, "http", caller, &Sending { sender: Sender::Local, target, values });
    }
    tally.finish("HTTP with keys", 1_036);
}
