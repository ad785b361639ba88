//! [`accord_process::Conversation`]: lines in any order, bounded in time and memory.

use accord_process::{Cancel, Conversation, Ending, SessionError, SessionLimits};

use crate::{LONG, SHORT, sh};

fn start(script: &str) -> Conversation {
    Conversation::start(&sh(script), SessionLimits::new(1000, 200)).unwrap()
}

#[test]
fn the_child_may_speak_first_and_answer_with_several_lines() {
    let mut talk = start("echo hello; read -r line; echo \"a $line\"; echo \"b $line\"; cat");
    assert!(talk.id().is_some());
    assert_eq!(talk.hear(LONG).unwrap(), b"hello");
    talk.say(b"you").unwrap();
    assert_eq!(talk.hear(LONG).unwrap(), b"a you");
    assert_eq!(talk.hear(LONG).unwrap(), b"b you");
    talk.say(b"back").unwrap();
    talk.say(b"again").unwrap();
    assert_eq!(talk.hear(LONG).unwrap(), b"back");
    assert_eq!(talk.hear(LONG).unwrap(), b"again");
    assert_eq!(talk.close(LONG).unwrap(), Ending::Exited(0));
}

#[test]
fn silence_ends_it_and_so_does_the_word() {
    let mut talk = start("echo trouble >&2; sleep 600");
    let error = talk.hear(SHORT).unwrap_err();
    assert!(matches!(error, SessionError::TimedOut { .. }), "{error}");
    assert_eq!(talk.stderr(), b"trouble\n");
    assert!(matches!(talk.say(b"more"), Err(SessionError::Over)));

    let word = Cancel::new();
    let mut talk = start("sleep 600").cancel(word.clone());
    word.cancel();
    let error = talk.hear(LONG).unwrap_err();
    assert!(matches!(error, SessionError::Cancelled), "{error}");
}

#[test]
fn a_line_that_is_too_long_ends_it() {
    let mut talk = start("head -c 2000 /dev/zero; sleep 600");
    let error = talk.hear(LONG).unwrap_err();
    assert!(matches!(error, SessionError::LineTooLong { limit: 1000 }), "{error}");
}

#[test]
fn what_is_written_after_the_goodbye_is_forgotten() {
    let mut talk = start("read -r line; cat >/dev/null; yes | head -c 1000000; exit 3");
    talk.say(b"begin").unwrap();
    assert_eq!(talk.close(LONG).unwrap(), Ending::Exited(3));
}
