//! What workers leave, and what stays of it when a person rejects their work.

use accord_base::worker::Attempt;
use accord_base::{ActorId, Caller};
use accord_contract::Value;
use accord_memory::{DepositOptions, EndedWork, FlowSource, Memory, TakenOver};
use accord_memory_core::PackageId;
use accord_memory_core::fact::AssertOptions;
use accord_store::FactKey;
use accord_system::now;
use serde_json::json;

use crate::support::{deposit, engines, memory_over, package_with, project_id};

const WORK: &str = "TASK-2026-11-01-001";

async fn leave(memory: &Memory, package: &str, predicate: &str) {
    let (atlas, agent) = (project_id("atlas"), ActorId::new("ada").unwrap());
    let attempt = Attempt { project: atlas.clone(), agent, work: WORK.to_owned() };
    let worker = Caller::owner().for_worker(&attempt).unwrap();
    let sent = package_with(package, json!({})).to_string().into();
    memory.deposit(&worker, &atlas, sent, DepositOptions::default()).await.unwrap();
    let fact = json!({"subject": "cache", "predicate": predicate, "value": "2",
        "asserted_by": {"id": "ada", "type": "agent"}});
    let options = AssertOptions { if_changed: true, ..AssertOptions::default() };
    memory.assert_fact(&worker, &atlas, fact.to_string().as_bytes(), options).await.unwrap();
}

/// Whether a package is shown, and a fact holds.
fn holds(memory: &Memory, package: &str, predicate: &str) -> (bool, bool) {
    let atlas = project_id("atlas");
    let read = memory.read_now(|unit| {
        let package = unit.package(&atlas, &PackageId::new(package).unwrap())?;
        let fact = unit.current_fact(&atlas, FactKey { subject: "cache", predicate })?;
        Ok((package.is_some_and(|package| package.quarantine.is_none()), fact.is_some()))
    });
    read.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_next_attempt_leaves_again_stays() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_other", json!({})).await;
        leave(&memory, "pkg_one", "count").await;
        leave(&memory, "pkg_two", "size").await;
        let until = now();
        while now().unix_millis() <= until.unix_millis() {
            tokio::task::yield_now().await;
        }
        // The next attempt, before the memory knows of the rejection. It repeats what another left,
        // too.
        leave(&memory, "pkg_one", "count").await;
        leave(&memory, "pkg_other", "count").await;
        let said = package_with("pkg_said", json!({"description": "once more"}));
        let end = |rejected: Option<Value>, number: u64| {
            let source = FlowSource { project: project_id("atlas"), id: "tree".to_owned() };
            let ended = EndedWork { work: WORK.to_owned(), until, rejected };
            let upto = TakenOver { number, place: String::new() };
            memory.flow(&source, Vec::new(), vec![ended], upto).unwrap()
        };
        assert_eq!(end(Some(said), 1), 1, "a package says what was taken back");
        assert_eq!(holds(&memory, "pkg_one", "count"), (true, true));
        assert_eq!(holds(&memory, "pkg_two", "size"), (false, false));
        assert_eq!(holds(&memory, "pkg_other", "count"), (true, true));
        // What is noted of the next attempt is forgotten when the work is done.
        assert_eq!(end(None, 2), 0);
        assert_eq!(holds(&memory, "pkg_one", "count"), (true, true));
    }
}
