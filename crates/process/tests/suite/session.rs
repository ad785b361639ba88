//! [`accord_process::Session`] against children that keep the line protocol, and that do not.

use std::time::Duration;

use accord_process::{Cancel, Ending, Session, SessionError, SessionLimits};

use crate::{LONG, SHORT, assert_gone, sh};

fn start(script: &str) -> Session {
    Session::start(&sh(script), SessionLimits::new(1000, 200)).unwrap()
}

#[test]
fn one_line_in_one_line_out() {
    let mut session = start("while read -r line; do echo \"<$line>\"; done");
    assert_eq!(session.request(b"one", LONG).unwrap(), b"<one>");
    assert_eq!(session.request(b"two", LONG).unwrap(), b"<two>");
}

#[test]
fn no_answer_in_time_ends_the_session_and_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let mut session = start(&format!(
        "trap '' TERM; read -r line; sleep 600 & echo $! > {}; echo stuck >&2; wait",
        pid_file.display()
    ));
    let error = session.request(b"one", SHORT).unwrap_err();
    assert!(matches!(error, SessionError::TimedOut { .. }), "{error}");
    assert_eq!(session.stderr(), b"stuck\n");
    assert_gone(&pid_file);
    assert!(matches!(session.request(b"two", LONG), Err(SessionError::Over)));
}

#[test]
fn a_death_tells_how_and_the_last_words() {
    let mut session = start("read -r line; echo first; read -r line; echo broken >&2; exit 4");
    assert_eq!(session.request(b"one", LONG).unwrap(), b"first");
    let error = session.request(b"two", LONG).unwrap_err();
    assert!(matches!(error, SessionError::Ended { ending: Ending::Exited(4) }), "{error}");
    assert_eq!(session.stderr(), b"broken\n");
}

#[test]
fn an_answer_right_before_the_end_counts() {
    let mut session = start("read -r line; echo bye");
    assert_eq!(session.request(b"one", LONG).unwrap(), b"bye");
    let error = session.request(b"two", LONG).unwrap_err();
    assert!(matches!(error, SessionError::Ended { .. }), "{error}");
}

#[test]
fn a_closed_stdout_is_noticed_without_waiting_for_the_limit() {
    let mut session = start("read -r line; exec >&-; sleep 600");
    let error = session.request(b"one", LONG).unwrap_err();
    assert!(matches!(error, SessionError::OutputClosed), "{error}");
}

#[test]
fn a_line_without_end_is_refused() {
    let mut session = start("read -r line; while :; do printf 0123456789; done");
    let error = session.request(b"one", LONG).unwrap_err();
    assert!(matches!(error, SessionError::LineTooLong { limit: 1000 }), "{error}");
}

#[test]
fn a_second_line_is_refused() {
    let mut session = start("read -r line; printf 'a\\nb\\n'; sleep 600");
    let error = session.request(b"one", LONG).unwrap_err();
    assert!(matches!(&error, SessionError::Unasked { start } if start == "b\n"), "{error}");
}

#[test]
fn a_second_line_right_before_the_end_is_refused() {
    let mut session = start("read -r line; printf 'a\\n'; printf 'b\\n'; exit 0");
    // Where the second line comes late, the request is answered and the close refuses it.
    let error = match session.request(b"one", LONG) {
        Ok(_) => session.close(LONG).unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(&error, SessionError::Unasked { start } if start == "b\n"), "{error}");
}

#[test]
fn an_unrequested_line_is_refused_at_the_close() {
    let mut session = start("read -r line; echo a; read -r line; echo b");
    assert_eq!(session.request(b"one", LONG).unwrap(), b"a");
    let error = session.close(LONG).unwrap_err();
    assert!(matches!(&error, SessionError::Unasked { start } if start == "b\n"), "{error}");
}

#[test]
fn a_request_that_is_given_up_ends_at_once() {
    let word = Cancel::new();
    let mut session = start("read -r line; sleep 600").cancel(word.clone());
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            assert!(word.cancel() && !word.cancel());
        });
        session.request(b"one", LONG).unwrap_err()
    });
    assert!(matches!(error, SessionError::Cancelled), "{error}");
}

#[test]
fn a_child_that_never_reads_times_out() {
    let mut session = start("sleep 600");
    let line = vec![b'x'; 1024 * 1024];
    let error = session.request(&line, SHORT).unwrap_err();
    assert!(matches!(error, SessionError::TimedOut { .. }), "{error}");
}

#[test]
fn dropping_a_session_kills_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let mut session = start(&format!(
        "sleep 600 & echo $! > {}; read -r line; echo ready; wait",
        pid_file.display()
    ));
    session.request(b"go", LONG).unwrap();
    drop(session);
    assert_gone(&pid_file);
}

#[test]
fn closing_lets_a_child_put_its_things_away() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("goodbye");
    let mut session = start(&format!(
        "while read -r line; do echo ok; done; echo bye > {}; exit 5",
        file.display()
    ));
    session.request(b"one", LONG).unwrap();
    assert_eq!(session.close(LONG).unwrap(), Ending::Exited(5));
    assert!(file.exists());

    let stubborn = start("while :; do sleep 5; done");
    assert_eq!(stubborn.close(SHORT).unwrap(), Ending::Signalled(9));
}
