//! A server tells people what waits for them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::thread;

use accord_host::settings::{Setting, Settings, Sources};
use accord_tasks_core::operations::{BlockRequest, UnblockRequest};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::scheduling::{create, human, serve, tree};
use crate::support::{Asker, encoded, package_with, wait_until};

/// A request that a receiver got.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A receiver on loopback.
pub(crate) struct Receiver {
    pub(crate) url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    /// The status of its answers; 0 for none at all.
    status: Arc<AtomicU16>,
    asked: Arc<AtomicU64>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (status, asked) = (Arc::new(AtomicU16::new(200)), Arc::new(AtomicU64::new(0)));
        let (list, answer, count) = (heard.clone(), status.clone(), asked.clone());
        thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if reader.read_line(&mut head).unwrap_or(0) == 0 {
                        break;
                    }
                }
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                reader.read_exact(&mut body).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                match answer.load(Ordering::SeqCst) {
                    0 => silent.push(stream),
                    status => {
                        let location = "location: http://127.0.0.1:1/\r\n";
                        let answer =
                            format!("HTTP/1.1 {status} X\r\n{location}content-length: 0\r\n\r\n");
                        if status == 200 {
                            let body = serde_json::from_slice(&body).unwrap();
                            list.lock().push(Heard { head, body });
                        }
                        drop(stream.write_all(answer.as_bytes()));
                    }
                }
            }
        });
        Self { url, heard, status, asked }
    }

    pub(crate) fn answer(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().clone()
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) async fn hears(&self, count: usize) -> Vec<Heard> {
        wait_until("a message", || self.heard().len() >= count).await;
        self.heard()
    }
}

pub(crate) fn set(settings: &mut Settings, url: &str, group: &str) {
    settings.notify.url = Setting::parse(url).unwrap();
    settings.notify.group = Setting::parse(group).unwrap();
}

pub(crate) async fn ask(asker: &Asker, id: &str, questions: &[String]) {
    asker.deposit(&package_with(id, json!({"open_questions": questions}))).await;
}

async fn items(asker: &Asker) -> Vec<Value> {
    let list = asker.get("/accord/v1/inbox?limit=500").await.expect(200);
    list["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_a_short_time_are_one_signed_message() {
    let (data, receiver) = (tempfile::tempdir().unwrap(), Receiver::new());
    std::fs::write(data.path().join("secret"), "s3cret\n").unwrap();
    let served = serve(data.path(), |settings| {
        set(settings, &receiver.url, "300ms");
        settings.notify.secret_file = Some(data.path().join("secret"));
    })
    .await;
    let owner = Asker::of(&served.host);
    let questions: Vec<String> = (0..3).map(|n| format!("Which tax number {n}?")).collect();
    ask(&owner, "pkg_1", &questions).await;
    let heard = receiver.hears(1).await.remove(0);
    let body = &heard.body;
    assert_eq!((&body["count"], &body["urgency"]), (&json!(3), &json!(4)), "{body}");
    assert_eq!(body["title"], "[atlas] 3 wait for people");
    assert!(!body.to_string().contains("Which tax"), "an agent wrote that: {body}");
    // They have no page.
    assert_eq!((body.get("link"), body["items"][0].get("link")), (None, None), "{body}");
    let header = |name: &str| {
        let line = heard.head.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{}", heard.head)).to_owned()
    };
    assert_eq!(header("x-accord-delivery: "), body["id"].as_str().unwrap());
    let signed = header("x-accord-signature: t=");
    let seconds: i64 = signed.split(',').next().unwrap().parse().unwrap();
    let expected = accord_tasks::notify::signature(b"s3cret", seconds, &body.to_string());
    assert_eq!(format!("t={signed}"), expected);
    // The same question of another package is the same item, and is not told again.
    ask(&owner, "pkg_2", &questions).await;
    ask(&owner, "pkg_3", &["Something else?".to_owned()]).await;
    let heard = receiver.hears(2).await;
    assert_eq!((heard.len(), &heard[1].body["count"]), (2, &json!(1)), "{heard:?}");
    served.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_or_is_claimed_is_not_told_and_an_outage_is_one_line() {
    let (data, receiver) = (tempfile::tempdir().unwrap(), Receiver::new());
    receiver.answer(500);
    let tasks = tree(&data.path().join("projects/atlas"), "atlas");
    let served = serve(data.path(), |settings| set(settings, &receiver.url, "1ms")).await;
    let owner = Asker::of(&served.host);
    let block = BlockRequest { reason: "no key".to_owned() };
    let ids: Vec<_> = (0..3).map(|_| create(&tasks, &[])).collect();
    for id in &ids {
        tasks.block(&id.to_string(), &block, &human()).unwrap();
    }
    wait_until("a message that fails", || receiver.asked() > 0).await;
    let metrics = || served.host.metrics().text();
    wait_until("the metric of the outage", || {
        metrics().contains("accord_notify_receivers_down 1")
            && metrics().contains("accord_notify_messages_total{result=\"failed\"}")
    })
    .await;
    // Somebody ends the first, and somebody looks at the second.
    tasks.unblock(&ids[0].to_string(), &UnblockRequest::default(), &human()).unwrap();
    let second = loop {
        let all = items(&owner).await;
        let of = |id: &accord_tasks_core::TaskId| {
            all.iter().find(|item| item["subject"] == id.to_string()).cloned()
        };
        if let (None, Some(second), Some(_)) = (of(&ids[0]), of(&ids[1]), of(&ids[2])) {
            break second;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let path = encoded(second["id"].as_str().unwrap());
    let path = format!("/accord/v1/inbox/{path}/mark?actor=human:lead");
    owner.post(&path, &json!({"mark": "claim"})).await.expect(200);
    receiver.answer(200);
    let heard = receiver.hears(1).await;
    let told: Vec<String> = heard
        .iter()
        .flat_map(|one| one.body["items"].as_array().unwrap().clone())
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&ids[2].to_string()), "{told:?}");
    wait_until("the end of the outage", || metrics().contains("accord_notify_receivers_down 0"))
        .await;
    served.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_or_redirects_holds_up_no_other() {
    let data = tempfile::tempdir().unwrap();
    let (silent, away, good) = (Receiver::new(), Receiver::new(), Receiver::new());
    silent.answer(0);
    away.answer(307);
    let list = json!([
        {"name": "silent", "url": silent.url, "timeout": "60s"},
        {"name": "away", "url": away.url},
        {"name": "good", "url": good.url, "format": "slack", "kinds": ["package.*"]},
        {"name": "tasks", "url": good.url, "kinds": ["task.*"]},
        {"name": "urgent", "url": good.url, "urgency": 3},
    ]);
    let served = serve(data.path(), |settings| {
        settings.notify.group = Setting::parse("1ms").unwrap();
        settings.notify.receivers = Setting::parse(&list.to_string()).unwrap();
    })
    .await;
    let owner = Asker::of(&served.host);
    ask(&owner, "pkg_1", &["Which tax?".to_owned()]).await;
    let first = good.hears(1).await;
    assert!(first[0].body["text"].as_str().unwrap().contains("[atlas]"), "{first:?}");
    wait_until("both others to be asked", || silent.asked() == 1 && away.asked() > 0).await;
    ask(&owner, "pkg_2", &["Which other tax?".to_owned()]).await;
    assert_eq!(good.hears(2).await.len(), 2, "tasks and urgent items are for others");
    assert_eq!(silent.asked(), 1, "one message at a time");
    wait_until("the redirect to count as a failure", || {
        served.host.metrics().text().contains("accord_notify_receivers_down 1")
    })
    .await;
    // The server does not wait for the receiver that hangs.
    served.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_items_are_one_message() {
    let (data, receiver) = (tempfile::tempdir().unwrap(), Receiver::new());
    let served = serve(data.path(), |settings| set(settings, &receiver.url, "1s")).await;
    let owner = Asker::of(&served.host);
    // While the receiver does not answer, everything is collected.
    receiver.answer(500);
    ask(&owner, "pkg_0", &["The first?".to_owned()]).await;
    wait_until("a message that fails", || receiver.asked() > 0).await;
    for package in 0..100 {
        let questions: Vec<String> = (0..100).map(|n| format!("Is {package} {n}?")).collect();
        ask(&owner, &format!("pkg_b{package}"), &questions).await;
    }
    receiver.answer(200);
    let heard = receiver.hears(2).await;
    assert_eq!(heard[0].body["count"], 1);
    let rest: u64 = heard[1..].iter().map(|one| one.body["count"].as_u64().unwrap()).sum();
    assert_eq!((heard.len(), rest), (2, 10_000));
    assert!(heard[1].body.to_string().len() < 40_000);
    served.close().await;
}

/// A command gets its arguments as they are, and a mail on standard input.
#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_sent_by_a_program_and_not_by_a_shell() {
    let data = tempfile::tempdir().unwrap();
    let got = data.path().join("got");
    let script = "cat > \"$0.part\"; echo \"$1 $ACCORD_NOTICE_COUNT\" >> \"$0.part\"; \
        mv \"$0.part\" \"$0\"";
    let list = json!([{
        "name": "mail", "format": "mail", "to": ["ops@example.org"], "from": "accord@example.org",
        "command": ["sh", "-c", script, got, "$(touch never); `id`"],
    }]);
    let served = serve(data.path(), |settings| {
        settings.notify.group = Setting::parse("1ms").unwrap();
        settings.notify.receivers = Setting::parse(&list.to_string()).unwrap();
    })
    .await;
    ask(&Asker::of(&served.host), "pkg_1", &["Which tax?".to_owned()]).await;
    wait_until("the mail", || got.exists()).await;
    let mail = std::fs::read_to_string(&got).unwrap();
    assert!(mail.starts_with("To: ops@example.org\r\nFrom: accord@example.org\r\n"), "{mail}");
    assert!(mail.ends_with("$(touch never); `id` 1\n"), "{mail}");
    served.close().await;
}

fn resolve(folder: &Path, text: &str) -> Result<Settings, String> {
    std::fs::write(folder.join("accord.toml"), text).unwrap();
    let sources = Sources { folder: folder.to_owned(), ..Sources::default() };
    sources.resolve().map(|resolved| resolved.settings).map_err(|failure| failure.message)
}

#[test]
fn receivers_are_tables_and_mistakes_in_them_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = resolve(
        folder.path(),
        "[notify]\ngroup = \"5s\"\n\n[[notify.receivers]]\nname = \"phone\"\nformat = \"ntfy\"\n\
         url = \"https://ntfy.example.org/shop\"\nurgency = 2\nprojects = [\"shop\", \"a,b\"]\n\
         \n[[notify.receivers]]\nname = \"mail\"\nformat = \"mail\"\nto = [\"ops@example.org\"]\n\
         command = [\"sendmail\", \"-t\", \"-i\"]\n",
    )
    .unwrap();
    let all = &settings.notify.receivers.all;
    assert_eq!((all.len(), &*all[0].name, &*all[1].name), (2, "phone", "mail"));
    assert_eq!(all[0].wants.projects, ["shop", "a,b"]);
    let refused =
        |one: &str| resolve(folder.path(), &format!("[[notify.receivers]]\n{one}\n")).unwrap_err();
    for (one, problem) in [
        ("url = 'http://h/'", "the name"),
        ("name = 'a'", "a url or a command"),
        ("name = 'url'\nurl = 'http://h/'", "notify.url"),
        ("name = 'a'\nurl = 'http://h/'\nfromat = 'x'", "unknown member \"fromat\""),
        ("name = 'a'\nurl = 'http://h/'\nformat = 'x'", "json, ntfy, slack or mail"),
        ("name = 'a'\nurl = 'http://h/'\nformat = 'ntfy'", "topic"),
        ("name = 'a'\nurl = 'http://u:p@h/'", "user name"),
        ("name = 'a'\nurl = 'http://h/'\nurgency = 5", "from 1 to 4"),
        ("name = 'a'\ncommand = ['m']\nformat = 'mail'", "needs `to`"),
        ("name = 'a'\nurl = 'http://h/'\nformat = 'mail'", "needs a command"),
        ("name = 'a'\nurl = 'http://h/'\n[[notify.receivers]]\nname='a'\nurl='http://h/'", "two"),
    ] {
        let said = refused(one);
        assert!(said.contains("notify.receivers") && said.contains(problem), "{one}: {said}");
    }
    let secret = resolve(folder.path(), "[notify]\nsecret_file = 's'\n").unwrap_err();
    assert!(secret.contains("notify.url"), "{secret}");
}
