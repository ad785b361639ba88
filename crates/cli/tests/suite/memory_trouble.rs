//! Hosts that are not there, do not answer, or do not let one in.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use crate::accord::{Ran, run, run_with_closed_output};
use crate::memory::{Memory, Way, bare};
use crate::server::Server;
use crate::snapshot;
use crate::wait::output_of;

/// The certificate of a test host, which nobody has issued but itself.
const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/suite/door/pem/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/suite/door/pem/key.pem");

/// Lists the projects of a server.
fn list(url: &str, key: Option<&str>) -> Ran {
    let mut command = bare(&["project", "list", "--url", url]);
    if let Some(key) = key {
        command.env("ACCORD_KEY", key);
    }
    run(command, "")
}

/// A server that answers everybody with the same bytes, and then closes.
fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(bytes);
        }
    });
    url
}

#[test]
fn a_host_that_is_not_there_is_named() {
    let said = list("http://127.0.0.1:1", None).refused("HOST_UNREACHABLE");
    snapshot::check("a_host_that_is_not_there_is_named", &said);
    list("http://no-such-host.invalid", None).refused("HOST_UNREACHABLE");
    for wrong in ["127.0.0.1:7171", "ftp://example.org", "http://lead:pw@example.org"] {
        let said = list(wrong, None).refused("USAGE");
        assert!(said.contains("http://127.0.0.1:7171") && !said.contains("pw@"), "{said}");
    }
}

#[test]
fn what_is_no_host_is_said_to_be_none() {
    list(&answering(b"220 mail ready\r\n"), None).refused("HOST_PROTOCOL");
    list(&answering(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"), None)
        .refused("HOST_PROTOCOL");
    let said =
        list(&answering(b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n<html/>\r\n"), None);
    assert!(said.refused("HOST_PROTOCOL").contains("404"));
    let said = list(&answering(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"), None);
    assert!(said.refused("HOST_UNREACHABLE").contains("proxy"));
    list(&answering(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"pro"), None)
        .refused("HOST_UNREACHABLE");
}

#[test]
fn a_refusal_of_another_server_is_shown_as_well_as_it_can_be() {
    let url = answering(
        b"HTTP/1.1 418 No\r\nx-correlation-id: abc\r\nconnection: close\r\n\r\n\
          {\"error\":{\"code\":\"no_tea\",\"message\":\"no tea\",\"field\":\"cup.size\"}}",
    );
    let said = list(&url, None).refused("no_tea");
    for part in ["no tea", "(at cup.size)", "correlation id abc"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn keys_are_asked_for_and_never_shown() {
    let memory = Memory::reached(Way::Url);
    let url = &memory.host().url;
    let said = list(url, None).refused("AUTH_REQUIRED");
    snapshot::check("keys_are_asked_for_and_never_shown", &said);
    let wrong = "accord_0000000000000000_secretsecretsecret";
    let said = list(url, Some(wrong)).refused("unauthorized");
    snapshot::check("keys_are_asked_for_and_never_shown-2", &said);
    assert!(!said.contains("secret"), "{said}");
    let said = list(url, Some("half\nhidden")).refused("USAGE");
    assert!(!said.contains("hidden"), "{said}");
    // A key for one project and one verb.
    let args = [
        "key",
        "create",
        "--label",
        "reader",
        "--project",
        "shop",
        "--verb",
        "read",
        "--expires",
        "1h",
    ];
    let made = memory.ran(&args);
    assert_eq!((made.code, made.stdout.lines().count()), (0, 1), "the key is alone: {made:?}");
    let key = made.stdout.trim();
    assert!(!made.stderr.contains(key) && made.stderr.contains("reader"), "{}", made.stderr);
    let id = key.split('_').nth(1).expect("an id").to_owned();
    memory.deposit("Seen", &[]);
    let as_reader = |args: &[&str]| {
        let mut command = bare(args);
        command.env("ACCORD_URL", url).env("ACCORD_KEY", key).env("ACCORD_ACTOR", "agent:x");
        run(command, "")
    };
    assert!(as_reader(&["context", "pull", "--project", "shop"]).yes().contains("Seen"));
    as_reader(&["context", "deposit", "--project", "shop", "--title", "t"]).refused("unauthorized");
    as_reader(&["context", "pull", "--project", "other"]).refused("unauthorized");
    as_reader(&["key", "list"]).refused("unauthorized");
    let listed = memory.ran(&["key", "list"]).yes();
    assert!(listed.contains(&id) && !listed.contains(key), "{listed}");
    memory.ran(&["key", "revoke", &id]).yes();
    as_reader(&["context", "pull", "--project", "shop"]).refused("unauthorized");
    memory.ran(&["key", "revoke", "nobody"]).refused("KEY_NOT_FOUND");
}

#[test]
fn a_certificate_is_trusted_when_its_issuer_is() {
    let memory = Memory::new();
    memory.ran(&["project", "create", "shop"]).yes();
    let host = Server::start(&memory.data(), &["--tls-cert", CERT, "--tls-key", KEY]);
    assert!(host.url.starts_with("https://"), "{}", host.url);
    let said = list(&host.url, None).refused("HOST_TLS");
    snapshot::check("a_certificate_is_trusted_when_its_issuer_is", &said);
    let mut trusting = bare(&["project", "list", "--url", &host.url]);
    trusting.env("SSL_CERT_FILE", CERT);
    assert!(run(trusting, "").yes().contains("shop"));
    let mut elsewhere =
        bare(&["project", "list", "--url", &host.url.replace("127.0.0.1", "127.0.0.2")]);
    elsewhere.env("SSL_CERT_FILE", CERT);
    run(elsewhere, "").refused("HOST_UNREACHABLE");
    // Spoken to as if it had none, it is no host.
    let plain = host.url.replace("https://", "http://");
    let ran = list(&plain, None);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.starts_with("HOST_"), "{}", ran.stderr);
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let memory = Memory::new();
    memory.ran(&["project", "create", "shop"]).yes();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let memory = &memory;
            scope.spawn(move || memory.deposit(&format!("number {number}"), &[]));
        }
    });
    let all = memory.json(&["context", "pull", "--limit", "100"]);
    assert_eq!(all["packages"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_command_that_waits_for_the_folder_says_so() {
    let memory = Memory::new();
    memory.deposit("Kept", &[]);
    // What another command has for a moment, this test has for longer.
    let lock = File::open(memory.data().join("accord.lock")).expect("the file of the lock");
    lock.lock().expect("no other process has it");
    let mut command = bare(&["context", "pull"]);
    command.env("ACCORD_DATA", memory.data()).env("ACCORD_PROJECT", "shop");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("accord starts");
    let mut messages = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    messages.read_line(&mut said).expect("text");
    assert!(said.starts_with("waiting: ") && said.contains("data: another process"), "{said}");
    lock.unlock().expect("this test has it");
    let output = output_of(child, "accord context pull");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Kept"), "{output:?}");
}

#[test]
fn a_host_that_was_killed_is_not_waited_for() {
    let memory = Memory::new();
    let mut host = Server::start(&memory.data(), &[]);
    memory.deposit("Through the socket", &[]);
    host.kill();
    assert!(memory.data().join("accord.sock").exists(), "it had no time to take its socket along");
    let shown = memory.ran(&["context", "pull"]).yes();
    snapshot::check("a_host_that_was_killed_is_not_waited_for", &shown);
}

#[test]
fn an_output_that_is_closed_ends_the_command_silently() {
    let memory = Memory::new();
    memory.deposit("Seen by nobody", &[]);
    for args in [
        &["context", "pull"][..],
        &["context", "pull", "--json"],
        &["context", "export"],
        &["context", "verify"],
        &["fact", "assert", "a", "b", "c"],
        &["key", "create", "--label", "l"],
    ] {
        let mut command = bare(args);
        command.env("ACCORD_DATA", memory.data()).env("ACCORD_PROJECT", "shop");
        command.env("ACCORD_ACTOR", "agent:planner");
        run_with_closed_output(command).closed();
    }
}
