//! A refusal whose code its operation does not declare is one `error` line in the log. Here such a
//! line fails the test that caused it.

/// What the line says, for an operation in process and for a route.
const LINES: [&str; 2] =
    ["a code that the operation does not declare", "a code that the route does not declare"];

/// Fails if the log of a command or a server has such a line.
#[track_caller]
pub(crate) fn check_codes(log: &[u8]) {
    let log = String::from_utf8_lossy(log);
    let line = log.lines().find(|line| LINES.iter().any(|text| line.contains(text)));
    assert_eq!(line, None, "the list of the operation lacks the code");
}

#[test]
fn the_line_is_found() {
    const DOORS: [&str; 2] = [
        include_str!("../../src/commands/run/door.rs"),
        include_str!("../../../serving/src/table.rs"),
    ];
    for (line, door) in LINES.iter().zip(DOORS) {
        assert!(door.contains(&format!("{line:?}")), "its door writes another line than {line:?}");
        let log = format!("one\n2026-11-15T08:00:00Z ERROR {line} code=x\n");
        assert!(std::panic::catch_unwind(|| check_codes(log.as_bytes())).is_err(), "{line}");
    }
    check_codes(b"one\ntwo\n");
}
