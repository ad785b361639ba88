//! Single rows that were changed in the file: each is named and left out, and keeps nothing
//! else from being served.

use serde_json::{Value, json};

use crate::export::{EXPORT, imported, tamper};
use crate::support::{Asker, World, each, package, package_with};

const PACKAGES: &str = "/v1/projects/atlas/packages?limit=50";
const ORIENT: &str = "/v1/projects/atlas/orient?window_days=3660";
const DIGEST: &str = "/v1/orchestrate?project=atlas&window_days=3660&focus=indexes";

/// A project with three packages, of which the second is to be damaged.
async fn three() -> (World, Asker) {
    let world = World::new();
    let owner = world.owner();
    for id in ["pkg_1", "pkg_2", "pkg_3"] {
        owner
            .deposit(&package_with(id, json!({"open_questions": ["Why?", format!("Why {id}?")]})))
            .await;
    }
    (world, owner)
}

async fn verify(asker: &Asker) -> Value {
    let answer = asker.post("/accord/v1/verify", &json!({})).await.expect(200);
    answer["report"].clone()
}

/// What a report says of one suspect: the ids.
fn named<'a>(report: &'a Value, suspect: &str) -> Vec<&'a str> {
    let problems = report["problems"].as_array().unwrap().iter();
    let problems = problems.filter(|problem| problem["suspect"] == suspect);
    problems.map(|problem| problem["id"].as_str().unwrap()).collect()
}

fn sorted<'a>(list: &'a Value, member: &str) -> Vec<&'a str> {
    let mut ids = each(list, member);
    ids.sort_unstable();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_whose_row_cannot_be_read_is_named_and_the_others_are_served() {
    for column in [
        "content_hash = x'00'",
        "deposited_hash = x'0011'",
        "created_at = 'yesterday'",
        "created_key = 'yesterday'",
        "deposited_at = ''",
        "review_type = 'perhaps'",
        "actor_type = 'ghost'",
        "actor_id = ''",
        "session_id = ''",
        "package_type = ''",
        "significance = 99",
        "revision = -1",
        "quarantined_at = 'now', quarantine_reason = 'x'",
        "text = cast(x'ff' as text)",
    ] {
        let (world, owner) = three().await;
        let statement = format!("UPDATE package SET {column} WHERE package_id = ?1");
        assert_eq!(tamper(&world, &statement, "pkg_2"), 1);
        let list = owner.get(PACKAGES).await.expect(200);
        assert_eq!(sorted(&list["packages"], "package_id"), ["pkg_1", "pkg_3"]);
        assert_eq!(list["x-integrity_warnings"], json!(["pkg_2"]), "{column}");
        assert_eq!(list["next_cursor"], Value::Null, "{column}");
        let refused = owner.get("/v1/packages/pkg_2").await;
        let error = refused.refused(500, "integrity_error");
        assert_eq!(error["package_id"], "pkg_2", "{column}");
        owner.get("/v1/packages/pkg_1").await.expect(200);
        let again = package_with("pkg_2", json!({"open_questions": ["Why?", "Why pkg_2?"]}));
        owner.post("/v1/projects/atlas/packages", &again).await.refused(500, "integrity_error");
        let orient = owner.get(ORIENT).await.expect(200);
        assert_eq!(orient["x-integrity_warnings"], json!(["pkg_2"]), "{column}");
        let digest = owner.get(DIGEST).await.expect(200);
        assert_eq!(
            sorted(&digest["summary"]["highlights"], "package_id"),
            ["pkg_1", "pkg_3"],
            "{column}"
        );
        assert_eq!(digest["x-integrity_warnings"], json!(["pkg_2"]), "{column}");
        let report = verify(&owner).await;
        assert_eq!(report["packages"], 3, "{column}");
        assert_eq!(named(&report, "package"), ["pkg_2"], "{column}");
        let export = owner.get(EXPORT).await;
        assert_eq!(export.header("x-integrity-warnings"), "1", "{column}");
        imported(&World::new().owner(), &export.text).await;
        // What comes later is taken, also as a child of what is damaged, and by the same question.
        let child = json!({"parent_package_id": "pkg_2", "open_questions": ["Why?"]});
        owner.deposit(&package_with("pkg_4", child)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_go_on_behind_rows_that_cannot_be_read() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..60 {
        owner.deposit(&package(&format!("pkg_{number:02}"))).await;
    }
    let statement =
        "UPDATE package SET review_type = ?1 WHERE package_id BETWEEN 'pkg_05' AND 'pkg_50'";
    assert_eq!(tamper(&world, statement, "perhaps"), 46);
    let (mut path, mut seen) = ("/v1/projects/atlas/packages?limit=3".to_owned(), Vec::new());
    for _ in 0..20 {
        let page = owner.get(&path).await.expect(200);
        let ids = each(&page["packages"], "package_id");
        seen.extend(ids.iter().map(|id| (*id).to_owned()));
        let Some(next) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/projects/atlas/packages?limit=3&cursor={next}");
    }
    seen.sort_unstable();
    assert_eq!(seen.len(), 14, "{seen:?}");
    assert_eq!(seen[4..6], ["pkg_04", "pkg_51"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_contradicts_its_package_is_set_aside() {
    for (column, id) in [
        ("package_id = 'pkg_x'", "pkg_x"),
        ("status = 'draft'", "pkg_2"),
        ("actor_id = 'eve'", "pkg_2"),
        ("session_id = 'ses_1'", "pkg_2"),
        ("package_type = 'x-other'", "pkg_2"),
        ("created_at = '2026-04-18T21:00:00Z', created_key = '2026-04-18T21:00:00'", "pkg_2"),
    ] {
        let (world, owner) = three().await;
        let statement = format!("UPDATE package SET {column} WHERE package_id = ?1");
        assert_eq!(tamper(&world, &statement, "pkg_2"), 1);
        let list = owner.get(PACKAGES).await.expect(200);
        assert_eq!(sorted(&list["packages"], "package_id"), ["pkg_1", "pkg_3"]);
        assert_eq!(list["x-integrity_warnings"], json!([id]), "{column}");
        owner.get(&format!("/v1/packages/{id}")).await.refused(500, "integrity_error");
        let report = verify(&owner).await;
        assert_eq!(named(&report, "package"), [id], "{column}");
        let export = owner.get(EXPORT).await;
        assert_eq!(export.header("x-integrity-warnings"), "1", "{column}");
        assert!(!export.text.contains(&format!("\"package_id\":\"{id}\"")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_none_is_found_by_a_look_through_the_store() {
    let (world, owner) = three().await;
    let statement = "UPDATE package SET status = 'lost' WHERE package_id = ?1";
    assert_eq!(tamper(&world, statement, "pkg_2"), 1);
    let list = owner.get(PACKAGES).await.expect(200);
    assert_eq!(sorted(&list["packages"], "package_id"), ["pkg_1", "pkg_3"]);
    let report = verify(&owner).await;
    assert_eq!(named(&report, "package"), ["pkg_2"]);
    owner.get("/v1/packages/pkg_2").await.refused(500, "integrity_error");
}

/// Two facts; gives the id of the first.
async fn facts(owner: &Asker) -> String {
    let fact = |subject: &str| json!({"subject": subject, "predicate": "is", "value": "up"});
    let first = owner.post("/v1/projects/atlas/facts", &fact("build")).await.expect(201);
    owner.post("/v1/projects/atlas/facts", &fact("site")).await.expect(201);
    first["fact_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_fact_is_never_handed_out_and_the_others_are() {
    for column in [
        "valid_from = 'once'",
        "valid_to = 'never'",
        "from_key = 'once'",
        "created_at = ''",
        "text = 'garbage'",
        "text = '{}'",
        "text = replace(text, 'up', 'down')",
        "value = 'down'",
    ] {
        let world = World::new();
        let owner = world.owner();
        let id = facts(&owner).await;
        let statement = format!("UPDATE fact SET {column} WHERE subject = ?1");
        assert_eq!(tamper(&world, &statement, "build"), 1);
        for path in ["/v1/projects/atlas/facts", "/v1/projects/atlas/facts?history=true"] {
            let list = owner.get(path).await.expect(200);
            assert_eq!(each(&list["facts"], "subject"), ["site"], "{column}");
            assert_eq!(list["x-integrity_warnings"], json!([id]), "{column}");
        }
        for path in [format!("/v1/facts/{id}"), format!("/v1/facts/{id}?project_id=atlas")] {
            let refused = owner.get(&path).await;
            refused.refused(500, "integrity_error");
            assert!(!refused.text.contains("down"), "{}", refused.text);
        }
        for path in [ORIENT, DIGEST] {
            let bundle = owner.get(path).await.expect(200);
            assert_eq!(each(&bundle["active_facts"], "subject"), ["site"]);
            assert_eq!(bundle["x-integrity_warnings"], json!([id]), "{column}");
        }
        let report = verify(&owner).await;
        assert_eq!(named(&report, "fact"), [id.as_str()], "{column}");
        assert_eq!(report["problem_count"], 1, "{report}");
        let export = owner.get(EXPORT).await;
        assert_eq!(export.header("x-integrity-warnings"), "1", "{column}");
        // Another chain takes facts; the damaged one says which fact is in the way.
        let fact = |subject: &str| json!({"subject": subject, "predicate": "is", "value": "new"});
        let facts = "/v1/projects/atlas/facts";
        owner.post(facts, &fact("site")).await.expect(201);
        let refused = owner.post(facts, &fact("build")).await;
        refused.refused(500, "integrity_error");
        assert!(refused.text.contains(&id), "{}", refused.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_session_is_left_out_of_lists_and_named() {
    for column in [
        "started_at = 'once'",
        "started_key = 'once'",
        "ended_at = 'never'",
        "actor_type = 'ghost'",
        "text = 'garbage'",
        "actor_id = 'eve'",
    ] {
        let world = World::new();
        let owner = world.owner();
        let mut ids = Vec::new();
        for actor in ["ada", "bob"] {
            let session = json!({"actor_id": actor, "actor_type": "agent"});
            let session = owner.post("/v1/projects/atlas/sessions", &session).await;
            ids.push(session.expect(201)["session_id"].as_str().unwrap().to_owned());
        }
        let statement = format!("UPDATE session SET {column} WHERE session_id = ?1");
        assert_eq!(tamper(&world, &statement, &ids[0]), 1);
        let list = owner.get("/v1/projects/atlas/sessions").await.expect(200);
        assert_eq!(each(&list["sessions"], "session_id"), [&ids[1]], "{column}");
        assert_eq!(list["x-integrity_warnings"], json!([ids[0]]), "{column}");
        let one = owner.get(&format!("/v1/sessions/{}", ids[0])).await;
        one.refused(500, "integrity_error");
        let report = verify(&owner).await;
        assert_eq!(named(&report, "session"), [ids[0].as_str()], "{column}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_project_is_named_and_what_is_in_it_is_served() {
    for column in [
        "created_at = 'once'",
        "archived_at = 'never'",
        "text = 'garbage'",
        "created_at = '2020-01-01T00:00:00.000Z'",
    ] {
        let (world, owner) = three().await;
        facts(&owner).await;
        let other = json!({"project_id": "borealis", "name": "Borealis"});
        owner.post("/v1/projects", &other).await.expect(201);
        let statement = format!("UPDATE project SET {column} WHERE project_id = ?1");
        assert_eq!(tamper(&world, &statement, "atlas"), 1);
        let list = owner.get("/v1/projects?include_archived=true").await.expect(200);
        assert_eq!(each(&list["projects"], "project_id"), ["borealis"]);
        assert_eq!(list["x-integrity_warnings"], json!(["atlas"]), "{column}");
        let list = owner.get(PACKAGES).await.expect(200);
        assert_eq!(list["packages"].as_array().unwrap().len(), 3, "{column}");
        let list = owner.get("/v1/projects/atlas/facts").await.expect(200);
        assert_eq!(list["facts"].as_array().unwrap().len(), 2, "{column}");
        owner.get("/v1/projects/atlas").await.refused(500, "integrity_error");
        owner.get(ORIENT).await.refused(500, "integrity_error");
        // Whether it takes writes nobody can say.
        let more = package("pkg_9");
        let more = owner.post("/v1/projects/atlas/packages", &more).await;
        more.refused(500, "integrity_error");
        owner.get("/v1/orchestrate?window_days=3660").await.expect(200);
        let report = verify(&owner).await;
        assert_eq!(report["projects"], 2, "{column}");
        assert_eq!(named(&report, "project"), ["atlas"], "{column}");
        assert_eq!(report["problem_count"], 1, "{report}");
        let export = owner.get(EXPORT).await;
        assert_eq!(export.header("x-integrity-warnings"), "1", "{column}");
        let summary = imported(&World::new().owner(), &export.text).await;
        assert_eq!(summary["added"]["packages"], 3, "{summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_time_does_not_prevent_writes() {
    let (world, owner) = three().await;
    assert!(tamper(&world, "UPDATE event SET at = ?1", "once") > 3);
    owner.deposit(&package("pkg_9")).await;
    let report = verify(&owner).await;
    assert_eq!(named(&report, "event"), ["1", "2", "3", "4"], "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_that_cannot_be_read_are_left_out_and_named() {
    for statement in [
        "UPDATE kind SET actor_type = ?1",
        "UPDATE tally SET packages = -5 WHERE ?1 <> ''",
        "UPDATE tally SET packages = 9223372036854775807 WHERE ?1 <> ''",
    ] {
        let (world, owner) = three().await;
        owner.deposit(&package_with("pkg_4", json!({"created_at": "2026-04-17T20:00:00Z"}))).await;
        assert!(tamper(&world, statement, "ghost") > 0);
        let digest = owner.get(DIGEST).await.expect(200);
        let highlights = digest["summary"]["highlights"].as_array().unwrap();
        assert_eq!(highlights.len(), 4, "{statement}");
        let report = verify(&owner).await;
        assert!(!named(&report, "tally").is_empty(), "{statement}");
        let problem = &report["problems"][0];
        let message = problem["message"].as_str().unwrap();
        assert!(message.contains("accord store repair"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_derived_is_compared_with_what_it_is_derived_from() {
    for (statement, parameter, suspect, id) in [
        ("UPDATE question SET text = ?1 WHERE text = 'Why pkg_2?'", "How?", "question", "pkg_2"),
        ("UPDATE question SET sources = ?1 WHERE text = 'Why?'", "x", "question", "Why?"),
        (
            "UPDATE question SET asked_key = ?1 WHERE text = 'Why?'",
            "2027-01-01T00:00:00",
            "question",
            "Why?",
        ),
        (
            "UPDATE question SET audience = ?1 WHERE text = 'Why pkg_2?'",
            "draft agent ada",
            "question",
            "pkg_2",
        ),
        ("DELETE FROM question_use WHERE package_id = ?1", "pkg_2", "question", "pkg_2"),
        ("UPDATE question_tally SET questions = ?1", "7", "tally", "questions 2026-04-18T20"),
        ("UPDATE counter SET packages = ?1", "2", "counter", "packages"),
        ("UPDATE counter SET newest_event = ?1", "1", "counter", "newest_event"),
        (
            "DELETE FROM package_terms \
             WHERE rowid = (SELECT pk FROM package WHERE package_id = ?1)",
            "pkg_2",
            "search",
            "pkg_2",
        ),
        ("INSERT INTO package_terms (rowid, title) VALUES (?1, 'stray')", "99", "search", "99"),
        (
            "UPDATE tally SET span = ?1 WHERE unit = 'minute'",
            "2026-04-18T20:01",
            "tally",
            "milestone agent ada complete minute 2026-04-18T20:00",
        ),
        (
            "UPDATE tally SET packages = 4 WHERE unit = ?1",
            "hour",
            "tally",
            "milestone agent ada complete hour 2026-04-18T20",
        ),
    ] {
        let (world, owner) = three().await;
        assert_eq!(verify(&owner).await["problem_count"], 0);
        assert!(tamper(&world, statement, parameter) > 0, "{statement}");
        let report = verify(&owner).await;
        assert!(named(&report, suspect).contains(&id), "{statement}: {report:#}");
        assert_eq!(report["quarantined"], 0, "{statement}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_questions_do_not_prevent_others() {
    let (world, owner) = three().await;
    let statement = "UPDATE question SET sources = ?1, asked_key = 'x' WHERE text = 'Why?'";
    assert_eq!(tamper(&world, statement, "garbage"), 1);
    let orient = owner.get(ORIENT).await.expect(200);
    let questions = orient["open_questions"].as_array().unwrap();
    assert!(questions.contains(&json!("Why pkg_1?")), "{questions:?}");
    owner.deposit(&package_with("pkg_4", json!({"open_questions": ["Why?"]}))).await;
    owner.get(ORIENT).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_swept_while_a_row_that_may_name_it_cannot_be_read() {
    let (world, owner) = three().await;
    let digest = accord_canon::sha256(b"hello").hex();
    let blob = format!("/v1/blobs/sha256:{digest}?project_id=atlas");
    owner.ask("PUT", &blob, &[], "hello").await.expect(201);
    let fact = json!({"subject": "log", "predicate": "is", "value": format!("sha256:{digest}")});
    owner.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    assert_eq!(tamper(&world, "UPDATE blob SET stored_at = ?1", "2020-01-01T00:00:00Z"), 1);
    assert_eq!(tamper(&world, "UPDATE fact SET created_at = ?1", "once"), 1);
    let sweep = owner.post("/accord/v1/store/sweep", &json!({"days": 1})).await;
    sweep.refused(500, "integrity_error");
    owner.get(&blob).await;
    assert_eq!(owner.get(&blob).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_that_cannot_be_read_are_named_and_a_repair_deletes_them() {
    let (world, owner) = three().await;
    let vectors = "INSERT INTO embedding (project, package, model, dimension, vectors)
        SELECT project, pk, 'mini', 2, x'0000803f00000000' FROM package WHERE package_id <> ?1";
    assert_eq!(tamper(&world, vectors, ""), 3);
    assert_eq!(verify(&owner).await["problem_count"], 0);
    for column in [
        // Not whole numbers, not whole vectors, and no number.
        "vectors = x'00'",
        "dimension = 3",
        "dimension = 0",
        "vectors = x'0000c07f00000000'",
    ] {
        let statement = format!(
            "UPDATE embedding SET {column}
             WHERE package = (SELECT pk FROM package WHERE package_id = ?1)"
        );
        assert_eq!(tamper(&world, &statement, "pkg_2"), 1);
        let report = verify(&owner).await;
        assert_eq!(named(&report, "search"), ["pkg_2"], "{column}");
        let message = report["problems"][0]["message"].as_str().unwrap();
        assert!(message.contains("run accord store repair"), "{message}");
        let whole = "UPDATE embedding SET dimension = 2, vectors = x'0000803f00000000'
            WHERE model <> ?1";
        assert_eq!(tamper(&world, whole, ""), 3);
    }
    let damage = "UPDATE embedding SET vectors = x'00' WHERE model = ?1";
    assert_eq!(tamper(&world, damage, "mini"), 3);
    drop(owner);
    let (world, _) = world.repaired();
    assert_eq!(verify(&world.owner()).await["problem_count"], 0);
    assert_eq!(tamper(&world, "DELETE FROM embedding WHERE model = ?1", "mini"), 0);
}
