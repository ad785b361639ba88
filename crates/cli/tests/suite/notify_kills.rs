//! A server that is killed on the way of a notification sends it after its next start, with the
//! same id once it had one, and nothing about what ended in between.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::memory::bare;
use crate::server::Server;
use crate::wait::{wait_for, wait_until};

/// After each of these steps something lasts.
const STEPS: [&str; 4] = ["notify.planned", "notify.grouped", "notify.sent", "notify.told"];

type Heard = Arc<Mutex<Vec<Value>>>;

/// A receiver that takes everything.
fn receiver() -> (String, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let heard = Heard::default();
    let list = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a stream");
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).unwrap_or(0) == 0 {
                    break;
                }
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
            reader.read_exact(&mut body).expect("a body");
            list.lock().expect("a list").push(serde_json::from_slice(&body).expect("JSON"));
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        }
    });
    (url, heard)
}

fn start(data: &Path, url: &str, variables: &[(&str, &str)]) -> Server {
    let data = data.to_str().expect("text");
    let url = format!("notify.url={url}");
    let mut command = bare(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        data,
        "--set",
        &url,
        "--set",
        "notify.group=1ms",
    ]);
    for (name, value) in variables {
        command.env(name, value);
    }
    Server::begin(command.stderr(Stdio::piped()))
}

/// Deposits a package with a question. Its answer may not come back.
fn ask(server: &Server, id: &str, question: &str) {
    let package = json!({
        "package_id": id, "project_id": "shop", "relay_version": "0.1", "title": "Plan",
        "status": "complete", "package_type": "milestone", "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z", "created_by": {"id": "planner", "type": "agent"},
        "open_questions": [question],
    });
    let (status, answer) = server.ask("POST", "/v1/projects/shop/packages", &package.to_string());
    assert_eq!(status, 201, "{answer}");
}

fn said(heard: &Heard) -> Vec<Value> {
    heard.lock().expect("a list").clone()
}

fn ids(heard: &Heard) -> Vec<String> {
    said(heard).iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_notification_survives_a_kill_at_every_step() {
    for step in STEPS {
        let folder = tempfile::tempdir().expect("a folder");
        let (url, heard) = receiver();
        let steps = folder.path().join("steps");
        let steps = steps.to_str().expect("text");
        let variables = [("ACCORD_KILL_AT", step), ("ACCORD_STEPS", steps)];
        let data = folder.path().join("data");
        let server = start(&data, &url, &variables);
        ask(&server, "pkg_1", "Which tax?");
        wait_until(format_args!("the kill at {step}"), || {
            std::net::TcpStream::connect(&server.address).is_err()
        });
        drop(server);
        let before = ids(&heard);
        assert_eq!(before.len(), usize::from(matches!(step, "notify.sent" | "notify.told")));
        let server = start(&data, &url, &[]);
        ask(&server, "pkg_2", "Which other tax?");
        let titled = |count| {
            let all = said(&heard);
            all.iter().filter(|one| one["count"] == count).count()
        };
        // Both are told; what was sent before the kill comes with its id.
        wait_for(format_args!("both, after a kill at {step}"), || {
            let items: u64 = {
                let mut seen = std::collections::BTreeSet::new();
                for one in said(&heard) {
                    for item in one["items"].as_array().expect("items") {
                        seen.insert(item["id"].as_str().expect("an id").to_owned());
                    }
                }
                seen.len() as u64
            };
            (items == 2).then_some(())
        });
        let after = ids(&heard);
        match step {
            // Sent, and not noted: once more, with the same id.
            "notify.sent" => {
                assert_eq!((after.len(), &after[0]), (3, &after[1]), "{:?}", said(&heard));
            }
            "notify.told" => assert_eq!(after.len(), 2, "{:?}", said(&heard)),
            _ => assert!(titled(1) == 2 || titled(2) == 1, "{:?}", said(&heard)),
        }
        let known = std::fs::read_to_string(steps).expect("the steps");
        for line in known.lines().filter(|line| line.starts_with("notify.")) {
            assert!(STEPS.contains(&line), "no test kills at {line}");
        }
    }
}
