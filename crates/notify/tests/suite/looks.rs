//! How a message looks, also where its texts attack who reads it.

use accord_base::ProjectId;
use accord_base::inbox::{Urgency, Waiting, kind};
use accord_contract::Time;
use accord_notify::{Format, MailAddresses, Message, Told, ntfy_topic};
use data_encoding::BASE64;
use serde_json::{Value, json};

const NOW: i64 = 1_776_542_400_000;

fn told(subject: &str, title: &str, urgency: Urgency) -> Told {
    let since = Time::from_unix_millis(NOW - 1_000);
    let waiting = Waiting::new(kind::TASK_BLOCKED, subject, 1, title.to_owned(), since);
    let (words, asked_by) = (Some("SECRET words".to_owned()), Some("agent:coder".to_owned()));
    let waiting = Waiting { urgency, words, asked_by, ..waiting };
    Told { project: ProjectId::new("shop").unwrap(), waiting }
}

/// A question of a live session, which has a page.
fn asked(subject: &str, title: &str, urgency: Urgency) -> Told {
    let Told { project, waiting } = told(subject, title, urgency);
    Told { project, waiting: Waiting { kind: kind::LIVE_ASK.to_owned(), ..waiting } }
}

fn message(told: Vec<Told>) -> Message {
    let now = Time::from_unix_millis(NOW);
    Message::new("ntf_1", "ops", now, Some("https://accord.example.org/"), told).unwrap()
}

fn written(format: Format, message: &Message) -> String {
    let to = ["ops@example.org".to_owned(), "a@b.example\r\nBcc: x@y.example".to_owned()];
    format.write(message, "shop", MailAddresses { to: &to, from: None }).body
}

fn document(format: Format, message: &Message) -> Value {
    serde_json::from_str(&written(format, message)).unwrap()
}

#[test]
fn one_item_is_a_message_with_a_link_that_needs_a_login() {
    let told = told("TASK-1", "Blocked: TASK-1", Urgency::Chain);
    let shown = document(Format::Json, &message(vec![told]));
    assert_eq!(shown["title"], "[shop] Blocked: TASK-1");
    assert_eq!((&shown["items"][0]["link"], &shown["link"]), (&Value::Null, &Value::Null));
    let message = message(vec![asked("live_1", "A question", Urgency::Chain)]);
    let shown = document(Format::Json, &message);
    assert_eq!(shown["title"], "[shop] A question");
    assert_eq!((&shown["count"], &shown["urgency"]), (&json!(1), &json!(2)));
    let item = &shown["items"][0];
    let link = "https://accord.example.org/live/live_1";
    assert_eq!((&item["link"], &shown["link"]), (&json!(link), &json!(link)));
    assert_eq!(item["asked_by"], "agent:coder");
    let ntfy = document(Format::Ntfy, &message);
    assert_eq!((&ntfy["topic"], &ntfy["priority"]), (&json!("shop"), &json!(4)));
    assert_eq!((&ntfy["click"], &ntfy["actions"]), (&json!(link), &Value::Null));
    for format in Format::ALL {
        assert!(!written(format, &message).contains("SECRET"), "{format:?} has an agent's words");
    }
}

#[test]
fn many_items_are_one_message_with_the_most_urgent_first() {
    let mut all: Vec<Told> =
        (0..10_000).map(|n| told(&format!("T{n}"), "Blocked", Urgency::Should)).collect();
    all.push(told("worst", "Given up: worst", Urgency::Loss));
    let message = message(all);
    let shown = document(Format::Json, &message);
    assert_eq!(shown["title"], "[shop] 10001 wait for people, 1 urgent");
    assert_eq!((&shown["count"], &shown["urgency"]), (&json!(10_001), &json!(1)));
    assert_eq!(shown["items"].as_array().unwrap().len(), 50);
    assert_eq!(shown["items"][0]["subject"], Value::Null);
    assert_eq!(shown["items"][0]["title"], "Given up: worst");
    assert!(written(Format::Json, &message).len() < 32_000);
    let slack = document(Format::Slack, &message);
    let text = slack["text"].as_str().unwrap();
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains("and 9996 more"), "{text}");
}

#[test]
fn texts_cannot_become_markup_mentions_or_headers() {
    let title = "Blocked: <!channel> @here *b* `c` & <http://evil.example|ok>\r\nBcc: a@b\u{202e}x";
    let message = message(vec![asked("live_1", title, Urgency::Piece)]);
    let slack = document(Format::Slack, &message)["text"].as_str().unwrap().to_owned();
    let (own, link) = slack.rsplit_once('\n').unwrap();
    assert!(!own.contains(['<', '>', '@']) && !own.contains(" *b"), "{own}");
    assert!(own.contains("&lt;!channel&gt;") && link.starts_with("<https://accord.example.org/"));
    let mail = written(Format::Mail, &message);
    let (head, body) = mail.split_once("\r\n\r\n").unwrap();
    let names: Vec<&str> = head.lines().map(|line| line.split_once(':').unwrap().0).collect();
    assert!(!names.contains(&"Bcc") && names.contains(&"To"), "{head}");
    assert_eq!(names.iter().filter(|name| **name == "Subject").count(), 1);
    let body = BASE64.decode(body.replace("\r\n", "").as_bytes()).unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("accord inbox show") && !body.contains('\u{202e}'), "{body}");
    for format in Format::ALL {
        assert!(!written(format, &message).contains('\u{202e}'), "{format:?}");
    }
}

#[test]
fn names_of_projects_and_actors_stay_on_their_line() {
    let mut told = told("TASK-1", "Blocked", Urgency::Piece);
    told.project = ProjectId::new("p\r\nBcc: a@b\n\u{1b}[31mTransfer approved").unwrap();
    told.waiting.asked_by = Some("agent:x\r\n\nAccord says: sign in\u{202e}".to_owned());
    let message = message(vec![told]);
    for format in [Format::Ntfy, Format::Slack, Format::Mail] {
        let text = written(format, &message);
        let text = match format {
            Format::Mail => {
                let (head, body) = text.split_once("\r\n\r\n").unwrap();
                assert!(head.contains("Subject: [p Bcc: a@b"), "{head}");
                let body = BASE64.decode(body.replace("\r\n", "").as_bytes()).unwrap();
                String::from_utf8(body).unwrap()
            }
            Format::Ntfy => document(format, &message)["message"].as_str().unwrap().to_owned(),
            _ => document(format, &message)["text"].as_str().unwrap().to_owned(),
        };
        let begins = |line: &str| line.starts_with("Bcc") || line.starts_with("Accord says");
        assert!(!text.lines().any(begins), "{format:?} {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{format:?} {text}");
    }
    // A letter, whose text another part of Accord made.
    let to = ["ops@example.org".to_owned()];
    let addresses = MailAddresses { to: &to, from: None };
    let mail = accord_notify::letter("1", ("agent:x\r\nasks\u{202e}", "a\u{1b}[2Jb\n"), addresses);
    assert!(mail.contains("Subject: agent:x asks\\u{202e}\r\n"), "{mail}");
    let body = mail.split_once("\r\n\r\n").unwrap().1.replace("\r\n", "");
    assert_eq!(BASE64.decode(body.as_bytes()).unwrap(), b"a\\u{1b}[2Jb\n");
}

#[test]
fn a_subject_that_is_not_ascii_is_encoded() {
    let message = message(vec![told("TASK-1", &"Prüfung ".repeat(12), Urgency::Piece)]);
    let mail = written(Format::Mail, &message);
    let subject = mail.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap();
    let words = subject.split(' ').map(|word| {
        assert!(word.len() <= 75, "{word}");
        let word = word.strip_prefix("=?utf-8?B?").and_then(|rest| rest.strip_suffix("?="));
        String::from_utf8(BASE64.decode(word.unwrap().as_bytes()).unwrap()).unwrap()
    });
    assert!(words.collect::<String>().starts_with("[shop] Prüfung Prüfung"), "{subject}");
}

#[test]
fn the_topic_of_ntfy_is_the_end_of_its_address() {
    assert_eq!(
        ntfy_topic("https://ntfy.example.org/shop"),
        Some(("https://ntfy.example.org/", "shop"))
    );
    assert_eq!(ntfy_topic("http://h:8/a/b-C_1"), Some(("http://h:8/a/", "b-C_1")));
    for other in ["https://ntfy.example.org", "https://n.example/", "https://n.example/a?b=c", "x"]
    {
        assert_eq!(ntfy_topic(other), None, "{other}");
    }
}
