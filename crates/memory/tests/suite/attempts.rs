//! What workers leave, and what stays of it when a person rejects their work.

use accord_base::worker::Attempt;
use accord_base::{ActorId, Caller};
use accord_contract::Value;
use accord_memory::{DepositOptions, EndedWork, FlowPackage, FlowSource, Memory, TakenOver};
use accord_memory_core::PackageId;
use accord_memory_core::fact::AssertOptions;
use accord_memory_core::operations::OrientParams;
use accord_memory_core::query::{OrientFormat, Orientation};
use accord_store::{FactKey, Scope, StoreExt as _, WriteUnit};
use accord_system::now;
use serde_json::json;

use crate::support::{deposit, engines, memory_over, package_with, project_id};

const WORK: &str = "TASK-2026-11-01-001";

async fn leave(memory: &Memory, attempt: Option<&str>, package: &str, predicate: &str) {
    let (atlas, agent) = (project_id("atlas"), ActorId::new("ada").unwrap());
    let (work, id) = (WORK.to_owned(), attempt.map(str::to_owned));
    let attempt = Attempt { project: atlas.clone(), agent, work, id };
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
        leave(&memory, None, "pkg_one", "count").await;
        leave(&memory, None, "pkg_two", "size").await;
        let until = now();
        while now().unix_millis() <= until.unix_millis() {
            tokio::task::yield_now().await;
        }
        // The next attempt, before the memory knows of the rejection. It repeats what another left,
        // too.
        leave(&memory, None, "pkg_one", "count").await;
        leave(&memory, None, "pkg_other", "count").await;
        let said = package_with("pkg_said", json!({"description": "once more"}));
        let end = |rejected: Option<Value>, number: u64| {
            let source = FlowSource { project: project_id("atlas"), id: "tree".to_owned() };
            let ended = EndedWork { work: WORK.to_owned(), attempt: None, until, rejected };
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

/// What is noted about work.
fn noted(memory: &Memory) -> Vec<String> {
    let read = memory.read_now(|unit| Ok(unit.settings(Scope::Project(&project_id("atlas")))?));
    let names = read.unwrap().into_iter().map(|(name, _)| name);
    names.filter(|name| name.starts_with("attempt:")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_rejected_attempt_left_is_taken_back() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        // One that failed, and one that was sent back.
        leave(&memory, Some("run-1"), "pkg_one", "count").await;
        leave(&memory, Some("run-2"), "pkg_one", "count").await;
        leave(&memory, Some("run-2"), "pkg_two", "size").await;
        let said = package_with(
            "pkg_said",
            json!({"created_by": {"id": "accord", "type": "script"}, "description": "once more",
                "x-takes_back": {"work": WORK, "attempt": "run-2"}}),
        );
        let reject = |said: Value| {
            let options = DepositOptions { flow: true, ..DepositOptions::default() };
            let (memory, caller) = (memory.clone(), Caller::owner());
            async move {
                let sent = said.to_string().into();
                memory.deposit(&caller, &project_id("atlas"), sent, options).await.unwrap()
            }
        };
        let other = package_with(
            "pkg_x",
            json!({"created_by": {"id": "accord", "type": "script"},
                "x-takes_back": {"work": "turn_7"}}),
        );
        assert!(!reject(other).await.new, "nothing is known of that turn");
        let stored = reject(said.clone()).await;
        assert!(stored.new && stored.package.text.contains("pkg_two"), "{stored:?}");
        assert!(!stored.package.text.contains("pkg_one"), "{stored:?}");
        assert_eq!(holds(&memory, "pkg_one", "count"), (true, true));
        assert_eq!(holds(&memory, "pkg_two", "size"), (false, false));
        assert_eq!(holds(&memory, "pkg_said", "count"), (true, true));
        assert!(!reject(said).await.new, "it is told twice");
        // The one that failed is still known, until the work is done.
        assert_eq!(noted(&memory).len(), 1);
        let source = FlowSource { project: project_id("atlas"), id: "tree".to_owned() };
        let work = WORK.to_owned();
        let ended = EndedWork { work, attempt: None, until: now(), rejected: None };
        let upto = TakenOver { number: 1, place: String::new() };
        memory.flow(&source, Vec::new(), vec![ended], upto).unwrap();
        assert_eq!(noted(&memory), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_of_which_nothing_was_heard_for_long_is_forgotten() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        deposit(&memory, "pkg_other", json!({})).await;
        let note = |name: &'static str, at: &'static str| {
            let text = json!([{"kind": "fact", "id": "fact_1", "agent": "ada", "at": at}]);
            move |unit: &mut dyn WriteUnit| {
                let (project, text) = (project_id("atlas"), text.to_string());
                unit.put_setting(Scope::Project(&project), name, Some(&text))
            }
        };
        engine.write(note("attempt:old", "2020-01-01T00:00:00Z")).unwrap();
        engine.write(note("attempt:new", "2999-01-01T00:00:00Z")).unwrap();
        leave(&memory, None, "pkg_one", "count").await;
        assert_eq!(noted(&memory), [&format!("attempt:{WORK}"), "attempt:new"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_supersedes_the_package_of_a_worker_supersedes_the_result_of_its_attempt() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        leave(&memory, None, "pkg_one", "count").await;
        let kept = package_with(
            "pkg_kept",
            json!({"created_by": {"id": "accord", "type": "script"}, "title": "Done: count caches",
                "package_type": "auto_deposit", "x-result_of": {"work": WORK}}),
        );
        let source = FlowSource { project: project_id("atlas"), id: "tree".to_owned() };
        let upto = TakenOver { number: 1, place: String::new() };
        let packages = vec![FlowPackage::new(&kept).unwrap()];
        assert_eq!(memory.flow(&source, packages, Vec::new(), upto).unwrap(), 1);
        let briefing = async || {
            let asked = OrientParams {
                format: Some(OrientFormat::Briefing),
                max_tokens: Some(1_000),
                ..OrientParams::default()
            };
            let Orientation::Briefing(asked) = Orientation::of(asked).unwrap() else {
                panic!("a briefing was asked for");
            };
            memory.brief(&Caller::owner(), &project_id("atlas"), asked).await.unwrap()
        };
        let text = briefing().await;
        assert!(text.contains("pkg_one") && text.contains(", done"), "{text}");
        assert!(!text.contains("Done: count caches"), "{text}");
        deposit(&memory, "pkg_two", json!({"x-supersedes": ["pkg_one"]})).await;
        let text = briefing().await;
        assert!(text.contains("pkg_two"), "{text}");
        assert!(!text.contains("Done: count caches"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_leaves_no_more_than_can_be_taken_back() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        leave(&memory, Some("run-1"), "pkg_one", "count").await;
        // As if it had left 1,000 things.
        let atlas = project_id("atlas");
        let name = noted(&memory).remove(0);
        let fill = move |unit: &mut dyn WriteUnit| {
            let atlas = project_id("atlas");
            let text = unit.setting(Scope::Project(&atlas), &name)?.unwrap();
            let mut notes: Vec<Value> = serde_json::from_str(&text).unwrap();
            let at = notes[0]["at"].clone();
            notes.extend((notes.len()..1_000).map(|number| {
                json!({"kind": "fact", "id": format!("fact_{number}"), "agent": "ada", "at": at,
                    "attempt": "run-1"})
            }));
            unit.put_setting(Scope::Project(&atlas), &name, Some(&Value::from(notes).to_string()))
        };
        engine.write(fill).unwrap();
        let (work, id) = (WORK.to_owned(), Some("run-1".to_owned()));
        let agent = ActorId::new("ada").unwrap();
        let attempt = Attempt { project: atlas.clone(), agent, work, id };
        let worker = Caller::owner().for_worker(&attempt).unwrap();
        let sent = package_with("pkg_poison", json!({})).to_string().into();
        let refused = memory.deposit(&worker, &atlas, sent, DepositOptions::default()).await;
        assert_eq!(refused.unwrap_err().code.as_str(), "work_full");
        let fact = json!({"subject": "cache", "predicate": "poison", "value": "2",
            "asserted_by": {"id": "ada", "type": "agent"}});
        let options = AssertOptions::default();
        let refused =
            memory.assert_fact(&worker, &atlas, fact.to_string().as_bytes(), options).await;
        assert_eq!(refused.unwrap_err().code.as_str(), "work_full");
        assert_eq!(holds(&memory, "pkg_poison", "poison"), (false, false));
        // What it left before, it can send again.
        leave(&memory, Some("run-1"), "pkg_one", "count").await;
        // Others go on.
        deposit(&memory, "pkg_other", json!({})).await;
    }
}
