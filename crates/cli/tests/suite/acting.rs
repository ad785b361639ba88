//! One rule for the actor of a command.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use crate::accord::{Ran, run};
use crate::memory::{Memory, Way, bare};

const KEY: &str = "accord_0123456789abcdef_0v0v";

/// Commands that write, and the members of their answers that say who did.
const WRITES: [(&str, [&str; 2]); 4] = [
    ("context deposit --title One", ["/created_by/type", "/created_by/id"]),
    ("fact assert api version 2", ["/asserted_by/type", "/asserted_by/id"]),
    ("session start", ["/actor_type", "/actor_id"]),
    ("task create One", ["/result/task/created_by", ""]),
];

fn types(url: &str, key: &str, words: &str, more: &[(&str, &str)]) -> Ran {
    let mut command = bare(&words.split(' ').collect::<Vec<_>>());
    command.env("ACCORD_URL", url).env("ACCORD_KEY", key).env("ACCORD_PROJECT", "shop");
    command.envs(more.iter().copied());
    run(command, "")
}

/// Who acts, as an answer says it. A task names an agent without its type.
fn author(ran: &Ran, members: [&str; 2]) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let [kind, id] = members.map(|at| answer.pointer(at).and_then(Value::as_str));
    let kind = kind.unwrap_or_else(|| panic!("no {members:?} in {answer}"));
    match id.filter(|_| !members[1].is_empty()) {
        Some(id) => format!("{kind}:{id}"),
        None if kind.contains(':') => kind.to_owned(),
        None => format!("agent:{kind}"),
    }
}

#[test]
fn a_command_finds_its_actor_by_one_rule() {
    let memory = Memory::reached(Way::Url);
    memory.ran(&["task", "init", "--actor", "human:lead"]);
    let key = |more: &[&str]| {
        let made = memory.ran(&[&["key", "create", "--label", "k"], more].concat());
        assert_eq!(made.code, 0, "{made:?}");
        made.stdout.trim().to_owned()
    };
    let (plain, agent) = (key(&[]), key(&["--actor", "agent:planner"]));
    let url = memory.host().url.as_str();
    let worker = ("ACCORD_TASK_AGENT", "dev");
    for (words, members) in WRITES {
        let acts = |key: &str, more: &[(&str, &str)], words: &str| {
            author(&types(url, key, &format!("{words} --json"), more), members)
        };
        assert_eq!(acts(&agent, &[], words), "agent:planner", "the key: {words}");
        assert_eq!(acts(&plain, &[worker], words), "agent:dev", "the worker: {words}");
        let named = [worker, ("ACCORD_ACTOR", "agent:builder")];
        assert_eq!(acts(&plain, &named, words), "agent:builder", "the variable: {words}");
        let flag = format!("{words} --actor agent:tester");
        assert_eq!(acts(&plain, &named, &flag), "agent:tester", "the flag: {words}");
        let said = types(url, &plain, words, &[]).refused("USAGE");
        assert!(said.contains("pass --actor or set ACCORD_ACTOR"), "{words}: {said}");
    }
}

#[test]
fn without_a_key_nobody_acts_unnamed() {
    let memory = Memory::new();
    let package = memory.deposit("One", &[]);
    memory.ran(&["task", "init"]).yes();
    let data = memory.data();
    let mut writes: Vec<String> = WRITES.iter().map(|(words, _)| (*words).to_owned()).collect();
    writes.extend([
        format!("context flag {package} --review human"),
        "fact invalidate api version".to_owned(),
    ]);
    for words in writes {
        let mut command = bare(&words.split(' ').collect::<Vec<_>>());
        command.env("ACCORD_DATA", &data).env("ACCORD_PROJECT", "shop");
        let said = run(command, "").refused("USAGE");
        assert!(said.contains("pass --actor or set ACCORD_ACTOR"), "{words}: {said}");
    }
}

/// Reads a request: its first line, and its body.
pub(crate) fn request(stream: &TcpStream) -> (String, String) {
    let mut lines = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    lines.read_line(&mut first).expect("a request");
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).expect("a header");
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body).expect("a body");
    (first, String::from_utf8(body).expect("text"))
}

#[test]
fn an_older_host_applies_the_actor_of_the_key_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    let fact = Memory::new().json(&["fact", "assert", "api", "version", "2"]).to_string();
    // A host without the route, and what it was sent otherwise.
    let host = std::thread::spawn(move || {
        let mut sent = Vec::new();
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().expect("the command comes");
            let (first, body) = request(&stream);
            let (status, answer) = match first.contains(" /accord/v1/me ") {
                true => (404, r#"{"error":{"code":"HTTP_ROUTE_UNKNOWN","message":"no"}}"#),
                false => (201, fact.as_str()),
            };
            let head = "content-type: application/json\r\nconnection: close\r\ncontent-length:";
            write!(stream, "HTTP/1.1 {status} X\r\n{head} {}\r\n\r\n{answer}", answer.len())
                .expect("it listens");
            sent.push((first, body));
        }
        sent
    });
    let ran = types(&url, KEY, "fact assert api version 2", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // A package names its author, so that the command has to know it.
    types(&url, KEY, "context deposit --title One", &[]).refused("USAGE");
    let sent = host.join().expect("the host ends");
    assert!(sent[0].0.contains(" /accord/v1/me ") && sent[2].0.contains(" /accord/v1/me "));
    assert!(sent[1].0.starts_with("POST /v1/projects/shop/facts"), "{sent:?}");
    assert!(!sent[1].1.contains("asserted_by"), "{sent:?}");
}
