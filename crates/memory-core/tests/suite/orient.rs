//! Orientations, and the questions in them.

use accord_base::{ProjectId, tokens};
use accord_contract::Wire as _;
use accord_memory_core::bundle::{
    MAX_QUESTION_ROWS, MAX_QUESTIONS, Mark, OpenQuestions, OrientRows, orient,
};
use accord_memory_core::query::{MIN_TOKENS, OrientQuery};
use accord_memory_core::{PackageId, Project};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{fact, minimal, now, object, project, with};

fn id(text: &str) -> PackageId {
    PackageId::new(text).unwrap()
}

/// The text of a fact, as it is stored.
fn stored_fact(number: usize) -> String {
    let fact = fact(json!({"fact_id": format!("f{number}")}));
    fact.encode().to_string()
}

/// The names of a bundle's members.
fn members(bundle: &Value) -> Vec<&str> {
    bundle.as_object().unwrap().keys().map(String::as_str).collect()
}

fn bundle(rows: &OrientRows<'_>, max_tokens: Option<u32>) -> Value {
    let query = OrientQuery { max_tokens, ..OrientQuery::default() };
    serde_json::from_str(&orient(rows, &query, now())).unwrap()
}

#[test]
fn a_bundle_has_exactly_its_members() {
    let project = project();
    let rows = OrientRows {
        project: &project,
        packages: &[],
        marks: &[],
        more_packages: false,
        damaged: &[],
        facts: &[],
        questions: &OpenQuestions::default(),
    };
    let expected = json!({
        "project": project.encode(), "recent_packages": [], "active_facts": [],
        "open_questions": [],
        "window_days": 14, "generated_at": "2026-05-01T00:00:00.000Z",
    });
    assert_eq!(bundle(&rows, None), expected);
    assert_eq!(bundle(&rows, Some(MIN_TOKENS)), expected);
}

#[test]
fn packages_stand_as_they_are_and_questions_once() {
    let (project, stored) = (project(), fact(json!({"x-own": 1})).encode().to_string());
    let facts = [stored.as_str()];
    let texts =
        [with(json!({"x": 1.0})).to_string(), "{\"a\" : 1E5,\n\"b\":\"\\u00e9\"}".to_owned()];
    let packages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut questions = OpenQuestions::default();
    for (question, package) in
        [("why?", "new"), (" how? ", "new"), ("why?", "old"), ("", "old"), ("why?", "new")]
    {
        assert!(questions.offer(question, &id(package)));
    }
    let damaged = ["bad".to_owned()];
    let rows = OrientRows {
        project: &project,
        packages: &packages,
        marks: &[],
        more_packages: true,
        damaged: &damaged,
        facts: &facts,
        questions: &questions,
    };
    let text = orient(&rows, &OrientQuery::default(), now());
    assert!(texts.iter().all(|package| text.contains(package)));
    let bundle: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bundle["open_questions"], json!(["why?", "how?"]));
    assert_eq!(bundle["x-open_question_sources"], json!([["new", "old"], ["new"]]));
    assert_eq!(bundle["active_facts"], json!([fact(json!({"x-own": 1})).encode()]));
    assert_eq!(bundle["x-integrity_warnings"], json!(["bad"]));
    let left_out = json!([
        {"member": "recent_packages", "reason": "limit"},
        {"member": "recent_packages", "reason": "integrity", "count": 1},
    ]);
    assert_eq!(bundle["x-left_out"], left_out);
    let known = [
        "project",
        "recent_packages",
        "active_facts",
        "open_questions",
        "window_days",
        "generated_at",
    ];
    assert!(members(&bundle).iter().all(|name| known.contains(name) || name.starts_with("x-")));
}

#[test]
fn questions_are_capped_and_the_bundle_says_so() {
    let mut questions = OpenQuestions::default();
    for number in 0..MAX_QUESTIONS {
        assert!(questions.offer(&format!("{number}?"), &id("p")));
    }
    assert!(questions.offer("3?", &id("q")), "one that is known costs nothing");
    assert!(!questions.is_cut());
    assert!(!questions.offer("one more?", &id("p")));
    assert!(questions.is_cut() && questions.len() == MAX_QUESTIONS);
    assert_eq!(questions.texts().next(), Some("0?"));

    let project = project();
    let rows = OrientRows {
        project: &project,
        packages: &[],
        marks: &[],
        more_packages: false,
        damaged: &[],
        facts: &[],
        questions: &questions,
    };
    let bundle = bundle(&rows, None);
    assert_eq!(bundle["open_questions"].as_array().unwrap().len(), MAX_QUESTIONS);
    assert_eq!(bundle["x-left_out"], json!([{"member": "open_questions", "reason": "limit"}]));

    let mut same = OpenQuestions::default();
    let wanted = (0..).take_while(|_| same.offer("again?", &id("p"))).count();
    assert_eq!((wanted, same.len(), same.is_cut()), (MAX_QUESTION_ROWS, 1, true));
}

#[test]
fn a_budget_leaves_out_the_old_and_the_large_and_says_so() {
    let mut project = project();
    project.description = "words ".repeat(20);
    let large = with(json!({"package_id": "large", "content_md": "x".repeat(50_000)})).to_string();
    let small = |name: &str| {
        with(json!({"package_id": name, "handoff_note": "and so on ".repeat(130)})).to_string()
    };
    let texts = [large, small("p1"), small("p2"), small("p3"), small("p4")];
    let packages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let stored: Vec<String> = (0..50).map(stored_fact).collect();
    let facts: Vec<&str> = stored.iter().map(String::as_str).collect();
    let mut questions = OpenQuestions::default();
    for number in 0..60 {
        questions.offer(&format!("question {number} {}", "and on ".repeat(14)), &id("p1"));
    }
    let rows = OrientRows {
        project: &project,
        packages: &packages,
        marks: &[],
        more_packages: false,
        damaged: &[],
        facts: &facts,
        questions: &questions,
    };
    let bundle = bundle(&rows, Some(3_400));
    let names = |member: &str, name: &str| -> Vec<String> {
        let list = bundle[member].as_array().unwrap();
        list.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("recent_packages", "package_id"), ["p1", "p2"]);
    assert_eq!(names("active_facts", "fact_id")[0], "f0");
    assert!(bundle["open_questions"][0].as_str().unwrap().starts_with("question 0 "));
    assert_eq!(bundle["project"]["description"], project.description);
    let counts = [("recent_packages", 5), ("active_facts", 50), ("open_questions", 60)];
    for (place, (member, all)) in counts.into_iter().enumerate() {
        let there = bundle[member].as_array().unwrap().len();
        assert!(there > 0 && there < all, "{member}: {there}");
        let said = &bundle["x-left_out"][place];
        assert_eq!((&said["member"], &said["reason"]), (&json!(member), &json!("budget")));
        assert_eq!(said["count"], all - there);
    }
}

#[test]
fn within_a_budget_what_matters_comes_first_and_what_does_not_fit_is_named() {
    let project = project();
    let mut texts: Vec<String> = (0..20)
        .map(|number| {
            let note = "what was done, step by step; ".repeat(30);
            let id = format!("auto_{number}");
            with(json!({"package_id": id, "significance": 2, "handoff_note": note})).to_string()
        })
        .collect();
    let rule = with(json!({"package_id": "rule", "significance": 9, "title": "The rule"}));
    texts.push(rule.to_string());
    let body = "one more line of the report\n".repeat(1_300);
    let handoff = json!({"package_id": "handoff", "title": "Go on here", "significance": 10,
        "content_md": body});
    texts.push(with(handoff).to_string());
    let packages: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = OrientRows {
        project: &project,
        packages: &packages,
        marks: &[],
        more_packages: false,
        damaged: &[],
        facts: &[],
        questions: &OpenQuestions::default(),
    };
    let bundle = bundle(&rows, Some(3_000));
    let shown = bundle["recent_packages"].as_array().unwrap();
    // In the order of the list, although the rule was chosen first.
    assert_eq!(shown.last().unwrap()["package_id"], "rule");
    let said = &bundle["x-left_out"][0];
    assert_eq!(said["count"], 22 - shown.len());
    let named = &said["packages"][0];
    assert_eq!((&named["package_id"], &named["title"]), (&json!("handoff"), &json!("Go on here")));
    assert!(named["tokens"].as_u64().unwrap() > 6_000, "{named}");
}

#[test]
fn the_marks_of_superseded_packages_stand_beside_them() {
    let (project, by) = (project(), [id("new"), id("newer")]);
    let text = minimal().to_string();
    let old = id("pkg_1");
    let rows = OrientRows {
        project: &project,
        packages: &[&text, &text],
        marks: &[None, Some(Mark { package_id: &old, by: &by })],
        more_packages: false,
        damaged: &[],
        facts: &[],
        questions: &OpenQuestions::default(),
    };
    let marked = bundle(&rows, None);
    assert_eq!(marked["x-superseded"], json!({"pkg_1": ["new", "newer"]}));
    assert_eq!(marked["recent_packages"][1], minimal());
    let rows = OrientRows { marks: &[], ..rows };
    assert_eq!(bundle(&rows, None).get("x-superseded"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_bundle_keeps_within_its_budget(
        budget in MIN_TOKENS..20_000,
        sizes in prop::collection::vec(0..30_000_usize, 0..12),
        facts in 0..60_usize,
        questions in prop::collection::vec("[a\\x01\"]{0,300}", 0..120),
        damaged in 0..40_usize,
        name in prop::sample::select(vec!["atlas", "\u{1}"]),
        words in 0..40_000_usize,
    ) {
        let long = name.repeat(if name.len() == 1 { 100 } else { 1 });
        let mut project = Project::bare(ProjectId::new(long).unwrap(), now());
        project.description = "d".repeat(words);
        project.extra = object(json!({"x-own": "e".repeat(words / 2)}));
        let text = |size: &usize| json!({"p": "x".repeat(*size)}).to_string();
        let texts: Vec<String> = sizes.iter().map(text).collect();
        let packages: Vec<&str> = texts.iter().map(String::as_str).collect();
        let stored: Vec<String> = (0..facts).map(stored_fact).collect();
        let facts: Vec<&str> = stored.iter().map(String::as_str).collect();
        let mut gathered = OpenQuestions::default();
        for question in &questions {
            gathered.offer(question, &id(&"\u{1}".repeat(500)));
        }
        let damaged: Vec<String> = (0..damaged).map(|_| "\u{1}".repeat(500)).collect();
        let (old, by) = (id(&"\u{1}".repeat(400)), vec![id(&"\u{1}".repeat(400)); 3]);
        let mark = Mark { package_id: &old, by: &by };
        let marks: Vec<_> = (0..packages.len()).map(|it| (it % 3 == 0).then_some(mark)).collect();
        let rows = OrientRows {
            project: &project,
            packages: &packages,
            marks: &marks,
            more_packages: true,
            damaged: &damaged,
            facts: &facts,
            questions: &gathered,
        };
        let query = OrientQuery { max_tokens: Some(budget), ..OrientQuery::default() };
        let text = orient(&rows, &query, now());
        prop_assert!(tokens(&text) <= budget as usize, "{} tokens of {}", tokens(&text), budget);
        let bundle: Value = serde_json::from_str(&text).unwrap();
        let named = bundle["project"]["project_id"].as_str();
        prop_assert_eq!(named, Some(project.project_id.as_str()));
        let missing = packages.len() - bundle["recent_packages"].as_array().unwrap().len();
        let said = bundle["x-left_out"].as_array().unwrap().iter()
            .find(|entry| entry["member"] == "recent_packages" && entry["reason"] == "budget");
        prop_assert_eq!(said.map_or(0, |entry| entry["count"].as_u64().unwrap() as usize), missing);
    }
}
