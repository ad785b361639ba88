//! Telling people about tasks.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use accord_process::Cancel;
use accord_tasks::event_log::{EventPlace, events_after};
use accord_tasks::notify::{
    CommandReceiver, Notifier, Receiver, TaskNotification, Webhook, signature,
};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{BlockRequest, CreateRequest, UnblockRequest};
use parking_lot::Mutex;
use serde_json::Value;

use crate::support::{self, human};

type Heard = Arc<Mutex<Vec<String>>>;

/// A receiver that fails a set number of times.
struct Listed {
    heard: Heard,
    failures: Arc<Mutex<u32>>,
}

impl Receiver for Listed {
    fn name(&self) -> &'static str {
        "list"
    }

    fn deliver(&mut self, notice: &TaskNotification, _: &Cancel) -> Result<(), String> {
        let mut failures = self.failures.lock();
        if *failures > 0 {
            *failures -= 1;
            return Err("out of order".to_owned());
        }
        self.heard.lock().push(format!("{} {}", notice.id, notice.to));
        Ok(())
    }
}

struct Case {
    case: support::Case,
    heard: Heard,
    failures: Arc<Mutex<u32>>,
    /// The number of the last event before the test.
    before: u64,
}

fn case() -> Case {
    let case = support::Case::new();
    let before = case.events().len() as u64;
    Case { case, heard: Arc::default(), failures: Arc::default(), before }
}

impl std::ops::Deref for Case {
    type Target = support::Case;

    fn deref(&self) -> &support::Case {
        &self.case
    }
}

impl Case {
    fn task(&self) -> TaskId {
        let new = CreateRequest { title: "Ship it".to_owned(), ..CreateRequest::default() };
        self.tree.create(&new, &human()).unwrap().task.id
    }

    fn block(&self, id: TaskId, reason: &str) {
        let request = BlockRequest { reason: reason.to_owned() };
        self.tree.block(&id.to_string(), &request, &human()).unwrap();
    }

    fn unblock(&self, id: TaskId) {
        self.tree.unblock(&id.to_string(), &UnblockRequest::default(), &human()).unwrap();
    }

    /// The id of a notification about the event with this number of the test.
    fn blocked(&self, number: u64) -> String {
        format!("shop:{} blocked", self.before + number)
    }

    fn notifier(&self) -> Notifier {
        let receiver = Listed { heard: self.heard.clone(), failures: self.failures.clone() };
        Notifier::new(vec![Box::new(receiver)]).first_pause(Duration::from_millis(1))
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock())
    }

    fn send(&self, notifier: &mut Notifier) {
        notifier.send(&self.tree, "shop", &Cancel::new()).unwrap();
    }

    fn count(&self, kind: &str) -> usize {
        self.events().iter().filter(|event| event["type"] == kind).count()
    }
}

#[test]
fn a_status_is_said_once_in_five_minutes_and_across_restarts() {
    let case = case();
    let id = case.task();
    case.block(id, "no key");
    let mut notifier = case.notifier();
    case.send(&mut notifier);
    // The task was created with the first event and blocked with the second.
    assert_eq!(case.heard(), [case.blocked(2)]);
    case.send(&mut notifier);
    assert_eq!(case.heard(), Vec::<String>::new());
    // The same status again is a repetition, until five minutes have passed.
    case.unblock(id);
    case.block(id, "no key");
    case.send(&mut notifier);
    assert_eq!(case.heard(), Vec::<String>::new());
    case.clock.add(300);
    case.unblock(id);
    case.block(id, "no key");
    // A new process goes on where the last one was.
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), [case.blocked(6)]);
}

#[test]
fn a_receiver_that_fails_is_tried_again_then_recorded_once() {
    let case = case();
    let mut notifier = case.notifier();
    *case.failures.lock() = 3;
    case.block(case.task(), "a");
    case.send(&mut notifier);
    assert_eq!(case.heard().len(), 1);
    assert_eq!(case.count("notification.failed"), 0);
    *case.failures.lock() = 1_000;
    for _ in 0..3 {
        case.block(case.task(), "b");
    }
    let sent = notifier.send(&case.tree, "shop", &Cancel::new()).unwrap();
    assert_eq!((sent.delivered, sent.failed), (0, 3));
    assert_eq!(case.count("notification.failed"), 1);
    // Four attempts for the first, one for each of the others.
    assert_eq!(*case.failures.lock(), 1_000 - 6);
    *case.failures.lock() = 0;
    case.block(case.task(), "c");
    case.send(&mut notifier);
    assert_eq!(case.heard().len(), 1);
}

#[test]
fn what_was_not_sent_is_sent_by_the_next_process() {
    let case = case();
    case.block(case.task(), "a");
    let cancel = Cancel::new();
    cancel.cancel();
    *case.failures.lock() = 1;
    case.notifier().send(&case.tree, "shop", &cancel).unwrap();
    assert!(case.heard().is_empty());
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), [case.blocked(2)]);
}

#[test]
fn old_events_of_a_tree_that_is_new_are_not_sent() {
    let case = case();
    case.block(case.task(), "old");
    case.clock.add(3_601);
    case.block(case.task(), "new");
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), [case.blocked(4)]);
}

#[test]
fn events_are_read_in_order_when_the_clock_was_set_back() {
    let case = case();
    for seconds in [0, 86_400, -86_400, 86_400, 3, -172_800] {
        case.clock.add(seconds);
        case.task();
    }
    for page in 1..8 {
        let (mut place, mut numbers) = (EventPlace::default(), Vec::new());
        loop {
            let (lines, next) = events_after(&case.tree, place, page).unwrap();
            numbers.extend(lines.iter().map(|line| line.number));
            place = EventPlace::read(&next.document()).unwrap();
            if lines.is_empty() {
                break;
            }
        }
        assert_eq!(numbers, (1..=case.before + 6).collect::<Vec<_>>(), "{page}");
    }
}

#[test]
fn a_command_gets_the_notification_on_standard_input() {
    let case = case();
    let out = case.folder.path().join("heard.json");
    let write = format!("cat > {}; test $ACCORD_NOTICE_STATUS = blocked", out.display());
    let receiver = CommandReceiver::new(["sh", "-c", &write].map(str::to_owned).to_vec());
    case.block(case.task(), "no key");
    let mut notifier = Notifier::new(vec![Box::new(receiver)]);
    let sent = notifier.send(&case.tree, "shop", &Cancel::new()).unwrap();
    assert_eq!((sent.delivered, sent.failed), (1, 0));
    let heard: Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    assert_eq!((&heard["to"], &heard["reason"]), (&"blocked".into(), &"no key".into()));
    let id = format!("shop:{}", case.before + 2);
    assert_eq!((&heard["title"], &heard["id"]), (&"Ship it".into(), &id.into()));
    let mut fails = CommandReceiver::new(vec!["false".to_owned()]);
    let notice = NotificationOf(&heard).read();
    assert!(fails.deliver(&notice, &Cancel::new()).unwrap_err().contains("it ended"));
}

struct NotificationOf<'a>(&'a Value);

impl NotificationOf<'_> {
    fn read(&self) -> TaskNotification {
        use accord_contract::Wire as _;
        TaskNotification::from_document(self.0.clone()).unwrap()
    }
}

#[test]
fn a_webhook_is_signed() {
    let case = case();
    let secret = case.folder.path().join("secret");
    fs::write(&secret, "s3cret\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let last = format!("\"event\":{}}}", case.before + 2);
    let id = format!("shop:{}", case.before + 2);
    // One refused attempt, then one that is taken.
    let server = thread::spawn(move || {
        ["500 Broken", "204 No Content"].map(|status| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            let mut chunk = [0; 4096];
            while !request.contains(&last) {
                let read = stream.read(&mut chunk).unwrap();
                request.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
            }
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            request
        })
    });
    case.block(case.task(), "no key");
    let mut hook = Webhook::new(&url);
    hook.secret_file = Some(secret);
    let mut notifier = Notifier::new(vec![Box::new(hook)]).first_pause(Duration::from_millis(1));
    let sent = notifier.send(&case.tree, "shop", &Cancel::new()).unwrap();
    assert_eq!((sent.delivered, sent.failed), (1, 0));
    let requests = server.join().unwrap();
    for request in &requests {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            let line = head.lines().find(|line| line.to_lowercase().starts_with(name)).unwrap();
            line.split_once(": ").unwrap().1.to_owned()
        };
        let signed = header("x-accord-signature");
        let seconds = signed.strip_prefix("t=").unwrap().split(',').next().unwrap();
        assert_eq!(signed, signature(b"s3cret", seconds.parse().unwrap(), body));
        assert_eq!(header("x-accord-delivery"), id);
    }
}
