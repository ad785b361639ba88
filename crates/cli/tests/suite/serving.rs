//! `accord serve` and `accord config`, as processes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use accord_canon::sha256;
use serde_json::{Value, json};

use crate::accord::{accord, command, run};
use crate::memory::bare;
use crate::server::Server;
use crate::wait::{LIMIT, wait_until};

fn package(id: &str) -> String {
    json!({
        "package_id": id,
        "project_id": "p",
        "relay_version": "0.1",
        "title": "Written while the server was ending",
        "status": "complete",
        "package_type": "standard",
        "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z",
        "created_by": {"id": "lead", "type": "agent"},
    })
    .to_string()
}

#[test]
fn a_command_does_not_use_the_server_of_a_worker() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("text");
    let mark = ("ACCORD_TASK_ID", "TASK-2026-02-09-001");
    let mut serve = bare(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    let mut server = Server::begin(serve.env(mark.0, mark.1).stderr(Stdio::piped()));
    let list = |mark: Option<(&str, &str)>| {
        let mut command = bare(&["project", "list", "--data", data]);
        command.envs(mark);
        run(command, "")
    };
    let refused = list(None);
    assert!(refused.messages().starts_with("not_for_workers"), "{refused:?}");
    assert!(refused.messages().contains(&server.pid().to_string()), "{refused:?}");
    assert_eq!(list(Some(mark)).code, 0, "a worker uses its own server");
    server.kill();
    assert_eq!(list(None).code, 0, "the socket that is left behind is no server");
}

#[test]
fn what_was_acknowledged_before_the_end_is_there_after_it() {
    let folder = tempfile::tempdir().expect("it works");
    let serving = Server::start(folder.path(), &[]);
    let (status, body) = serving.ask("GET", "/healthz", "");
    assert_eq!((status, &body["ready"]), (200, &json!(true)));
    let acknowledged = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let (serving, acknowledged) = (&serving, &acknowledged);
        for writer in 0..8 {
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("pkg-{writer}-{number}");
                    let deposited = std::panic::catch_unwind(|| {
                        serving.ask("POST", "/v1/projects/p/packages", &package(&id))
                    });
                    match deposited {
                        Ok((201, _)) => acknowledged.lock().expect("it works").push(id),
                        // Nobody listens any more, or the answer was that it closes.
                        _ => return,
                    }
                }
            });
        }
        wait_until("40 acknowledged packages", || {
            acknowledged.lock().expect("it works").len() >= 40
        });
        serving.signal("-TERM");
    });
    let (code, said) = serving.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("there are no keys"), "{said}");
    assert!(!folder.path().join("accord.sock").exists());
    assert!(!folder.path().join("accord.url").exists());
    assert!(!folder.path().join("accord.db-wal").exists(), "the store was closed");
    let serving = Server::start(folder.path(), &[]);
    for id in acknowledged.into_inner().expect("it works") {
        let (status, _) = serving.ask("GET", &format!("/v1/packages/{id}"), "");
        assert_eq!(status, 200, "{id} is lost");
    }
    serving.signal("-INT");
    assert_eq!(serving.end().0, Some(0));
    let serving = Server::start(folder.path(), &[]);
    serving.signal("-HUP");
    assert_eq!(serving.end().0, Some(0));
    assert!(!folder.path().join("accord.sock").exists());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = tempfile::tempdir().expect("it works");
    let patient = ["limits.body_timeout=60m", "limits.shutdown_timeout=60m"];
    let patient = patient.map(|setting| format!("--set={setting}"));
    let serving = Server::start(folder.path(), &[&patient[0], &patient[1]]);
    let mut stream = TcpStream::connect(&serving.address).expect("it works");
    let address = &serving.address;
    write!(
        stream,
        "POST /v1/projects HTTP/1.1\r\nHost: {address}\r\nExpect: 100-continue\r\n\
         Content-Length: 9\r\n\r\n"
    )
    .expect("it works");
    // The request must have begun, or there is nothing to wait for.
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut goes_on = [0; 25];
    stream.read_exact(&mut goes_on).expect("an answer");
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    serving.begin_to_stop("-TERM");
    serving.signal("-TERM");
    assert_eq!(serving.end().0, Some(128 + 15));
}

#[test]
fn it_does_not_start_where_others_could_reach_it() {
    let folder = tempfile::tempdir().expect("it works");
    let data = folder.path().to_str().expect("it works");
    let ran = accord(&["serve", "--listen", "0.0.0.0:0", "--data", data], "");
    assert_eq!(ran.code, 2, "{ran:?}");
    // The log says first that the folder is new.
    for part in ["new data folder", "SERVE_KEYS_NEEDED", "no keys"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let serving = Server::start(folder.path(), &[]);
    let made = accord(&["key", "create", "--label", "a", "--verb", "admin", "--data", data], "");
    assert_eq!(made.code, 0, "{made:?}");
    // One folder, one server.
    accord(&["serve", "--listen", "127.0.0.1:0", "--data", data], "").refused("STORE_LOCKED");
    serving.signal("-TERM");
    serving.end();
    let ran = accord(&["serve", "--listen", "0.0.0.0:0", "--data", data], "");
    let said = ran.refused("SERVE_TLS_NEEDED");
    assert!(said.contains("--behind-proxy"), "{said}");
    // With keys there is nothing to warn of.
    let serving = Server::start(folder.path(), &["--log-format", "json", "--log-level", "debug"]);
    let (status, body) = serving.ask("GET", "/accord/v1/status", "");
    assert_eq!((status, &body["code"]), (401, &json!("AUTH_REQUIRED")));
    serving.signal("-TERM");
    let (_, said) = serving.end();
    assert!(!said.contains("there are no keys"), "{said}");
    let id = body["correlationId"].as_str().expect("it works");
    let line = said.lines().find(|line| line.contains(id));
    let line: Value = serde_json::from_str(line.expect("a line with the id")).expect("it works");
    assert_eq!(line["code"], "AUTH_REQUIRED");
}

#[test]
fn settings_that_a_clone_or_a_worker_brings_need_trust() {
    let folder = tempfile::tempdir().expect("it works");
    let file = folder.path().join(".accord/accord.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("it works");
    let planted = "url = \"http://127.0.0.1:9\"\n[tasks.notify]\ncommand = [\"touch\", \"ran\"]\n";
    std::fs::write(&file, planted).expect("it works");
    let here = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.current_dir(&folder).env_remove("ACCORD_DATA").env("ACCORD_KEY", "secret");
        command.env("XDG_STATE_HOME", folder.path().join("state"));
        run(command, "")
    };
    for arguments in
        [&["task", "list"][..], &["serve"], &["context", "digest"], &["config", "show"]]
    {
        let said = here(arguments).refused("STORE_FOLDER_UNTRUSTED");
        assert!(said.contains("url") && said.contains("tasks.notify.command"), "{said}");
    }
    // A worker cannot trust it.
    let mut worker = command(&["config", "trust"]);
    worker.current_dir(&folder).env_remove("ACCORD_DATA").env("ACCORD_TASK_ID", "001");
    run(worker, "").refused("not_for_workers");
    // Without a terminal, the digest says what was looked at.
    let said = here(&["config", "trust"]).refused("confirmation_needed");
    assert!(said.contains("http://127.0.0.1:9") && said.contains("touch"), "{said}");
    let digest = sha256(planted.as_bytes()).hex();
    assert!(said.contains(&digest), "{said}");
    here(&["config", "show"]).refused("STORE_FOLDER_UNTRUSTED");
    std::fs::write(&file, planted.replace('9', "8")).expect("it works");
    here(&["config", "trust", "--expect", &digest]).refused("evidence_changed");
    std::fs::write(&file, planted).expect("it works");
    let said = here(&["config", "trust", "--expect", &digest]).yes();
    assert!(said.contains("tasks.notify.command, url"), "{said}");
    here(&["config", "show"]).yes();
    std::fs::write(&file, planted.replace("ran", "ran2")).expect("it works");
    here(&["config", "show"]).refused("STORE_FOLDER_UNTRUSTED");
    // What names nothing outside needs no trust.
    std::fs::write(&file, "project = \"shop\"\n[limits]\nconnections = 9\n").expect("it works");
    here(&["config", "show"]).yes();
}

#[test]
fn settings_are_shown_with_their_origin() {
    let folder = tempfile::tempdir().expect("it works");
    let data = folder.path().to_str().expect("it works");
    std::fs::write(folder.path().join("accord.toml"), "[limits]\nconnections = 9\n")
        .expect("it works");
    let text = accord(&["config", "show", "--data", data, "--strict-projects"], "").yes();
    let line = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).to_owned()
    };
    assert!(line("limits.connections").ends_with("accord.toml"));
    assert!(line("strict_projects").ends_with("flag"));
    assert!(line("listen").contains("127.0.0.1:7171"));
    let mut show = command(&["config", "show", "--json", "--data", data]);
    show.env("ACCORD_LOG_LEVEL", "debug");
    let document: Value = serde_json::from_str(&run(show, "").yes()).expect("it works");
    let entries = document["settings"].as_array().expect("it works");
    let level = entries.iter().find(|entry| entry["name"] == "log.level").expect("it works");
    assert_eq!((&level["value"], &level["origin"]), (&json!("debug"), &json!("environment")));
    assert_eq!(level["place"], "ACCORD_LOG_LEVEL");
    let said =
        accord(&["config", "show", "--set", "limits.conections=3"], "").refused("SETTING_UNKNOWN");
    assert!(said.contains("limits.connections"), "{said}");
    accord(&["serve", "--set", "limits.connections=none"], "").refused("SETTING_INVALID");
}

#[test]
fn a_log_that_is_not_read_does_not_end_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("a path");
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let serving = Server::begin(serve.stderr(writer));
    // As a log collector that went away, or a full disk, would.
    drop(reader);
    for _ in 0..3 {
        let (status, _) = serving.ask("GET", "/v1/packages/nowhere", "");
        assert_eq!(status, 404);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_reported_and_does_not_end_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("a path");
    let serve = command(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 4000; exec \"$0\" \"$@\""])
        .arg(serve.get_program())
        .args(serve.get_args());
    let serving = Server::begin(limited.stderr(Stdio::piped()));
    let filler = "words ".repeat(30_000);
    let refused = (0..200).find_map(|number| {
        let mut body: Value = serde_json::from_str(&package(&format!("pkg_{number}"))).ok()?;
        body["content_md"] = format!("{number} {filler}").into();
        let (status, answer) = serving.ask("POST", "/v1/projects/p/packages", &body.to_string());
        (status != 201).then_some((status, answer))
    });
    let (status, answer) = refused.expect("there is an end to the room");
    assert_eq!((status, &answer["error"]["code"]), (507, &json!("STORE_FULL")), "{answer}");
    let (status, _) = serving.ask("GET", "/v1/packages/pkg_0", "");
    assert_eq!(status, 200, "what was acknowledged is there");
}
