//! Who sees what: drafts, projects, archived ones.

use accord_base::{KeyScope, Verb};
use serde_json::{Value, json};

use crate::support::{World, days_ago, each, package, package_with, project_id};

fn draft(id: &str, author: &str) -> Value {
    let by = json!({"id": author, "type": "agent", "session_id": "sess_1"});
    package_with(
        id,
        json!({
            "status": "draft",
            "title": "A quokka in the making",
            "created_at": days_ago(0),
            "created_by": by,
            "open_questions": [format!("What does {author} think?")],
        }),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_are_for_their_author() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&draft("pkg_ada", "ada")).await;
    owner.deposit(&draft("pkg_bob", "bob")).await;
    let (ada, bob) = (world.key_of("ada"), world.key_of("bob"));
    for (asker, own, other) in [(&ada, "pkg_ada", "pkg_bob"), (&bob, "pkg_bob", "pkg_ada")] {
        asker.get(&format!("/v1/packages/{own}")).await.expect(200);
        for path in ["", "/revisions"] {
            let refusal = asker.get(&format!("/v1/packages/{other}{path}")).await;
            refusal.refused(404, "package_not_found");
        }
        let flag = json!({"review_type": "agent"});
        let refusal = asker.post(&format!("/v1/packages/{other}/flag"), &flag).await;
        refusal.refused(404, "package_not_found");
        for list in [
            "packages",
            "packages?status=draft",
            "packages?session_id=sess_1",
            "packages?mode=relevant&query=quokka",
        ] {
            let page = asker.get(&format!("/v1/projects/atlas/{list}")).await.expect(200);
            assert_eq!(each(&page["packages"], "package_id"), [own], "{list}");
        }
        let bundle = asker.get("/v1/projects/atlas/orient").await.expect(200);
        assert_eq!(each(&bundle["recent_packages"], "package_id"), [own]);
        let author = own.strip_prefix("pkg_").unwrap();
        assert_eq!(bundle["open_questions"], json!([format!("What does {author} think?")]));
    }
    let all = owner.get("/v1/projects/atlas/packages").await.expect(200);
    assert_eq!(all["packages"].as_array().unwrap().len(), 2);
    // A digest has no drafts, not even one's own.
    for asker in [&owner, &ada] {
        let digest = asker.get("/v1/orchestrate?project=atlas&focus=quokka").await.expect(200);
        assert_eq!(digest["summary"]["package_count"], 0);
        assert_eq!(digest["summary"]["highlights"], json!([]));
        assert_eq!(digest["open_questions"], json!([]));
        assert_eq!(digest["snippets"], json!([]));
        assert_eq!(digest["projects"][0]["open_question_count"], 0);
    }
    // Once it is no draft, everybody sees it.
    bob.post("/v1/packages/pkg_bob/complete", &json!({})).await.expect(200);
    ada.get("/v1/packages/pkg_bob").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_tells_of_the_drafts_that_one_sees() {
    let world = World::new();
    let owner = world.owner();
    let started = owner
        .post("/v1/projects/atlas/sessions", &json!({"actor_id": "ada", "actor_type": "agent"}))
        .await
        .expect(201);
    let id = started["session_id"].as_str().unwrap();
    let by = json!({"id": "ada", "type": "agent", "session_id": id});
    owner.deposit(&package_with("pkg_1", json!({"created_by": by}))).await;
    owner.deposit(&package_with("pkg_2", json!({"created_by": by, "status": "draft"}))).await;
    let path = format!("/v1/sessions/{id}");
    let (ada, bob) = (world.key_of("ada"), world.key_of("bob"));
    for (asker, expected) in [
        (&owner, json!(["pkg_1", "pkg_2"])),
        (&ada, json!(["pkg_1", "pkg_2"])),
        (&bob, json!(["pkg_1"])),
    ] {
        assert_eq!(asker.get(&path).await.expect(200)["packages_deposited"], expected);
        let list = asker.get("/v1/projects/atlas/sessions").await.expect(200);
        assert_eq!(list["sessions"][0]["packages_deposited"], expected);
    }
    bob.patch(&path, &json!({})).await.refused(403, "unauthorized");
    let ended = ada.patch(&path, &json!({})).await.expect(200);
    assert_eq!(ended["packages_deposited"], json!(["pkg_1", "pkg_2"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reaches_its_projects_alone() {
    let world = World::new();
    let owner = world.owner();
    for project in ["atlas", "borealis", "cumulus"] {
        let members = json!({
            "project_id": project, "created_at": days_ago(0), "title": "A quokka",
            "open_questions": ["Why?"],
        });
        owner.deposit(&package_with(&format!("pkg_{project}"), members)).await;
        let body = json!({"subject": project, "predicate": "is", "value": "there"});
        owner.post(&format!("/v1/projects/{project}/facts"), &body).await.expect(201);
        let session = json!({"actor_id": "ada", "actor_type": "agent"});
        owner.post(&format!("/v1/projects/{project}/sessions"), &session).await.expect(201);
    }
    let covered = vec![project_id("atlas"), project_id("cumulus"), project_id("nowhere")];
    let asker = world.key(&KeyScope::new(vec![Verb::Admin], Some(covered)));
    let digest = asker.get("/v1/orchestrate?focus=quokka").await.expect(200);
    assert_eq!(digest["scope"], "global");
    assert_eq!(each(&digest["projects"], "project_id"), ["atlas", "cumulus"]);
    assert_eq!(digest["summary"]["package_count"], 2);
    assert_eq!(digest["snippets"].as_array().unwrap().len(), 2);
    assert!(!digest.to_string().contains("borealis"));
    let list = asker.get("/v1/projects?limit=1").await.expect(200);
    assert_eq!(each(&list["projects"], "project_id"), ["atlas"]);
    let cursor = list["next_cursor"].as_str().unwrap();
    let rest = asker.get(&format!("/v1/projects?cursor={cursor}")).await.expect(200);
    assert_eq!(each(&rest["projects"], "project_id"), ["cumulus"]);
    let secret = owner.get("/v1/projects/borealis/facts").await.expect(200);
    let fact = secret["facts"][0]["fact_id"].as_str().unwrap();
    let secret = owner.get("/v1/projects/borealis/sessions").await.expect(200);
    let session = secret["sessions"][0]["session_id"].as_str().unwrap();
    asker.get("/v1/packages/pkg_borealis").await.refused(404, "package_not_found");
    asker.get(&format!("/v1/facts/{fact}")).await.refused(404, "fact_not_found");
    asker.get(&format!("/v1/sessions/{session}")).await.refused(404, "session_not_found");
    asker
        .patch(&format!("/v1/sessions/{session}"), &json!({}))
        .await
        .refused(404, "session_not_found");
    for path in ["", "/packages", "/reviews", "/facts", "/orient", "/sessions"] {
        // A project that is not there is refused alike: nobody learns which there are.
        for project in ["borealis", "drizzle"] {
            let refusal = asker.get(&format!("/v1/projects/{project}{path}")).await;
            refusal.refused(403, "unauthorized");
        }
    }
    asker.get("/v1/orchestrate?project=borealis").await.refused(403, "unauthorized");
    for (path, body) in [
        (
            "/v1/projects/borealis/packages",
            package_with("pkg_1", json!({"project_id": "borealis"})),
        ),
        ("/v1/projects/borealis/facts", json!({"subject": "a", "predicate": "b", "value": "c"})),
        ("/v1/projects/borealis/sessions", json!({"actor_id": "ada", "actor_type": "agent"})),
        ("/v1/projects/borealis/archive", json!({})),
        ("/v1/projects", json!({"project_id": "eos"})),
    ] {
        asker.post(path, &body).await.refused(403, "unauthorized");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verbs_are_what_one_may_do() {
    let world = World::new();
    world.owner().deposit(&package("pkg_1")).await;
    let reader = world.key(&KeyScope::new(vec![Verb::Read], None));
    let writer = world.key(&KeyScope::new(vec![Verb::Write], None));
    reader.get("/v1/projects/atlas/orient").await.expect(200);
    reader
        .post("/v1/projects/atlas/packages", &package("pkg_2"))
        .await
        .refused(403, "unauthorized");
    reader
        .delete("/v1/projects/atlas/facts?subject=a&predicate=b")
        .await
        .refused(403, "unauthorized");
    writer.post("/v1/projects/atlas/packages", &package("pkg_2")).await.expect(201);
    writer.get("/v1/projects/atlas/packages").await.refused(403, "unauthorized");
    writer.get("/v1/orchestrate").await.refused(403, "unauthorized");
    writer.post("/v1/projects", &json!({})).await.refused(403, "unauthorized");
    writer
        .patch("/v1/projects/atlas", &json!({"name": "Atlas"}))
        .await
        .refused(403, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_project_is_read_and_not_written() {
    let world = World::new();
    let asker = world.owner();
    asker
        .deposit(&package_with("pkg_1", json!({"status": "draft", "created_at": days_ago(0)})))
        .await;
    let started = asker
        .post("/v1/projects/atlas/sessions", &json!({"actor_id": "ada", "actor_type": "agent"}))
        .await
        .expect(201);
    let session = format!("/v1/sessions/{}", started["session_id"].as_str().unwrap());
    let archived = asker.post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    let again = asker.post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    assert_eq!(archived, again);
    for (path, body) in [
        ("/v1/projects/atlas/packages", package("pkg_2")),
        ("/v1/projects/atlas/facts", json!({"subject": "a", "predicate": "b", "value": "c"})),
        ("/v1/projects/atlas/sessions", json!({"actor_id": "ada", "actor_type": "agent"})),
        ("/v1/packages/pkg_1/flag", json!({"review_type": "agent"})),
        ("/v1/packages/pkg_1/complete", json!({})),
    ] {
        asker.post(path, &body).await.refused(403, "project_archived");
    }
    asker
        .patch("/v1/projects/atlas", &json!({"name": "Atlas"}))
        .await
        .refused(403, "project_archived");
    asker.patch(&session, &json!({})).await.refused(403, "project_archived");
    asker
        .delete("/v1/projects/atlas/facts?subject=a&predicate=b")
        .await
        .refused(403, "project_archived");
    for path in [
        "/v1/projects/atlas",
        "/v1/projects/atlas/packages",
        "/v1/projects/atlas/orient",
        "/v1/packages/pkg_1",
        &session,
    ] {
        asker.get(path).await.expect(200);
    }
    assert_eq!(asker.get("/v1/projects").await.expect(200)["projects"], json!([]));
    let all = asker.get("/v1/projects?include_archived=true").await.expect(200);
    assert_eq!(each(&all["projects"], "project_id"), ["atlas"]);
    assert_eq!(asker.get("/v1/orchestrate").await.expect(200)["projects"], json!([]));
    let digest = asker.get("/v1/orchestrate?include_archived=true").await.expect(200);
    assert_eq!(each(&digest["projects"], "project_id"), ["atlas"]);
    let restored = asker.ask("POST", "/v1/projects/atlas/unarchive", &[], "").await.expect(200);
    assert_eq!(restored["archived_at"], Value::Null);
    asker.post("/v1/packages/pkg_1/complete", &json!({})).await.expect(200);
}
