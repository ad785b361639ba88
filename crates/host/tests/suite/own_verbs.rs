//! The commands that a client makes itself of an item: what others wrote is a word of them.

use accord_base::ProjectId;
use accord_base::inbox::{InboxFact, InboxItem, Waiting, kind};
use accord_contract::{Object, Time};
use accord_host::own_verb;

fn item(kind: &str, subject: &str) -> InboxItem {
    let since = Time::from_unix_millis(1_000);
    let waiting = Waiting::new(kind, subject, 0, "a title".to_owned(), since);
    waiting.item(&ProjectId::new("shop").unwrap(), since)
}

fn command(item: &InboxItem, verb: &str) -> Option<String> {
    Some(own_verb(item, verb)?.command.join(" "))
}

#[test]
fn a_command_is_made_of_what_the_item_is() {
    let mut task = item(kind::TASK_REVIEW, "TASK-2026-11-15-001");
    task.version = Some("9c41".to_owned());
    let approve =
        "accord task approve TASK-2026-11-15-001 --project shop --expect 9c41 --note {note}";
    assert_eq!(command(&task, "approve").as_deref(), Some(approve));
    assert_eq!(command(&task, "erase"), None);
    let ask = item(kind::LIVE_ASK, "ask_1");
    let yes = "accord live answer ask_1 yes --project shop";
    assert_eq!(command(&ask, "yes").as_deref(), Some(yes));
    let gate = item(kind::RUN_GATE, "edge_1/run_1/gate/ship/turn_1");
    let decided = "accord project edges edge_1 run_1/gate/ship/turn_1 --decide approve \
                   --project shop --note {note}";
    assert_eq!(command(&gate, "approve").as_deref(), Some(decided));
}

#[test]
fn what_others_wrote_is_no_option_of_a_command() {
    let url = "--url=http://127.0.0.1:7999";
    for subject in [url, "-x", "{note}", "a\nb"] {
        assert_eq!(command(&item(kind::TASK_REVIEW, subject), "approve"), None, "{subject}");
        let edge = item(kind::RUN_GATE, &format!("edge_1/{subject}"));
        assert_eq!(command(&edge, "approve"), None, "{subject}");
    }
    let mut task = item(kind::TASK_REVIEW, "TASK-1");
    task.version = Some(url.to_owned());
    assert_eq!(command(&task, "approve"), None);
    assert_eq!(command(&item(kind::LIVE_ASK, "ask_1"), url), None);
    let mut asked = item(kind::PACKAGE_QUESTION, "0123");
    for (text, word) in [(" --help me", Some("help me")), ("{note}", None), ("--", None)] {
        let fact = |value: &str| InboxFact {
            name: "question".to_owned(),
            value: value.to_owned(),
            is_claim: true,
            extra: Object::new(),
        };
        asked.evidence = Some(vec![fact(text)]);
        let expected =
            word.map(|word| format!("accord context answer {word} {{note}} --project shop"));
        assert_eq!(command(&asked, "answer"), expected, "{text}");
    }
}
