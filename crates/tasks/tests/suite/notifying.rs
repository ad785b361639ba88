//! Telling people about tasks.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use accord_process::Cancel;
use accord_tasks::Tree;
use accord_tasks::event_log::{EventPlace, events_after};
use accord_tasks::notify::{CommandReceiver, Notifier, Receiver, TaskNotice, Webhook, signature};
use accord_tasks::operations::NewTask;
use accord_tasks_core::TaskId;
use parking_lot::Mutex;
use serde_json::Value;

use crate::support::Clock;

type Heard = Arc<Mutex<Vec<String>>>;

/// A receiver that fails as often as it is told to.
struct Listed {
    heard: Heard,
    failures: Arc<Mutex<u32>>,
}

impl Receiver for Listed {
    fn name(&self) -> &'static str {
        "list"
    }

    fn deliver(&mut self, notice: &TaskNotice, _: &Cancel) -> Result<(), String> {
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
    folder: tempfile::TempDir,
    clock: Clock,
    tree: Tree,
    heard: Heard,
    failures: Arc<Mutex<u32>>,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::default();
    let tree = Tree::open(folder.path(), "shop", clock.environment()).unwrap();
    tree.init().unwrap();
    Case { folder, clock, tree, heard: Arc::default(), failures: Arc::default() }
}

impl Case {
    fn task(&self) -> TaskId {
        self.tree.create(NewTask::new("Ship it", "human:reviewer")).unwrap().task().id
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

    fn events(&self, kind: &str) -> usize {
        let text = fs::read_to_string(self.folder.path().join("events/2026-02-09.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == kind).count()
    }
}

#[test]
fn a_status_is_said_once_in_five_minutes_and_across_restarts() {
    let case = case();
    let id = case.task();
    case.tree.block(id, "human:reviewer", "no key").unwrap();
    let mut notifier = case.notifier();
    case.send(&mut notifier);
    // The task was created with the first event and blocked with the second.
    assert_eq!(case.heard(), ["shop:2 blocked"]);
    case.send(&mut notifier);
    assert_eq!(case.heard(), Vec::<String>::new());
    // The same status again is a repetition, until five minutes have passed.
    case.tree.unblock(id, "human:reviewer").unwrap();
    case.tree.block(id, "human:reviewer", "no key").unwrap();
    case.send(&mut notifier);
    assert_eq!(case.heard(), Vec::<String>::new());
    case.clock.add(300);
    case.tree.unblock(id, "human:reviewer").unwrap();
    case.tree.block(id, "human:reviewer", "no key").unwrap();
    // A new process goes on where the last one was.
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), ["shop:6 blocked"]);
}

#[test]
fn a_receiver_that_fails_is_tried_again_then_recorded_once() {
    let case = case();
    let mut notifier = case.notifier();
    *case.failures.lock() = 3;
    case.tree.block(case.task(), "human:reviewer", "a").unwrap();
    case.send(&mut notifier);
    assert_eq!(case.heard().len(), 1);
    assert_eq!(case.events("notification.failed"), 0);
    *case.failures.lock() = 1_000;
    for _ in 0..3 {
        case.tree.block(case.task(), "human:reviewer", "b").unwrap();
    }
    let sent = notifier.send(&case.tree, "shop", &Cancel::new()).unwrap();
    assert_eq!((sent.delivered, sent.failed), (0, 3));
    assert_eq!(case.events("notification.failed"), 1);
    // Four attempts for the first, one for each of the others.
    assert_eq!(*case.failures.lock(), 1_000 - 6);
    *case.failures.lock() = 0;
    case.tree.block(case.task(), "human:reviewer", "c").unwrap();
    case.send(&mut notifier);
    assert_eq!(case.heard().len(), 1);
}

#[test]
fn what_was_not_sent_is_sent_by_the_next_process() {
    let case = case();
    case.tree.block(case.task(), "human:reviewer", "a").unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    *case.failures.lock() = 1;
    case.notifier().send(&case.tree, "shop", &cancel).unwrap();
    assert!(case.heard().is_empty());
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), ["shop:2 blocked"]);
}

#[test]
fn old_events_of_a_tree_that_is_new_are_not_sent() {
    let case = case();
    case.tree.block(case.task(), "human:reviewer", "old").unwrap();
    case.clock.add(3_601);
    case.tree.block(case.task(), "human:reviewer", "new").unwrap();
    case.send(&mut case.notifier());
    assert_eq!(case.heard(), ["shop:4 blocked"]);
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
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6], "{page}");
    }
}

#[test]
fn a_command_gets_the_notification_on_standard_input() {
    let case = case();
    let out = case.folder.path().join("heard.json");
    let write = format!("cat > {}; test $ACCORD_NOTICE_STATUS = blocked", out.display());
    let receiver = CommandReceiver::new(["sh", "-c", &write].map(str::to_owned).to_vec());
    case.tree.block(case.task(), "human:reviewer", "no key").unwrap();
    let mut notifier = Notifier::new(vec![Box::new(receiver)]);
    let sent = notifier.send(&case.tree, "shop", &Cancel::new()).unwrap();
    assert_eq!((sent.delivered, sent.failed), (1, 0));
    let heard: Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    assert_eq!((&heard["to"], &heard["reason"]), (&"blocked".into(), &"no key".into()));
    assert_eq!((&heard["title"], &heard["id"]), (&"Ship it".into(), &"shop:2".into()));
    let mut fails = CommandReceiver::new(vec!["false".to_owned()]);
    let notice = TaskNoticeOf(&heard).read();
    assert!(fails.deliver(&notice, &Cancel::new()).unwrap_err().contains("it ended"));
}

struct TaskNoticeOf<'a>(&'a Value);

impl TaskNoticeOf<'_> {
    fn read(&self) -> TaskNotice {
        use accord_contract::wire::Wire as _;
        TaskNotice::from_document(self.0.clone()).unwrap()
    }
}

#[test]
fn a_webhook_is_signed() {
    let case = case();
    let secret = case.folder.path().join("secret");
    fs::write(&secret, "s3cret\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    // One refused attempt, then one that is taken.
    let server = thread::spawn(move || {
        ["500 Broken", "204 No Content"].map(|status| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            let mut chunk = [0; 4096];
            while !request.contains("\"event\":2}") {
                let read = stream.read(&mut chunk).unwrap();
                request.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
            }
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            request
        })
    });
    case.tree.block(case.task(), "human:reviewer", "no key").unwrap();
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
        assert_eq!(header("x-accord-delivery"), "shop:2");
    }
}
