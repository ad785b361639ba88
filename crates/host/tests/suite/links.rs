//! Questions that end, and packages that are replaced.

use accord_base::{KeyScope, Verb};
use accord_contract::Timestamp;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::export::{export, imported};
use crate::support::{Asker, World, days_ago, each, package_with, wait_until};

const QUESTIONS: &str = "/v1/projects/atlas/questions";

fn asking(id: &str, questions: &[&str]) -> Value {
    package_with(id, json!({"open_questions": questions, "created_at": days_ago(1)}))
}

fn answering(id: &str, members: Value) -> Value {
    let mut package = package_with(id, json!({"created_at": days_ago(0)}));
    package.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    package
}

/// The open questions, which every bundle must agree about.
async fn open(asker: &Asker) -> Vec<String> {
    let list = asker.get(QUESTIONS).await.expect(200);
    let texts: Vec<String> =
        each(&list["questions"], "question").into_iter().map(str::to_owned).collect();
    let orient = asker.get("/v1/projects/atlas/orient").await.expect(200);
    assert_eq!(orient["open_questions"], json!(texts));
    let digest = asker.get("/v1/orchestrate?project=atlas").await.expect(200);
    assert_eq!(digest["open_questions"], json!(texts));
    assert_eq!(digest["projects"][0]["open_question_count"], texts.len());
    texts
}

/// Which packages are superseded by which.
async fn marks(asker: &Asker) -> Value {
    let list = asker.get("/v1/projects/atlas/packages?limit=200").await.expect(200);
    list.get("x-superseded").cloned().unwrap_or(json!({}))
}

async fn sound(asker: &Asker) {
    let report = asker.post("/accord/v1/verify", &json!({})).await.expect(200);
    assert_eq!(report["report"]["problems"], json!([]));
}

fn warnings(answer: &Value) -> Vec<&str> {
    answer.get("warnings").map_or_else(Vec::new, |warnings| each(warnings, "code"))
}

async fn review(asker: &Asker, id: &str, outcome: &str, kind: &str) {
    let body = json!({"outcome": outcome, "actor": {"id": "rev", "type": kind}});
    asker.post(&format!("/v1/packages/{id}/review"), &body).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_question_is_in_no_bundle() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&asking("ask", &["Who pays for caf\u{e9}s?", "When?", "Why?"])).await;
    assert_eq!(open(&owner).await, ["Who pays for caf\u{e9}s?", "When?", "Why?"]);
    let answers = json!([{"question": "  WHO pays for CAFE\u{301}s? "}]);
    let stored = owner.deposit(&answering("by text", json!({"x-answers": answers}))).await;
    assert_eq!(warnings(&stored), [""; 0]);
    assert_eq!(open(&owner).await, ["When?", "Why?"]);
    let answers = json!([{"package_id": "ask", "index": 1, "x-note": "kept"}]);
    owner.deposit(&answering("by index", json!({"x-answers": answers}))).await;
    assert_eq!(open(&owner).await, ["Why?"]);

    let all = owner.get(&format!("{QUESTIONS}?all=true")).await.expect(200);
    let all = all["questions"].as_array().unwrap().clone();
    assert_eq!(all.len(), 3);
    assert_eq!(
        (&all[0]["open"], &all[0]["asked_by"], &all[0]["answered_by"]),
        (&json!(false), &json!(["ask"]), &json!(["by text"]))
    );
    assert_eq!((&all[1]["package_id"], &all[1]["index"]), (&json!("ask"), &json!(1)));
    assert_eq!(
        (&all[2]["open"], &all[2]["question"], &all[2]["answered_by"]),
        (&json!(true), &json!("Why?"), &json!([]))
    );
    // Page by page.
    let mut paged = Vec::new();
    let mut path = format!("{QUESTIONS}?all=true&limit=1");
    loop {
        let page = owner.get(&path).await.expect(200);
        paged.extend(page["questions"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("{QUESTIONS}?all=true&limit=1&cursor={cursor}");
    }
    assert_eq!(paged, all);
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_complete_package_answers_and_supersedes() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&asking("ask", &["Why?"])).await;
    let links = |status: &str, review: &str| {
        json!({
            "status": status, "review_type": review,
            "x-answers": [{"question": "Why?"}], "x-supersedes": ["ask"],
        })
    };
    owner.deposit(&answering("draft", links("draft", "none"))).await;
    owner.deposit(&answering("waits", links("awaiting_review", "human"))).await;
    // A parent is named and not replaced.
    owner.deposit(&answering("child", json!({"parent_package_id": "ask"}))).await;
    assert_eq!((open(&owner).await, marks(&owner).await), (vec!["Why?".to_owned()], json!({})));
    review(&owner, "waits", "revision_requested", "human").await;
    assert_eq!((open(&owner).await, marks(&owner).await), (vec!["Why?".to_owned()], json!({})));
    owner.post("/v1/packages/draft/complete", &json!({})).await.expect(200);
    assert_eq!((open(&owner).await.len(), marks(&owner).await), (0, json!({"ask": ["draft"]})));
    owner.post("/v1/packages/waits/resubmit", &json!({})).await.expect(200);
    review(&owner, "waits", "complete", "human").await;
    // The newest first; both were created at nearly the same time.
    assert_eq!(marks(&owner).await, json!({"ask": ["waits", "draft"]}));
    sound(&owner).await;
    // An archived project keeps its answers and marks.
    owner.ask("POST", "/v1/projects/atlas/archive", &[], "").await.expect(200);
    assert_eq!(
        (open(&owner).await.len(), marks(&owner).await["ask"][0].clone()),
        (0, json!("waits"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mark_stands_beside_the_package_and_not_in_it() {
    let world = World::new();
    let owner = world.owner();
    let old = owner.deposit(&answering("old", json!({"significance": 9}))).await;
    let before = owner.get("/v1/packages/old").await;
    assert_eq!(before.header("x-superseded-by"), "");
    owner.deposit(&answering("new, %1", json!({"x-supersedes": ["old"]}))).await;
    let after = owner.get("/v1/packages/old").await;
    assert_eq!(after.text, before.text);
    assert_eq!(after.header("etag"), before.header("etag"));
    assert_eq!(after.header("x-superseded-by"), "new%2C%20%251");
    assert_eq!(after.json()["content_hash"], old["content_hash"]);
    for path in ["?mode=latest", "?mode=relevant&query=indexes"] {
        let list = owner.get(&format!("/v1/projects/atlas/packages{path}")).await.expect(200);
        assert_eq!(list["x-superseded"], json!({"old": ["new, %1"]}), "{path}");
        let packages = list["packages"].as_array().unwrap();
        assert!(packages.iter().all(|package| package.get("x-superseded").is_none()));
    }
    for budget in ["", "?max_tokens=4000"] {
        let bundle = owner.get(&format!("/v1/projects/atlas/orient{budget}")).await.expect(200);
        assert_eq!(bundle["x-superseded"], json!({"old": ["new, %1"]}), "{budget}");
    }
    let digest = owner.get("/v1/orchestrate?project=atlas&focus=indexes").await.expect(200);
    for entries in [&digest["summary"]["highlights"], &digest["snippets"]] {
        let entries = entries.as_array().unwrap();
        let old = entries.iter().find(|entry| entry["package_id"] == "old").unwrap();
        assert_eq!(old["superseded_by"], json!(["new, %1"]), "{entries:?}");
        let new = entries.iter().find(|entry| entry["package_id"] != "old").unwrap();
        assert_eq!(new.get("superseded_by"), None);
    }
    // It is derived, and not exported.
    assert!(!export(&owner).await.contains("x-superseded"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_replaces_a_persons_package_after_the_review_of_a_person() {
    let world = World::new();
    let owner = world.owner();
    let human = json!({"created_by": {"id": "eve", "type": "human"}});
    owner.deposit(&answering("rule", human.clone())).await;
    let agent =
        |status: &str| json!({"x-supersedes": ["rule"], "status": status, "review_type": "human"});
    let stored = owner.deposit(&answering("alone", agent("complete"))).await;
    assert_eq!(warnings(&stored), ["human_review_needed"]);
    let script = json!({"created_by": {"id": "cron", "type": "script"}, "x-supersedes": ["rule"]});
    assert_eq!(warnings(&owner.deposit(&answering("cron", script)).await), ["human_review_needed"]);
    for id in ["by agent", "by human", "refused"] {
        let stored = owner.deposit(&answering(id, agent("awaiting_review"))).await;
        assert_eq!(warnings(&stored), [""; 0]);
    }
    let path = "/v1/packages/by%20agent/review";
    let by_agent = json!({"outcome": "complete", "actor": {"id": "bot", "type": "agent"}});
    owner.post(path, &by_agent).await.expect(200);
    review(&owner, "refused", "revision_requested", "human").await;
    owner
        .post("/v1/packages/refused/complete", &json!({"actor": {"id": "e", "type": "human"}}))
        .await
        .expect(200);
    assert_eq!(marks(&owner).await, json!({}));
    review(&owner, "by%20human", "complete", "human").await;
    assert_eq!(marks(&owner).await, json!({"rule": ["by human"]}));
    let mut person = human;
    person["x-supersedes"] = json!(["by human"]);
    owner.deposit(&answering("eve again", person)).await;
    assert_eq!(marks(&owner).await, json!({"by human": ["eve again"], "rule": ["by human"]}));
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_works_whichever_comes_first() {
    let world = World::new();
    let owner = world.owner();
    let links = json!({
        "x-answers": [{"package_id": "ask", "index": 1}], "x-supersedes": ["ask", "never"],
    });
    let stored = owner.deposit(&answering("first", links)).await;
    assert_eq!(warnings(&stored), ["unknown_package"; 3]);
    owner.deposit(&answering("ask", json!({"open_questions": ["Why?", "Who?"]}))).await;
    assert_eq!(open(&owner).await, ["Why?"]);
    assert_eq!(marks(&owner).await, json!({"ask": ["first"]}));
    // The package of another project is not meant.
    let other = json!({"project_id": "borealis", "open_questions": ["Who?"]});
    owner.deposit(&answering("never", other)).await;
    let list = owner.get("/v1/projects/borealis/packages").await.expect(200);
    assert_eq!(list.get("x-superseded"), None);
    let far = owner.get("/v1/projects/borealis/questions").await.expect(200);
    assert_eq!(each(&far["questions"], "question"), ["Who?"]);
    // Both orders of an import.
    let lines = export(&owner).await;
    for reverse in [false, true] {
        let copy = World::new();
        let mut lines: Vec<&str> = lines.lines().collect();
        if reverse {
            lines.reverse();
        }
        imported(&copy.owner(), &lines.join("\n")).await;
        assert_eq!(open(&copy.owner()).await, ["Why?"]);
        assert_eq!(marks(&copy.owner()).await, json!({"ask": ["first"]}));
        sound(&copy.owner()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_asked_again_is_open_again() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&asking("ask", &["Why?"])).await;
    let members = json!({"x-answers": [{"question": "Why?"}]});
    owner.deposit(&answering("answer", members.clone())).await;
    // Written before the answer, and deposited after it.
    owner.deposit(&asking("late", &["Why?"])).await;
    assert_eq!(open(&owner).await, [""; 0]);
    let log = owner.get("/v1/packages/answer/revisions").await.expect(200);
    let answered = Timestamp::parse(log["revisions"][0]["at"].as_str().unwrap()).unwrap().time();
    wait_until("the clock to go on", || Timestamp::parse(&days_ago(0)).unwrap().time() > answered)
        .await;
    owner.deposit(&answering("again", json!({"open_questions": ["why?", "Why?"]}))).await;
    assert_eq!(open(&owner).await, ["why?", "Why?"]);
    let list = owner.get(QUESTIONS).await.expect(200);
    let reopened = &list["questions"][1];
    assert_eq!(
        (&reopened["asked_by"], &reopened["answered_by"]),
        (&json!(["again"]), &json!(["answer"]))
    );
    owner.deposit(&answering("answer 2", members)).await;
    assert_eq!(open(&owner).await, [""; 0]);
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_that_replace_each_other_leave_one() {
    let world = World::new();
    let owner = world.owner();
    let at = |day: u32| json!(days_ago(day));
    for (id, day, other) in [("b", 3, "a"), ("a", 2, "b"), ("c", 1, "a")] {
        let links = json!({"created_at": at(day), "x-supersedes": [other]});
        owner.deposit(&answering(id, links)).await;
    }
    assert_eq!(marks(&owner).await, json!({"a": ["c"], "b": ["a"]}));
    owner
        .post(
            "/v1/projects/atlas/packages",
            &answering("self", json!({"x-supersedes": ["a", "self"]})),
        )
        .await
        .refused(400, "invalid_schema");
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_link_is_refused_at_a_deposit_and_kept_by_an_import() {
    let world = World::new();
    let owner = world.owner();
    let odd = json!({"x-answers": {"yes": 1}, "x-supersedes": [5, "ask"], "x-own": 1});
    let odd = answering("odd", odd);
    let refused = owner.post("/v1/projects/atlas/packages", &odd).await;
    let refused = refused.refused(400, "invalid_schema");
    assert_eq!(refused["pointer"], "/x-answers", "{refused:#}");
    let many: Vec<String> = (0..2_000).map(|number| format!("p{number}")).collect();
    let many = answering("many", json!({"x-supersedes": many}));
    imported(&owner, &format!("{odd}\n{many}")).await;
    let kept = owner.get("/v1/packages/odd").await.expect(200);
    assert_eq!(kept["x-answers"], json!({"yes": 1}));
    owner.deposit(&asking("ask", &["Why?"])).await;
    owner.deposit(&asking("p1999", &[])).await;
    owner.deposit(&asking("p999", &[])).await;
    // What can be understood holds, up to the limit of a deposit.
    assert_eq!(marks(&owner).await, json!({"ask": ["odd"], "p999": ["many"]}));
    assert_eq!(open(&owner).await, ["Why?"]);
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warnings_say_nothing_about_the_drafts_of_others() {
    let world = World::new();
    let (ada, bob) = (world.key_of("ada"), world.key_of("bob"));
    let draft = json!({"status": "draft", "open_questions": ["Secret?"]});
    ada.deposit(&answering("draft", draft)).await;
    let links = |by: &str, kind: &str| {
        json!({
            "created_by": {"id": by, "type": kind}, "x-supersedes": ["draft"],
            "x-answers": [{"question": "Secret?"}, {"package_id": "draft", "index": 7}],
        })
    };
    // Of a question, that it is not asked where all can see it; of the package, nothing.
    let stored = bob.deposit(&answering("bob", links("bob", "agent"))).await;
    assert_eq!(warnings(&stored), ["unknown_question"]);
    let stored = ada.deposit(&answering("ada", links("ada", "agent"))).await;
    assert_eq!(warnings(&stored), ["unknown_question"], "{stored}");
    let seen = bob.get(&format!("{QUESTIONS}?all=true")).await.expect(200);
    assert_eq!(seen["questions"], json!([]));
    let reader = world.key(&KeyScope::new(vec![Verb::Read], Some(vec![])));
    reader.get(QUESTIONS).await.refused(403, "unauthorized");
    ada.get("/v1/projects/nowhere/questions").await.refused(404, "project_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_answers_at_once_agree() {
    let world = World::new();
    let owner = world.owner();
    let deposits = (0..60).map(|number| {
        let package = match number % 3 {
            0 => asking(&format!("ask {number}"), &["Why?", "Who?"]),
            1 => answering(
                &format!("text {number}"),
                json!({"x-answers": [{"question": "who?"}], "x-supersedes": ["ask 0"]}),
            ),
            _ => answering(
                &format!("index {number}"),
                json!({"x-answers": [{"package_id": format!("ask {}", number - 2), "index": 0}]}),
            ),
        };
        let owner = owner.clone();
        async move { owner.deposit(&package).await }
    });
    join_all(deposits).await;
    assert_eq!(open(&owner).await, [""; 0]);
    assert_eq!(marks(&owner).await["ask 0"].as_array().unwrap().len(), 10);
    sound(&owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_answers_are_kept_and_listed() {
    let world = World::new();
    let owner = world.owner();
    let texts = |pack: usize| (0..1_000).map(move |number| format!("Question {pack}.{number}?"));
    for pack in 0..10 {
        let questions: Vec<String> = texts(pack).collect();
        let texts: Vec<&str> = questions.iter().map(String::as_str).collect();
        owner.deposit(&asking(&format!("ask {pack}"), &texts)).await;
    }
    for pack in 0..10 {
        let answers: Vec<Value> = match pack % 2 {
            0 => texts(pack).map(|text| json!({"question": text})).collect(),
            _ => (0..1_000)
                .map(|index| json!({"package_id": format!("ask {pack}"), "index": index}))
                .collect(),
        };
        let stored = owner
            .deposit(&answering(&format!("answer {pack}"), json!({"x-answers": answers})))
            .await;
        assert_eq!(warnings(&stored), [""; 0]);
    }
    assert_eq!(open(&owner).await, [""; 0]);
    let all = owner.get(&format!("{QUESTIONS}?all=true&limit=200")).await.expect(200);
    assert_eq!(all["questions"].as_array().unwrap().len(), 200);
    // One question, and ten thousand times the same answer.
    owner.deposit(&answering("once", json!({"open_questions": ["Once?"]}))).await;
    let same: Vec<Value> = (0..1_000).map(|_| json!({"question": "once?"})).collect();
    for pack in 0..10 {
        let same = answering(&format!("same {pack}"), json!({"x-answers": same}));
        owner.deposit(&same).await;
    }
    assert_eq!(open(&owner).await, [""; 0]);
    let too_many: Vec<Value> = (0..1_001).map(|_| json!({"question": "once?"})).collect();
    let too_many = answering("too many", json!({"x-answers": too_many}));
    owner.post("/v1/projects/atlas/packages", &too_many).await.refused(400, "too_many_items");
    sound(&owner).await;
}
