//! Pulling packages: order, pages, filters, search, and the same id in several projects.

use accord_base::{KeyScope, Verb};
use serde_json::json;

use crate::support::{World, each, package, package_with, project_id};

const PACKAGES: &str = "/v1/projects/atlas/packages";

#[tokio::test(flavor = "multi_thread")]
async fn pages_go_on_where_they_were() {
    let world = World::new();
    let asker = world.owner();
    for n in 0..25 {
        let second = n % 5;
        let created_at = format!("2026-04-18T20:00:0{second}Z");
        asker
            .deposit(&package_with(&format!("pkg_{n:02}"), json!({"created_at": created_at})))
            .await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = asker.get(&format!("{PACKAGES}?limit=4{cursor}")).await.expect(200);
        seen.extend(each(&page["packages"], "package_id").into_iter().map(str::to_owned));
        // What comes in meanwhile is newer than everything that was seen.
        let newer = package_with(
            &format!("pkg_new_{}", seen.len()),
            json!({"created_at": "2026-05-01T00:00:00Z"}),
        );
        asker.deposit(&newer).await;
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let mut expected: Vec<_> = (0..25).map(|n| (n % 5, n)).collect();
    expected.sort_by_key(|(second, n)| std::cmp::Reverse((*second, *n)));
    let expected: Vec<_> = expected.iter().map(|(_, n)| format!("pkg_{n:02}")).collect();
    assert_eq!(seen, expected);
    asker.get(&format!("{PACKAGES}?cursor=nonsense")).await.refused(400, "invalid_cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_no_larger_than_it_must_be() {
    let world = World::new();
    let asker = world.owner();
    for n in 0..24 {
        let large = json!({"content_md": "x".repeat(1_900_000)});
        asker.deposit(&package_with(&format!("pkg_{n}"), large)).await;
    }
    let page = asker.get(&format!("{PACKAGES}?limit=24")).await.expect(200);
    let first = page["packages"].as_array().unwrap().len();
    assert!((2..24).contains(&first), "{first} packages of two megabytes");
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = asker.get(&format!("{PACKAGES}?limit=24&cursor={cursor}")).await.expect(200);
    assert_eq!(first + rest["packages"].as_array().unwrap().len(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_by_status_and_session() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    asker
        .deposit(&package_with(
            "pkg_2",
            json!({"status": "awaiting_review", "review_type": "human"}),
        ))
        .await;
    let by = json!({"id": "ada", "type": "agent", "session_id": "sess_1"});
    asker.deposit(&package_with("pkg_3", json!({"created_by": by}))).await;
    for (query, expected) in [
        ("status=awaiting_review", "pkg_2"),
        ("session_id=sess_1", "pkg_3"),
        ("status=complete&session_id=sess_1", "pkg_3"),
        ("mode=relevant&query=indexes&session_id=sess_1", "pkg_3"),
        ("mode=relevant&query=indexes&status=awaiting_review", "pkg_2"),
    ] {
        let page = asker.get(&format!("{PACKAGES}?{query}")).await.expect(200);
        assert_eq!(each(&page["packages"], "package_id"), [expected], "{query}");
    }
    let reviews = asker.get("/v1/projects/atlas/reviews").await.expect(200);
    assert_eq!(each(&reviews["packages"], "package_id"), ["pkg_2"]);
    asker.get(&format!("{PACKAGES}?status=approved")).await.refused(400, "invalid_schema");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_finds_what_it_is_about() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package_with("pkg_1", json!({"title": "The quokka census"}))).await;
    asker.deposit(&package_with("pkg_2", json!({"handoff_note": "Ask about the quokka."}))).await;
    asker.deposit(&package("pkg_3")).await;
    let page = asker.get(&format!("{PACKAGES}?mode=relevant&query=quokkas")).await.expect(200);
    assert_eq!(each(&page["packages"], "package_id"), ["pkg_1", "pkg_2"]);
    assert_eq!(each(&page["scores"], "package_id"), ["pkg_1", "pkg_2"]);
    assert_eq!(page["scores"][0]["matched"], json!(["quokkas"]));
    assert!(page["scores"][0]["score"].as_f64() > page["scores"][1]["score"].as_f64());
    for query in ["%22+OR+(", "*", "NEAR(a,+b)", "%F0%9F%A6%80", "title%3Aquokka", "%00"] {
        asker.get(&format!("{PACKAGES}?mode=relevant&query={query}")).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_by_meaning_needs_an_embedder() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    for (way, missing) in [("semantic", "semantic_search"), ("hybrid", "hybrid_search")] {
        let refusal = asker.get(&format!("{PACKAGES}?mode=relevant&query=a&search={way}")).await;
        let error = refusal.refused(501, "search_not_supported");
        assert_eq!(error["missing_capability"], missing);
    }
    asker.get(&format!("{PACKAGES}?mode=relevant&query=a&search=keyword")).await.expect(200);
    asker
        .get(&format!("{PACKAGES}?mode=relevant&query=a&search=psychic"))
        .await
        .refused(400, "invalid_schema");
    let declared = asker.get("/v1/conformance").await.expect(200);
    assert_eq!(declared["conformance_level"], "L3");
    assert_eq!(
        declared["capabilities"],
        json!({
            "hybrid_search": false,
            "semantic_search": false,
            "realtime": true,
            "blob_storage": true,
            "x-keyword_search": true,
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_id_in_several_projects_needs_the_project() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    let other = package_with("pkg_1", json!({"project_id": "borealis"}));
    asker.deposit(&other).await;
    let error = asker.get("/v1/packages/pkg_1").await.refused(409, "ambiguous_package_id");
    assert_eq!(error["projects"], json!(["atlas", "borealis"]));
    let one = asker.get("/v1/packages/pkg_1?project_id=borealis").await.expect(200);
    assert_eq!(one["project_id"], "borealis");
    asker.get("/v1/packages/pkg_1?project_id=cumulus").await.refused(404, "package_not_found");
    let flag = json!({"review_type": "human"});
    asker.post("/v1/packages/pkg_1/flag", &flag).await.refused(409, "ambiguous_package_id");
    // A key that sees one of them does not learn of the other.
    let scope = KeyScope::new(vec![Verb::Read], Some(vec![project_id("atlas")]));
    let reader = world.key(&scope);
    let one = reader.get("/v1/packages/pkg_1").await.expect(200);
    assert_eq!(one["project_id"], "atlas");
    reader.get("/v1/packages/pkg_1?project_id=borealis").await.refused(403, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_cannot_be_changed() {
    let world = World::new();
    let asker = world.owner();
    let first = asker.deposit(&package("pkg_1")).await;
    let other = package_with("pkg_1", json!({"title": "Another"})).to_string();
    for method in ["PUT", "PATCH", "DELETE"] {
        let refusal = asker.ask(method, "/v1/packages/pkg_1", &[], &other).await;
        assert_eq!(refusal.status, 405, "{}", refusal.text);
        assert!(refusal.header("allow").contains("GET"));
    }
    assert_eq!(asker.get("/v1/packages/pkg_1").await.expect(200), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_read_strictly() {
    let world = World::new();
    let asker = world.owner();
    asker.deposit(&package("pkg_1")).await;
    for query in [
        "limit=0",
        "limit=201",
        "limit=+3",
        "limit=1&limit=2",
        "mode=next",
        "mode=%zz",
        "mode=%ff",
        "mode=relevant",
    ] {
        asker.get(&format!("{PACKAGES}?{query}")).await.refused(400, "invalid_schema");
    }
    asker.get("/v1/projects/nowhere/packages").await.refused(404, "project_not_found");
}

const BRIEFING: &str = "/v1/projects/atlas/orient?format=briefing";

#[tokio::test(flavor = "multi_thread")]
async fn a_short_id_names_the_only_package_that_begins_with_it() {
    let world = World::new();
    let asker = world.owner();
    let id = |last: &str| format!("pkg_85b27dea{}{last}", "0".repeat(23));
    let first = id("a");
    asker.deposit(&package(&first)).await;
    for short in ["85b27dea", "pkg_85b27dea", "85b27dea0000"] {
        let one = asker.get(&format!("/v1/packages/{short}")).await.expect(200);
        assert_eq!(one["package_id"], first);
    }
    asker.get("/v1/packages/85b27de").await.refused(404, "package_not_found");
    asker.get("/v1/packages/85b27dea/revisions").await.expect(200);
    let flag = json!({"review_type": "human"});
    // It is complete already.
    asker.post("/v1/packages/85b27dea/flag", &flag).await.refused(400, "invalid_transition");
    let found = asker.get("/accord/v1/ids?prefix=85b27dea").await.expect(200);
    assert_eq!(found["ids"][0]["id"], first);
    let text = asker.get(BRIEFING).await.text;
    assert!(text.contains("[85b27dea]"), "{text}");
    // Another one that begins so: the briefing shows as many digits as are needed.
    let second = id("b");
    asker.deposit(&package(&second)).await;
    let refused = asker.get("/v1/packages/85b27dea").await.refused(409, "ambiguous_package_id");
    assert_eq!(refused["candidates"], json!([first, second]));
    let text = asker.get(BRIEFING).await.text;
    assert!(text.contains(&format!("[{}]", &second["pkg_".len()..])), "{text}");
    // An agent cannot take the short id of a package for another one.
    asker.deposit(&package("pkg_77aa66bb00112233445566778899aabb")).await;
    asker.deposit(&package("77aa66bb")).await;
    asker.get("/v1/packages/77aa66bb").await.refused(409, "ambiguous_package_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_to_short_ids_are_completed_if_that_is_asked() {
    let world = World::new();
    let asker = world.owner();
    let old = "pkg_85b27dea000000000000000000000001";
    asker.deposit(&package(old)).await;
    let new = package_with("pkg_2", json!({"x-supersedes": ["85b27dea"]}));
    let asked = [("x-accord-complete-ids", "true")];
    let (path, body) = ("/v1/projects/atlas/packages", new.to_string());
    let stored = asker.ask("POST", path, &asked, &body).await.expect(201);
    assert_eq!(stored["x-supersedes"], json!([old]));
    // Otherwise a package is stored as it was sent.
    let plain = package_with("pkg_3", json!({"parent_package_id": "85b27dea"}));
    let stored = asker.deposit(&plain).await;
    assert_eq!(stored["parent_package_id"], "85b27dea");
}
