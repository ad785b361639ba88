//! Projects with random pasts, out and in again, in random orders.

use accord_store::testing::Random;
use serde_json::{Value, json};

use crate::export::{export, imported};
use crate::support::{Asker, World, package_with};

const RUNS: u64 = 12;
const STEPS: usize = 60;

/// Does something in the project; what is not allowed is refused, and that is fine.
async fn step(asker: &Asker, random: &mut Random, number: usize) {
    let mut below = |most: usize| random.below(most);
    let moment = |number: usize| format!("2026-04-{:02}T{:02}:00:00Z", 1 + number % 9, number % 5);
    let known = below(number + 1);
    match below(12) {
        0..=2 => {
            let status = ["draft", "complete", "awaiting_review"][below(3)];
            let review = if status == "awaiting_review" { "human" } else { "none" };
            let author = ["agent", "human"][below(2)];
            let members = json!({
                "status": status, "review_type": review, "created_at": moment(below(40)),
                "x-n": below(5),
                "open_questions": [QUESTIONS[below(4)]],
                "x-answers": answers(below(6), below(4), format!("pkg_{}", below(STEPS))),
                "x-supersedes": (0..3).map(|_| format!("pkg_{}", below(STEPS))).collect::<Vec<_>>(),
                "created_by": {
                    "id": "ada", "type": author,
                    "session_id": format!("sess_{}", below(3)),
                },
            });
            // A package that supersedes itself, or answers its own question, is refused.
            let package = package_with(&format!("pkg_{number}"), members);
            asker.post("/v1/projects/atlas/packages", &package).await;
        }
        3 => {
            let reviewer = ["human", "agent"][below(2)];
            let flag = json!({"review_type": reviewer, "note": format!("note {number}")});
            asker.post(&format!("/v1/packages/pkg_{known}/flag"), &flag).await;
        }
        4 => {
            let outcome = ["complete", "revision_requested"][below(2)];
            let kind = ["agent", "human"][below(2)];
            let outcome = json!({"outcome": outcome, "actor": {"id": "eve", "type": kind}});
            asker.post(&format!("/v1/packages/pkg_{known}/review"), &outcome).await;
        }
        5 => drop(asker.post(&format!("/v1/packages/pkg_{known}/complete"), &json!({})).await),
        6..=9 => {
            let subject = ["build", "docs"][below(2)];
            let mut fact =
                json!({"subject": subject, "predicate": "is", "value": number.to_string()});
            if below(3) > 0 {
                fact["valid_from"] = moment(below(40)).into();
            }
            asker.post("/v1/projects/atlas/facts", &fact).await.expect(201);
        }
        10 => {
            let subject = ["build", "docs"][below(2)];
            asker.delete(&format!("/v1/projects/atlas/facts?subject={subject}&predicate=is")).await;
        }
        _ => {
            let session = json!({"actor_id": "ada", "actor_type": "agent"});
            let session = asker.post("/v1/projects/atlas/sessions", &session).await.expect(201);
            if below(2) == 0 {
                let path = format!("/v1/sessions/{}", session["session_id"].as_str().unwrap());
                asker.patch(&path, &json!({})).await.expect(200);
            }
        }
    }
}

const QUESTIONS: [&str; 4] = ["Why?", "WHY?", "Who?", "When?"];

fn answers(kind: usize, which: usize, package: String) -> Value {
    match kind {
        0 => json!([{"question": QUESTIONS[which].to_lowercase()}]),
        1 => json!([{"package_id": package, "index": 0}]),
        _ => json!([]),
    }
}

/// The questions and the marks of superseded packages, whatever the order of the import.
async fn derived(asker: &Asker) -> Vec<Value> {
    let questions = asker.get("/v1/projects/atlas/questions?all=true&limit=200").await.expect(200);
    let mut lines: Vec<Value> = Vec::new();
    for question in questions["questions"].as_array().unwrap() {
        let by = ["asked_by", "answered_by"].map(|name| in_order(&question[name]));
        lines.push(json!([question["question"], question["open"], by]));
    }
    let list = asker.get("/v1/projects/atlas/packages?limit=200").await.expect(200);
    for (id, by) in list["x-superseded"].as_object().into_iter().flatten() {
        lines.push(json!([id, in_order(by)]));
    }
    lines.sort_by_key(Value::to_string);
    lines
}

fn in_order(list: &Value) -> Vec<&str> {
    let mut texts: Vec<&str> =
        list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    texts.sort_unstable();
    texts
}

fn shuffled(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<_> = text.lines().collect();
    for last in (1..lines.len()).rev() {
        lines.swap(last, random.below(last + 1));
    }
    lines.join("\n")
}

fn sorted(text: &str) -> Vec<Value> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines.into_iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn any_past_survives_in_any_order() {
    let mut linked = 0;
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let (world, copy, late_copy) = (World::new(), World::new(), World::new());
        let (owner, copied, late_copied) = (world.owner(), copy.owner(), late_copy.owner());
        owner
            .post("/v1/projects", &json!({"project_id": "atlas", "name": "Atlas"}))
            .await
            .expect(201);
        for number in 0..STEPS / 2 {
            step(&owner, &mut random, number).await;
        }
        let early = export(&owner).await;
        imported(&copied, &early).await;
        assert_eq!(export(&copied).await, early, "seed {seed}");
        for number in STEPS / 2..STEPS {
            step(&owner, &mut random, number).await;
        }
        // A copy follows, whichever line comes first; so does one that begins with nothing.
        let late = export(&owner).await;
        let links = derived(&owner).await;
        linked += links.len();
        for asker in [&copied, &late_copied] {
            imported(asker, &shuffled(&late, &mut random)).await;
            assert_eq!(sorted(&export(asker).await), sorted(&late), "seed {seed}");
            assert_eq!(derived(asker).await, links, "seed {seed}");
            imported(asker, &shuffled(&early, &mut random)).await;
            assert_eq!(sorted(&export(asker).await), sorted(&late), "seed {seed}");
            assert_eq!(derived(asker).await, links, "seed {seed}");
        }
        let report = copied.post("/accord/v1/verify", &json!({})).await.expect(200);
        assert_eq!(report["report"]["problem_count"], 0, "seed {seed}: {report}");
    }
    assert!(linked > 60, "{linked} questions and marks are too few for a meaningful test");
}
