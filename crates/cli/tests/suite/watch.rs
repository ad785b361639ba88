//! `accord watch`: what happens in all projects, also while the server is started again.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::memory::bare;
use crate::server::Server;
use crate::wait::exit_of;

fn watching(data: &Path, words: &[&str]) -> Child {
    let mut command: Command = bare(&[&["watch", "--json"], words].concat());
    command.env("ACCORD_DATA", data).current_dir("/").stdout(Stdio::piped());
    command.spawn().expect("accord starts")
}

fn deposit(server: &Server, project: &str, id: &str) {
    let package = json!({
        "project_id": project, "relay_version": "0.1", "package_id": id,
        "title": format!("of {id}"),
        "status": "complete", "package_type": "standard", "review_type": "none",
        "created_at": "2026-11-15T08:00:00Z", "created_by": {"id": "planner", "type": "agent"},
    });
    let path = format!("/v1/projects/{project}/packages");
    let (status, answer) = server.ask("POST", &path, &package.to_string());
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn the_stream_goes_on_after_the_server_was_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    let mut server = Server::start(data, &[]);
    deposit(&server, "atlas", "pkg_1");
    deposit(&server, "borealis", "pkg_2");
    // Two events of each project: its beginning and the package.
    let mut child = watching(data, &["--all", "--count", "7"]);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let first: Vec<Value> = (0..4).map(|_| next()).collect();
    let place = first.iter().rev().find_map(|event| event["cursor"].as_str()).expect("a cursor");
    server.kill();
    drop(server);
    let server = Server::start(data, &[]);
    deposit(&server, "atlas", "pkg_3");
    deposit(&server, "cygnus", "pkg_4");
    let rest: Vec<Value> = (0..3).map(|_| next()).collect();
    assert_eq!(exit_of(&mut child, "the watcher").code(), Some(0));
    let mut numbers: Vec<(&str, u64)> = first.iter().chain(&rest).map(named).collect();
    numbers.sort_unstable();
    let expected = [("atlas", 1), ("atlas", 2), ("atlas", 3), ("borealis", 1), ("borealis", 2)];
    assert_eq!(numbers, [&expected[..], &[("cygnus", 1), ("cygnus", 2)]].concat());

    // Another client goes on from a place.
    let child = watching(data, &["--after", place, "--project", "cygnus", "--count", "2"]);
    let output = crate::wait::output_of(child, "the second watcher");
    let lines = String::from_utf8(output.stdout).expect("text");
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.iter().map(named).collect::<Vec<_>>(), [("cygnus", 1), ("cygnus", 2)]);

    let mut text = bare(&["watch", "--all", "--count", "7"]);
    text.env("ACCORD_DATA", data).current_dir("/").stdout(Stdio::piped());
    let output = crate::wait::output_of(text.spawn().expect("accord starts"), "the third watcher");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said.contains("atlas  package.deposited  pkg_3  of pkg_3\n"), "{said}");
}

fn named(event: &Value) -> (&str, u64) {
    (event["project_id"].as_str().expect("a project"), event["seq"].as_u64().expect("a number"))
}
