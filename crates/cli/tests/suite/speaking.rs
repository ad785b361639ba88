//! What the command says where there is little to say, and when something is not as it should be.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use crate::accord::accord;
use crate::memory::{Memory, Way, bare};
use crate::snapshot;
use crate::wait::{LIMIT, exit_of, signal, wait_until};

#[test]
fn an_empty_list_says_so_to_people_and_not_to_programs() {
    let memory = Memory::new();
    let mut notes = String::new();
    let nothing = memory.ran(&["project", "create", "shop"]);
    assert_eq!(nothing.code, 0, "{nothing:?}");
    for list in [
        &["fact", "list", "--project", "shop"][..],
        &["fact", "list", "--project", "shop", "--subject", "x"],
        &["session", "list", "--project", "shop"],
        &["key", "list"],
        &["context", "pull", "--project", "shop"],
        &["context", "pull", "--project", "shop", "--status", "draft"],
        &["context", "import", "-"],
    ] {
        let ran = memory.ran(list);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{list:?}");
        notes.push_str(&ran.stderr);
        let ran = memory.ran(&[list, &["--json"]].concat());
        assert_eq!((ran.code, ran.stderr.is_empty()), (0, list[1] != "import"), "{ran:?}");
    }
    snapshot::check("empty-lists", &notes);
}

#[test]
fn what_a_terminal_would_act_on_is_shown_instead() {
    let memory = Memory::new();
    memory.ran(&["project", "create", "shop"]);
    let ran = memory.ran(&["context", "pull", "a\u{1b}[31mb", "--project", "shop"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr, "no package a\\u{1b}[31mb in shop\n");
}

#[test]
fn a_missing_value_is_reported_with_every_way_to_give_it() {
    for (args, ways) in [
        (&["store", "trim"][..], "<--days <N>|--before <TIME>>"),
        (&["check"], "<PROTOCOL|--protocols>"),
        (&["context", "deposit"], "<FILE|--title <TEXT>>"),
    ] {
        let said = accord(args, "").refused("USAGE");
        assert!(said.contains(ways), "{args:?}: {said}");
    }
}

#[test]
fn a_setting_is_suggested_only_where_its_name_is_near() {
    let memory = Memory::new();
    memory.ran(&["project", "create", "shop"]);
    for (line, near) in [("listn = 1", Some("did you mean listen?")), ("zzzz = 1", None)] {
        std::fs::write(memory.data().join("accord.toml"), line).expect("written");
        let data = memory.data();
        let data = data.to_str().expect("text");
        let said = accord(&["config", "show", "--data", data], "").refused("SETTING_UNKNOWN");
        match near {
            Some(near) => assert!(said.contains(near), "{said}"),
            None => {
                assert!(!said.contains("did you mean") && !said.contains("nearest"), "{said}");
                assert!(said.contains("accord config show"), "{said}");
            }
        }
    }
}

#[test]
fn a_place_where_no_folder_can_be_has_a_code_of_its_own() {
    let deposit = ["context", "deposit", "--project", "shop", "--title", "x", "--actor", "agent:a"];
    let file = tempfile::NamedTempFile::new().expect("a file");
    let below = file.path().join("data");
    for place in ["/proc/nowhere", below.to_str().expect("text")] {
        let said = accord(&[&deposit[..], &["--data", place]].concat(), "");
        let said = said.refused("STORE_FOLDER_UNUSABLE");
        assert!(said.contains("no data folder can be created"), "{said}");
    }
    let said =
        accord(&["store", "compact", "--data", "/proc/nowhere"], "").refused("STORE_MISSING");
    assert!(said.contains("--data or ACCORD_DATA"), "{said}");
}

#[test]
fn a_folder_that_is_served_is_refused_with_the_address_of_its_host() {
    let memory = Memory::reached(Way::Socket);
    let data = memory.data();
    let data = data.to_str().expect("text");
    let said = accord(&["serve", "--listen", "127.0.0.1:0", "--data", data], "");
    let said = said.refused("STORE_LOCKED");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("a host serves this folder already"), "{said}");
    assert!(said.contains("socket, others by http://127.0.0.1:"), "{said}");
    let note = memory.data().join("accord.url");
    let url = std::fs::read_to_string(&note).expect("a note");
    assert!(said.contains(&format!("others by {};", url.trim())), "{said}");
}

#[test]
fn an_export_that_is_terminated_leaves_no_file_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    // A host that begins an export, and is slow about it for as long as the test wants.
    let (begun, beginning) = std::sync::mpsc::channel();
    let host = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the command comes");
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).expect("a request") > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\
                    content-length: 1000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).expect("it listens");
        begun.send(()).expect("the test waits");
        // Until the command is gone.
        let _ = stream.read(&mut request);
    });
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("out.ndjson");
    let target = target.to_str().expect("text");
    let mut command = bare(&["context", "export", "--project", "p", "--url", &url, "-o", target]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("accord starts");
    let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
    beginning.recv_timeout(LIMIT).expect("the export begins");
    wait_until("the first file of the export", || files() == 1);
    signal(child.id(), "-INT");
    assert_eq!(exit_of(&mut child, "accord context export").code(), Some(130));
    assert_eq!(files(), 0);
    host.join().expect("the host ends");
}
