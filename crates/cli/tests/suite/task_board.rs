//! The board and the events, printed and followed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::task_place::Tasks;
use crate::wait::{LIMIT, exit_of};

#[test]
fn a_board_that_is_not_a_terminal_is_printed_once() {
    let tasks = Tasks::new();
    let first = tasks.create("'Write the parser' --ready --priority high");
    tasks.create(&format!("'Write the manual' --after {first}"));
    let board = tasks.yes("board");
    let number = &first[..first.len() - 1];
    assert_eq!(
        board.replace(number, "TASK-1-00"),
        "shop: 2 tasks\n\nbacklog 1\n  TASK-1-002  Write the manual (waits for TASK-1-001)\n\n\
         ready 1\n  TASK-1-001  ! Write the parser\n"
    );
    for columns in ["20", "32", "50"] {
        let mut command = tasks.command("board");
        command.env("COLUMNS", columns);
        let board = crate::accord::run(command, "").yes();
        let width = columns.parse::<usize>().expect("a number");
        for line in board.lines() {
            // An id is never broken.
            assert!(line.chars().count() <= width.max(first.len() + 2), "{columns}: {line:?}");
        }
    }
}

#[test]
fn a_board_on_a_terminal_follows_the_changes_until_q() {
    let tasks = Tasks::new();
    tasks.create("First --ready");
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal");
    unlockpt(&ours).expect("a terminal");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let theirs = OpenOptions::new().read(true).write(true).open(name).expect("a terminal");
    let mut command = tasks.command("board");
    command.stdin(theirs.try_clone().expect("a descriptor"));
    command.stdout(theirs.try_clone().expect("a descriptor")).stderr(theirs);
    let mut child = command.spawn().expect("accord starts");
    drop(command);
    let mut terminal = File::from(ours);
    let mut reader = terminal.try_clone().expect("a descriptor");
    let (sender, shown) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            let _ = sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
        }
    });
    let mut seen = String::new();
    let mut until = |what: &str| {
        while !seen.contains(what) {
            let more = shown.recv_timeout(LIMIT);
            seen.push_str(&more.unwrap_or_else(|_| panic!("waited for {what:?} in {seen:?}")));
        }
    };
    until("First");
    tasks.create("Second --ready");
    until("Second");
    terminal.write_all(b"q").expect("it reads");
    // The screen of before is back.
    until("\u{1b}[?1049l");
    assert!(exit_of(&mut child, "the board").success());
}

#[test]
fn events_are_printed_as_they_happen() {
    let tasks = Tasks::new();
    let first = tasks.create("First --ready");
    let all = tasks.yes("watch --no-wait");
    assert!(all.contains(&format!("task.created  {first}  human:lead")), "{all}");
    let mut command = tasks.command("watch --after 0 --json");
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str::<serde_json::Value>(&line).expect("JSON")
    };
    assert_eq!(next()["eventId"], 1);
    tasks.yes(&format!("block {first} 'no keys'"));
    let mut last = 1;
    loop {
        let event = next();
        // Without gaps.
        last += 1;
        assert_eq!(event["eventId"], last, "{event}");
        if event["payload"]["to"] == "blocked" {
            break;
        }
    }
    child.kill().expect("it was running");
    child.wait().expect("it ended");
}
