//! What is derived, made again from what it is derived from.

use serde_json::{Value, json};

use crate::export::{live, tamper};
use crate::support::{Asker, World, each, package_with};

/// Everything that is put together from derived rows.
async fn seen(asker: &Asker) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/v1/projects/atlas/packages?limit=50",
        "/v1/projects/atlas/packages?mode=relevant&query=indexes",
        "/v1/projects/atlas/orient?window_days=3660",
        "/v1/orchestrate?window_days=3660&focus=indexes",
        "/v1/projects/atlas/facts?history=true",
        "/v1/projects/atlas/sessions",
        "/v1/projects/atlas/questions?all=true",
    ] {
        let mut answer = asker.get(path).await.expect(200);
        let answer_members = answer.as_object_mut().unwrap();
        answer_members.remove("generated_at");
        seen.push(answer);
    }
    seen
}

fn each_flag(list: &Value, member: &str) -> Vec<bool> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[member].as_bool().unwrap()).collect()
}

async fn problems(asker: &Asker) -> Value {
    let answer = asker.post("/accord/v1/verify", &json!({"quarantine": false})).await;
    answer.expect(200)["report"]["problems"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_derived_is_made_again_from_packages_and_their_logs() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    for (id, project) in [("pkg_5", "atlas"), ("pkg_6", "borealis")] {
        let asks = json!({"project_id": project, "open_questions": ["Why?", "How?", "Why?"]});
        owner.deposit(&package_with(id, asks)).await;
    }
    let answers = json!({
        "open_questions": ["Who?"], "x-supersedes": ["pkg_5", "pkg_8"],
        "x-answers": [{"question": "how?"}, {"package_id": "pkg_5", "index": 0}],
    });
    owner.deposit(&package_with("pkg_7", answers)).await;
    let before = seen(&owner).await;
    let [questions, list] = [&before[6]["questions"], &before[0]];
    assert_eq!(each_flag(questions, "open"), [true, false, false], "{questions:#}");
    assert_eq!(list["x-superseded"], json!({"pkg_5": ["pkg_7"]}));
    drop(owner);
    for statement in [
        "UPDATE answer SET until = ?1, question = NULL",
        "UPDATE supersession SET holds = 0 WHERE ?1 <> ''",
        "UPDATE question SET open = 0, folded = NULL WHERE ?1 <> ''",
        "UPDATE question_use SET ask_key = ?1",
        "DELETE FROM tally WHERE ?1 <> ''",
        "UPDATE kind SET actor_type = ?1",
        "UPDATE counter SET packages = 99, newest_event = 2, oldest_event = 0 WHERE ?1 <> ''",
        "DELETE FROM question_use WHERE ?1 <> ''",
        "UPDATE question SET sources = ?1, asked_key = 'x'",
        "UPDATE question_tally SET questions = -3 WHERE ?1 <> ''",
        "DELETE FROM package_terms WHERE rowid = 1 AND ?1 <> ''",
        "UPDATE package SET created_key = ?1",
        "UPDATE package SET content_hash = x'00', deposited_hash = x'', status = ?1 \
         WHERE package_id = 'pkg_1'",
        "UPDATE package SET actor_type = ?1, session_id = '', significance = 0 \
         WHERE package_id = 'pkg_2'",
        "UPDATE package SET package_id = ?1, review_type = 'x', revision = 9 \
         WHERE package_id = 'pkg_3'",
        "UPDATE package SET created_at = ?1, package_type = '' WHERE package_id = 'pkg_5'",
        "UPDATE fact SET from_key = ?1",
        "UPDATE session SET started_key = ?1",
    ] {
        assert!(tamper(&world, statement, "garbage") > 0, "{statement}");
    }
    let found = problems(&world.owner()).await;
    assert!(found.as_array().unwrap().len() > 10, "{found}");
    let (world, repaired) = world.repaired();
    assert_eq!((repaired.sound, repaired.set_aside), (7, 0));
    let owner = world.owner();
    assert_eq!(problems(&owner).await, json!([]));
    assert_eq!(seen(&owner).await, before);
    // And it goes on.
    owner.deposit(&package_with("pkg_9", json!({}))).await;
    assert_eq!(problems(&owner).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_proved_is_set_aside_and_named() {
    let world = World::new();
    let owner = world.owner();
    for id in ["pkg_1", "pkg_2", "pkg_3", "pkg_4"] {
        owner.deposit(&package_with(id, json!({}))).await;
    }
    drop(owner);
    for statement in [
        "UPDATE package SET text = replace(text, 'Indexes', 'indexes') WHERE package_id = ?1",
        "UPDATE package SET actor_type = 'ghost' WHERE package_id = ?1",
    ] {
        assert_eq!(tamper(&world, statement, "pkg_2"), 1);
    }
    let statement =
        "DELETE FROM revision WHERE package = (SELECT pk FROM package WHERE package_id = ?1)";
    assert_eq!(tamper(&world, statement, "pkg_3"), 1);
    let (world, repaired) = world.repaired();
    assert_eq!((repaired.sound, repaired.set_aside), (2, 2));
    let owner = world.owner();
    let found = problems(&owner).await;
    assert_eq!(each(&found, "suspect"), ["package", "package"], "{found:#}");
    assert_eq!(each(&found, "id"), ["pkg_2", "pkg_3"]);
    let list = owner.get("/v1/projects/atlas/packages?limit=50").await.expect(200);
    let mut ids = each(&list["packages"], "package_id");
    ids.sort_unstable();
    assert_eq!(ids, ["pkg_1", "pkg_4"]);
}
