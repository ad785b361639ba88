//! The upkeep of data folders, and judging a host of our own.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::accord::{accord, run};
use crate::memory::{Memory, Way, bare};

#[test]
fn a_backup_is_restored_elsewhere() {
    for way in [Way::Folder, Way::Socket] {
        let memory = Memory::reached(way);
        let id = memory.deposit("Worth keeping", &[]);
        let backup = memory.file("backup");
        memory.ran(&["store", "backup", &backup]).yes();
        let said = memory.ran(&["store", "backup", &backup]).refused("STORE_OCCUPIED");
        assert!(said.contains("folder"), "{said}");
        let other = memory.file("other");
        memory.ran(&["store", "restore", &backup, "--data", &other]).yes();
        memory.ran(&["store", "restore", &backup, "--data", &other]).refused("STORE_OCCUPIED");
        memory.ran(&["store", "restore", &backup, "--data", &other, "--replace"]).yes();
        let pulled = run(bare(&["context", "pull", &id, "--data", &other]), "").yes();
        assert!(pulled.contains("Worth keeping"), "{pulled}");
        memory
            .ran(&["store", "restore", &memory.file("nothing"), "--data", &other])
            .refused("STORE_MISSING");
    }
}

#[test]
fn what_needs_the_folder_alone_says_who_has_it() {
    let memory = Memory::reached(Way::Socket);
    memory.deposit("Served", &[]);
    let backup = memory.file("backup");
    memory.ran(&["store", "backup", &backup]).yes();
    let pid = memory.host().pid().to_string();
    for args in [
        &["store", "compact"][..],
        &["store", "repair"],
        &["store", "restore", &backup, "--replace"],
    ] {
        let said = memory.ran(args).refused("STORE_LOCKED");
        assert!(said.contains(&pid) && said.contains("stop it"), "{args:?}: {said}");
    }
}

#[test]
fn a_folder_is_kept_small() {
    let memory = Memory::new();
    memory.deposit("One event", &[]);
    let counted = memory.json(&["store", "trim", "--before", "2999-01-01", "--dry-run"]);
    assert!(counted["events"].as_u64().is_some_and(|events| events > 0), "{counted}");
    let kept = memory.ran(&["store", "trim", "--days", "1"]).yes();
    assert_eq!(kept, "0 events deleted\n");
    memory.ran(&["store", "trim", "--before", "soon"]).refused("WIRE_FIELD_VALUE");
    let compacted = memory.json(&["store", "compact"]);
    assert!(compacted["bytes_after"].as_u64().is_some_and(|bytes| bytes > 0), "{compacted}");
    memory.ran(&["context", "verify"]).yes();
    Memory::new().ran(&["store", "compact"]).refused("STORE_MISSING");
}

#[test]
fn what_is_derived_is_made_again() {
    let memory = Memory::new();
    memory.deposit("One event", &[]);
    let repaired = memory.ran(&["store", "repair"]).yes();
    assert_eq!(repaired, "1 package sound\n");
    let repaired = memory.json(&["store", "repair"]);
    assert_eq!((&repaired["sound"], &repaired["set_aside"]), (&1.into(), &0.into()), "{repaired}");
    memory.ran(&["context", "verify"]).yes();
    Memory::new().ran(&["store", "repair"]).refused("STORE_MISSING");
}

#[test]
fn accord_judges_a_host_of_its_own_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bare(&["check", "agentic"]);
    command.env("TMPDIR", folder.path());
    // What is set for another host says nothing about this one.
    command.env("ACCORD_LISTEN", "nonsense");
    let said = run(command, "").yes();
    assert!(said.contains("L3 is reached; the server claims L3: true"), "{said}");
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}

#[test]
fn a_server_that_has_nothing_does_not_pass() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(
                b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
            );
        }
    });
    let ran = accord(&["check", "agentic", "--url", &url, "--level", "L0"], "");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains("NOT JUDGED"), "{}", ran.stdout);
}
