//! `accord conformance serve` among clients that mean no good, or do not know better.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::accord::{accord, command, run};
use crate::fixtures::{TOKEN, hook, serving, slow_hook};
use crate::server::Server;
use crate::wait::{LIMIT, pid_in, wait_for_end_of};

/// As many as the server has room for.
const ROOM: usize = 64;

fn connect(serving: &Server) -> TcpStream {
    let stream = TcpStream::connect(&serving.address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    stream
}

/// Sends the head of a request.
fn begin(mut stream: &TcpStream, line: &str, headers: &str) {
    write!(stream, "{line} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{headers}\r\n")
        .expect("sent");
}

fn status(mut stream: &TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.chars().skip(9).take(3).collect()
}

#[test]
fn connections_without_the_token_do_not_lock_others_out() {
    let serving = serving(&[]);
    let mut idle: Vec<TcpStream> = (0..ROOM).map(|_| connect(&serving)).collect();
    let (first, second) = (idle.remove(0), idle.remove(0));
    let asked = connect(&serving);
    begin(&asked, "GET /conform/capabilities", TOKEN);
    assert_eq!(status(&asked), "200");
    // The oldest made room, and nobody had to wait until it and its neighbour had been idle for too
    // long.
    assert_eq!(status(&first), "");
    begin(&second, "GET /conform/capabilities", TOKEN);
    assert_eq!(status(&second), "200");
    // Nor do they keep the server from its end.
    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(0), String::new()));
}

#[test]
fn a_connection_with_the_token_stays_when_others_come() {
    let serving = serving(&[]);
    let known = connect(&serving);
    let headers = format!("{TOKEN}Content-Length: 2\r\nExpect: 100-continue\r\n");
    begin(&known, "POST /conform/execute", &headers);
    // Its head must have been read before the others come.
    let mut goes_on = [0; 25];
    (&known).read_exact(&mut goes_on).expect("an answer");
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let idle: Vec<TcpStream> = (0..2 * ROOM).map(|_| connect(&serving)).collect();
    assert_eq!(status(&idle[0]), "");
    write!(&known, "{{}}").expect("sent");
    assert_eq!(status(&known), "200");
}

#[test]
fn a_fixture_whose_client_is_gone_is_ended() {
    let serving = serving(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let fixture = slow_hook(&mark).to_string();
    let client = connect(&serving);
    let headers = format!("{TOKEN}Content-Length: {}\r\n", fixture.len());
    begin(&client, "POST /conform/execute", &headers);
    write!(&client, "{fixture}").expect("sent");
    let hook = pid_in(&mark);
    drop(client);
    wait_for_end_of(&hook);
}

#[test]
fn a_hook_writes_no_file_that_fills_the_machine() {
    let serving = serving(&[]);
    let script = "head -c 70000000 /dev/zero > big; size=$(wc -c < big); \
                  echo \"{\\\"verdict\\\":\\\"block\\\",\\\"message\\\":\\\"$size bytes\\\"}\"";
    let fixture = hook(script).to_string();
    let (status, _, result) = serving.ask_with(TOKEN, "POST", "/conform/execute", &fixture);
    assert_eq!(status, 200);
    let said = result["actual"].to_string();
    assert!(said.contains("67108864 bytes"), "{result}");
}

/// A client that sends everything before it reads finds the answer, and no broken connection.
#[test]
fn a_client_that_sends_too_much_is_refused() {
    let serving = serving(&[]);
    let fixture = vec![b' '; 17 * 1024 * 1024];
    for (headers, refused) in [(TOKEN, "413"), ("", "401")] {
        let mut client = connect(&serving);
        let headers = format!("{headers}Content-Length: {}\r\n", fixture.len());
        begin(&client, "POST /conform/execute", &headers);
        client.write_all(&fixture).expect("all of it is taken");
        assert_eq!(status(&client), refused);
    }
}

const SERVE: [&str; 4] = ["conformance", "serve", "--listen", "127.0.0.1:0"];

#[test]
fn a_server_refuses_to_listen_without_a_token_or_where_others_read_along() {
    let said = accord(&SERVE, "").refused("USAGE");
    assert!(said.contains("--token"), "{said}");
    assert!(said.contains("ACCORD_CONFORMANCE_TOKEN"), "{said}");
    let open = ["conformance", "serve", "--listen", "0.0.0.0:0"];
    let token = ["--token", "t"];
    accord(&[&open[..], &token].concat(), "").refused("SERVE_TLS_NEEDED");
}

/// What stands among the arguments of a process can be read by everybody on the machine.
#[test]
fn a_token_of_the_environment_stands_in_no_list_of_processes() {
    const NAME: &str = "ACCORD_CONFORMANCE_TOKEN";
    let with_token = |args: &[&str], token: &str| {
        let mut command = command(args);
        command.env(NAME, token);
        run(command, "")
    };
    let serving = Server::begin(command(&SERVE).env(NAME, "tide-table").stderr(Stdio::piped()));
    assert_eq!(serving.ask_with("", "GET", "/conform/capabilities", "").0, 401);
    assert_eq!(serving.ask_with(TOKEN, "GET", "/conform/capabilities", "").0, 200);
    let url = format!("http://{}", serving.address);
    let judged =
        |name: &[&str], token: &str| with_token(&[name, &["--remote", &url]].concat(), token);
    let verifier = ["conformance", "check", "--surface", "history"];
    let kit = ["check", "agentxchain", "--filter", "area(history)"];
    for name in [&verifier[..], &kit] {
        assert_eq!(judged(name, "tide-table").code, 0);
        judged(name, "another").refused("KIT_CAPABILITIES_UNREADABLE");
    }
    // It belongs to servers: who names none is not refused for it.
    let nowhere = ["conformance", "check", "--target", "/nowhere"];
    with_token(&nowhere, "tide-table").refused("KIT_CAPABILITIES_UNREADABLE");
    let said = with_token(&SERVE, "two words").refused("USAGE");
    assert!(said.contains(NAME), "{said}");
    assert!(!said.contains("two words"), "{said}");
}
