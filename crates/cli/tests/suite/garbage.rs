//! Whatever comes in: a clear error, the documented exit code, bounded memory.

use std::io::Write as _;
use std::process::Stdio;

use crate::accord::{accord, command, run_script, run_with_closed_output};
use crate::wait::output_of;

/// Every command that reads one document from standard input.
const READERS: [&[&str]; 7] = [
    &["canon", "--profile", "jcs"],
    &["canon", "--profile", "alx", "--hash", "keccak256"],
    &["canon", "--profile", "agentic"],
    &["kb", "hash"],
    &["kb", "verify"],
    &["kb", "cid"],
    &["kb", "explain"],
];

#[test]
fn what_is_no_document_is_refused() {
    let deep = "[".repeat(10_000);
    let deep_and_closed = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    for reader in READERS {
        accord(reader, "").refused("CANON_INVALID_JSON");
        accord(reader, " \n").refused("CANON_INVALID_JSON");
        accord(reader, b"\x7fELF\x02\x01\x01\0\0\xff\xfe").refused("CANON_INVALID_");
        accord(reader, b"\"\xff\xfe\"").refused("CANON_INVALID_UTF8");
        accord(reader, &deep).refused("CANON_TOO_DEEP");
        accord(reader, &deep_and_closed).refused("CANON_TOO_DEEP");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("text");
    for reader in READERS {
        let said = accord(&[reader, &[folder]].concat(), "").refused("INPUT_UNREADABLE");
        assert!(said.contains("folder"), "{said}");
        let missing = format!("{folder}/missing.json");
        accord(&[reader, &[missing.as_str()]].concat(), "").refused("INPUT_UNREADABLE");
    }
    accord(&["compat", folder, folder], "").refused("INPUT_UNREADABLE");
    accord(&["check", "alx", "--baseline", folder], "").refused("INPUT_UNREADABLE");
    let batch = accord(&["kb", "hash", "--batch", folder], "");
    assert_eq!(batch.code, 2, "{batch:?}");
}

#[test]
fn snapshots_and_baselines_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let path = file.to_str().expect("text");
    for (garbage, of_snapshot) in [
        (&b""[..], "CANON_INVALID_JSON"),
        (b"\xff", "CANON_INVALID_UTF8"),
        (b"[]", "SNAPSHOT_INVALID"),
        (b"{}", "SNAPSHOT_INVALID"),
        (b"{\"a\":1,\"a\":1}", "CANON_DUPLICATE_KEY"),
    ] {
        std::fs::write(&file, garbage).expect("written");
        accord(&["compat", path, path], "").refused(of_snapshot);
        let ran = accord(&["check", "alx", "--baseline", path], "");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("KIT_BASELINE_INVALID"), "{}", ran.stderr);
    }
}

/// A hundred megabytes, with room for far less than a few copies of them.
#[test]
fn a_flood_is_refused_in_bounded_memory() {
    for (reader, flood) in [
        ("canon --profile jcs", "head -c 100000000 /dev/zero"),
        ("kb hash", "yes '[[[[' | head -c 100000000"),
    ] {
        let script = format!("ulimit -v 600000; {flood} | \"$ACCORD\" {reader}");
        run_script(&script).refused("INPUT_TOO_LARGE");
    }
}

/// An adapter answers whatever comes, and so a flood too.
#[test]
fn a_flood_of_a_case_is_answered_with_an_error_in_bounded_memory() {
    let script = "ulimit -v 600000; head -c 100000000 /dev/zero | \"$ACCORD\" adapter alx";
    let ran = run_script(script);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.starts_with("{\"status\":\"error\""), "{ran:?}");
}

/// The command reads a line only after it has answered the one before: what a pipe has room for is
/// less than a line here. So its memory can be measured between two lines.
#[test]
fn a_flood_of_lines_is_answered_line_by_line_in_bounded_memory() {
    const LINE: usize = 250_000;
    let envelope = format!("{{\"payload\":\"{}\"}}\n", "x".repeat(LINE));
    let mut child = command(&["kb", "hash", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("accord starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut send = |lines: usize| {
        for _ in 0..lines {
            stdin.write_all(envelope.as_bytes()).expect("it reads");
        }
        peak_memory(child.id())
    };
    let at_first = send(4);
    let later = send(40);
    assert!(later < at_first + 10 * LINE, "{at_first} {later}");
    drop(stdin);
    let output = output_of(child, "accord kb hash --batch");
    let text = String::from_utf8(output.stdout).expect("text");
    let last = text.lines().next_back().expect("a line");
    assert!(last.starts_with("{\"line\":44,\"kbHash\""), "{last}");
}

/// The most address space that a process has had, in bytes.
fn peak_memory(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kilobytes = peak.expect("a peak").trim().trim_end_matches(" kB");
    kilobytes.parse::<usize>().expect("a number") * 1024
}

#[test]
fn a_closed_input_is_an_empty_one() {
    let closed = "exec \"$ACCORD\" canon --profile jcs <&-";
    run_script(closed).refused("CANON_INVALID_JSON");
}

#[test]
fn an_output_that_is_closed_ends_the_command_silently() {
    for args in [
        &["check", "alx", "--clauses"][..],
        &["check", "alx", "--verbose"],
        &["check", "alx", "--format", "ndjson"],
        &["codes"],
        &["--help"],
        &["contract"],
    ] {
        run_with_closed_output(command(args)).closed();
    }
}

#[test]
fn a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: this system has no /dev/full");
        return;
    }
    for format in ["json", "junit", "text"] {
        let args = ["check", "alx", "--format", format, "--output", "/dev/full"];
        let ran = accord(&args, "");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("OUTPUT_FAILED"), "{}", ran.stderr);
    }
}

#[test]
fn wrong_usage_is_distinguished() {
    for args in [
        &[][..],
        &["no-such-command"],
        &["canon"],
        &["check"],
        &["compat"],
        &["kb", "hash", "--nope"],
    ] {
        let ran = accord(args, "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains("Usage"), "{}", ran.stderr);
    }
}
