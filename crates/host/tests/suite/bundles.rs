//! Orient and orchestrate.

use accord_base::tokens;
use serde_json::{Value, json};

use crate::support::{World, days_ago, each, package_with};

fn recent(id: &str, days: u32, members: Value) -> Value {
    let mut document = package_with(id, members);
    document["created_at"] = days_ago(days).into();
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orientation_has_what_one_needs_to_begin() {
    let world = World::new();
    let asker = world.owner();
    for n in 0..30 {
        let questions =
            json!({"open_questions": ["Who reviews this?", format!("What about {n}?")]});
        asker.deposit(&recent(&format!("pkg_{n:02}"), 1 + n % 2, questions)).await;
    }
    asker.deposit(&recent("pkg_old", 20, json!({"open_questions": ["Why so long ago?"]}))).await;
    let old = json!({
        "subject": "team", "predicate": "is", "value": "there",
        "valid_from": "2020-01-01T00:00:00Z",
    });
    asker.post("/v1/projects/atlas/facts", &old).await.expect(201);
    let bundle = asker.get("/v1/projects/atlas/orient").await.expect(200);
    assert_eq!(bundle["window_days"], 14);
    assert_eq!(bundle["project"]["project_id"], "atlas");
    let packages = bundle["recent_packages"].as_array().unwrap();
    assert_eq!(packages.len(), 20);
    assert_eq!(packages[0]["package_id"], "pkg_28");
    let pulled = asker.get("/v1/packages/pkg_28").await.expect(200);
    assert_eq!(packages[0], pulled);
    assert_eq!(each(&bundle["active_facts"], "subject"), ["team"]);
    // The questions are those of the whole window, not of the twenty packages.
    let questions = bundle["open_questions"].as_array().unwrap();
    assert_eq!(questions.len(), 31);
    assert!(questions.contains(&json!("What about 1?")));
    assert!(!questions.contains(&json!("Why so long ago?")));
    assert_eq!(bundle["x-left_out"], json!([{"member": "recent_packages", "reason": "limit"}]));
    let wide = asker.get("/v1/projects/atlas/orient?window_days=30&limit=100").await.expect(200);
    assert_eq!(wide["recent_packages"].as_array().unwrap().len(), 31);
    let small = asker.get("/v1/projects/atlas/orient?max_tokens=2000").await;
    assert!(tokens(&small.text) <= 2000, "{} tokens", tokens(&small.text));
    small.expect(200);
    asker.get("/v1/projects/atlas/orient?window_days=0").await.refused(400, "invalid_schema");
    asker.get("/v1/projects/nowhere/orient").await.refused(404, "project_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_questions_are_cut_and_that_is_said() {
    let world = World::new();
    let asker = world.owner();
    for n in 0..12 {
        let questions: Vec<_> = (0..10).map(|k| format!("Question {n}.{k}?")).collect();
        asker.deposit(&recent(&format!("pkg_{n}"), 1, json!({"open_questions": questions}))).await;
    }
    for path in ["/v1/projects/atlas/orient", "/v1/orchestrate", "/v1/orchestrate?project=atlas"] {
        let bundle = asker.get(path).await.expect(200);
        assert_eq!(bundle["open_questions"].as_array().unwrap().len(), 100, "{path}");
        let said = json!({"member": "open_questions", "reason": "limit"});
        assert!(bundle["x-left_out"].as_array().unwrap().contains(&said), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_sums_up() {
    let world = World::new();
    let asker = world.owner();
    let of = |project: &str, more: Value| {
        let mut members = more;
        members["project_id"] = project.into();
        members
    };
    asker
        .deposit(&recent(
            "pkg_1",
            1,
            of("atlas", json!({"significance": 9, "title": "The quokka moves"})),
        ))
        .await;
    asker.deposit(&recent("pkg_2", 2, of("atlas", json!({"package_type": "decision"})))).await;
    let awaiting = json!({
        "status": "awaiting_review", "review_type": "human", "open_questions": ["Now?"],
    });
    asker.deposit(&recent("pkg_3", 3, of("borealis", awaiting))).await;
    asker.deposit(&recent("pkg_4", 30, of("borealis", json!({"title": "A quokka of old"})))).await;
    let fact = json!({"subject": "a", "predicate": "b", "value": "c"});
    asker.post("/v1/projects/borealis/facts", &fact).await.expect(201);
    let digest = asker.get("/v1/orchestrate?focus=quokka&snippets=1").await.expect(200);
    assert_eq!((&digest["project"], &digest["scope"]), (&Value::Null, &json!("global")));
    assert_eq!(digest["summary"]["package_count"], 3);
    assert_eq!(digest["summary"]["by_type"], json!({"decision": 1, "milestone": 2}));
    assert_eq!(
        digest["summary"]["by_actor"],
        json!([{"id": "ada", "type": "agent", "package_count": 3}])
    );
    assert_eq!(each(&digest["summary"]["highlights"], "package_id"), ["pkg_1", "pkg_2", "pkg_3"]);
    assert_eq!(digest["open_questions"], json!(["Now?"]));
    assert_eq!(each(&digest["active_facts"], "subject"), ["a"]);
    assert_eq!(digest["snippets"].as_array().unwrap().len(), 1);
    assert_eq!(
        digest["projects"],
        json!([
            {
                "project_id": "atlas", "package_count": 2, "open_question_count": 0,
                "awaiting_review_count": 0,
            },
            {
                "project_id": "borealis", "package_count": 1, "open_question_count": 1,
                "awaiting_review_count": 1,
            },
        ])
    );
    let one = asker.get("/v1/orchestrate?project=atlas").await.expect(200);
    assert_eq!(
        (&one["project"]["project_id"], &one["scope"]),
        (&json!("atlas"), &json!("project"))
    );
    assert_eq!(one["active_facts"], json!([]));
    assert_eq!(one["snippets"], json!([]));
    asker.get("/v1/orchestrate?project=nowhere").await.refused(404, "project_not_found");
}
