//! Damage in the inbox: from the moment that it is found until a verification does not find it.

use serde_json::{Value, json};

use crate::export::{damage, live, tamper};
use crate::support::{Asker, World, each, package};

const INBOX: &str = "/accord/v1/inbox?kind=store.damage";
const VERIFY: &str = "/accord/v1/verify";
/// The type of the packages of the tests.
const TYPE: &str = "milestone";

/// What waits, by its subject.
async fn subjects(asker: &Asker) -> Vec<String> {
    let list = asker.get(INBOX).await.expect(200);
    let mut found: Vec<String> =
        each(&list["items"], "subject").into_iter().map(str::to_owned).collect();
    found.sort_unstable();
    found
}

async fn verify(asker: &Asker, body: Value) -> u64 {
    let answer = asker.post(VERIFY, &body).await.expect(200);
    answer["report"]["problem_count"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_waits_until_a_verification_does_not_find_it() {
    let world = World::new();
    let owner = world.owner();
    live(&owner).await;
    damage(&world, "pkg_1");
    let facts = "UPDATE fact SET predicate = predicate || ?1";
    assert_eq!(tamper(&world, facts, "!"), 6);
    // Who only looks changes nothing.
    assert_eq!(verify(&owner, json!({"quarantine": false})).await, 7);
    assert_eq!(subjects(&owner).await, Vec::<String>::new());
    verify(&owner, json!({})).await;
    let found = subjects(&owner).await;
    assert_eq!(found.iter().filter(|it| it.starts_with("fact/")).count(), 6, "{found:?}");
    assert!(found.contains(&"package/pkg_1".to_owned()), "{found:?}");
    let list = owner.get(INBOX).await.expect(200);
    let items = list["items"].as_array().unwrap();
    let package = items.iter().find(|item| item["subject"] == "package/pkg_1").unwrap();
    assert_eq!(
        (&package["urgency"], &package["title"]),
        (&json!(1), &json!("A package is damaged: pkg_1"),)
    );
    let path = format!("/accord/v1/inbox/{}", package["handle"].as_str().unwrap());
    let shown = owner.get(&path).await.expect(200);
    let facts = each(&shown["item"]["evidence"], "name");
    assert!(facts.contains(&"cause"), "{shown}");
    let verb = &shown["item"]["verbs"][0];
    assert_eq!((&verb["name"], &verb["scope"]), (&json!("verify"), &json!("admin")));
    assert_eq!(verb["request"], "POST /accord/v1/verify");
    // It is found again: the same items.
    verify(&owner, json!({"project_id": "atlas"})).await;
    assert_eq!(owner.get(INBOX).await.expect(200)["items"], list["items"]);

    let facts = "UPDATE fact SET predicate = rtrim(predicate, ?1)";
    assert_eq!(tamper(&world, facts, "!"), 6);
    let text =
        "UPDATE package SET text = replace(text, 'indexes', 'Indexes') WHERE package_id = ?1";
    tamper(&world, text, "pkg_1");
    assert_eq!(subjects(&owner).await.len(), 7, "nobody has looked since");
    assert_eq!(verify(&owner, json!({})).await, 0);
    assert_eq!(subjects(&owner).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_cannot_read_is_noted() {
    let world = World::new();
    let owner = world.owner();
    for id in ["pkg_1", "pkg_2"] {
        owner.deposit(&package(id)).await;
    }
    let status = "UPDATE package SET package_type = ?1 WHERE package_id = 'pkg_2'";
    assert_eq!(tamper(&world, status, ""), 1);
    for id in ["pkg_3", "pkg_4"] {
        let list = owner.get("/v1/projects/atlas/packages").await.expect(200);
        assert_eq!(list["x-integrity_warnings"], json!(["pkg_2"]));
        // Writes are in order, so that the note is there after this one.
        owner.deposit(&package(id)).await;
        assert_eq!(subjects(&owner).await, ["package/pkg_2"]);
    }
    // Its counts do not fit any more either. A repair makes them again, so they are one item.
    assert!(verify(&owner, json!({})).await > 2);
    assert_eq!(subjects(&owner).await, ["package/pkg_2", "tally/rows"]);
    let list = owner.get(INBOX).await.expect(200);
    assert_eq!(list["items"][1]["urgency"], 3, "{list}");
    assert_eq!(tamper(&world, status, TYPE), 1);
    assert_eq!(verify(&owner, json!({})).await, 0);
    assert_eq!(subjects(&owner).await, Vec::<String>::new());
}
