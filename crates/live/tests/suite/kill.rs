//! `kill -9` under load: every acknowledged action is there once, in order, and the counters are
//! those of the rows.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use accord_store::{Store, StoreExt as _};
use accord_store_sqlite::{Options, SqliteStore};
use serde_json::json;

use crate::support::{act, create, document, project, seed, session_id, subscribe};

const CHILD: &str = "ACCORD_LIVE_CHILD";

#[test]
fn acknowledged_actions_survive_kill_9() {
    if let Some(folder) = std::env::var_os(CHILD) {
        write_for_ever(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged: Vec<(u64, String)> = Vec::new();
    for round in 0..3_usize {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::acknowledged_actions_survive_kill_9", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let before = acknowledged.len();
        for line in lines.map_while(Result::ok) {
            // The last line may be cut, and the harness prints lines, too.
            let mut words = line.split(' ');
            if let (Some("ack"), Some(seq), Some(text), Some("end")) =
                (words.next(), words.next(), words.next(), words.next())
            {
                acknowledged.push((seq.parse().unwrap(), text.to_owned()));
            }
            if acknowledged.len() == before + 20 + 7 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        check(folder.path(), &acknowledged);
    }
}

fn check(folder: &Path, acknowledged: &[(u64, String)]) {
    let store = SqliteStore::open(folder, &Options::default()).unwrap();
    let id = session_id("s1");
    let (row, ledger, events, wrong) = store
        .read(|unit| {
            let events = unit.events(&project("shop"), 0, usize::MAX)?;
            Ok::<_, accord_store::StoreError>((
                unit.live_session(&id)?.unwrap(),
                unit.live_ledger(&id, 0, usize::MAX)?,
                events,
                unit.check_derived(Some(&project("shop")))?,
            ))
        })
        .unwrap();
    assert_eq!(wrong, []);
    let last = row.session.head.ledger;
    assert!(ledger.iter().map(|entry| entry.seq).eq(row.session.head.horizon + 1..=last));
    for (seq, text) in acknowledged {
        let entry = ledger.iter().find(|entry| entry.seq == *seq).unwrap();
        assert_eq!(document(&entry.text)["payload"]["data"]["text"], **text);
    }
    let submitted = ledger.iter().filter(|entry| entry.kind == "user.submitted").count();
    let named = events.iter().filter(|event| event.entry.kind == "live.user.submitted").count();
    assert_eq!(submitted, named);
}

/// Acts until the process is killed.
fn write_for_ever(folder: &Path) -> ! {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder, &Options::default()).unwrap());
    create(&store);
    let live = accord_live::Live::new(store, accord_live::LiveOptions::default());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        if live.found(&session_id("s1"), None).await.unwrap().is_none() {
            seed(&live, "s1").await;
        }
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..4 {
            let live = live.clone();
            tasks.spawn(async move {
                let socket = subscribe(&live, "s1", json!({})).await.unwrap();
                // Bounded, in case that nothing ends the process.
                for number in 0..20_000 {
                    let text = format!("{task}.{number}");
                    let ack = act(&live, socket.subscriber.binding(), &text).await.unwrap();
                    println!("ack {} {text} end", ack.sequence);
                }
            });
        }
        tasks.join_all().await;
    });
    std::process::exit(1)
}
