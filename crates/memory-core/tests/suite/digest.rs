//! Digests, highlights and excerpts.

use accord_api::parameter::ParamSet as _;
use accord_base::{ActorType, ProjectId};
use accord_contract::Wire as _;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::{
    ActorCount, DigestRows, Excerpt, Highlight, MAX_DIGEST_FACTS, MAX_HIGHLIGHTS, OpenQuestions,
    ProjectCount, Snippet, TypeCount, digest, excerpt,
};
use accord_memory_core::operations::DigestParams;
use accord_memory_core::package::PackageType;
use accord_memory_core::query::{DigestQuery, Params, Terms};
use serde_json::{Value, json};

use crate::support::{fact, key, now, package, project, with};

fn query(pairs: &[(&str, &str)]) -> DigestQuery {
    let asked = DigestParams::read(&Params::new(pairs.iter().copied()).unwrap()).unwrap();
    DigestQuery::of(asked).unwrap()
}

#[test]
fn a_digest_has_its_members() {
    let project = project();
    let mut questions = OpenQuestions::default();
    questions.offer("why?", &PackageId::new("p").unwrap());
    let highlight = Highlight::of(
        package(&with(json!({"significance": 9}))).fields(),
        vec![PackageId::new("pkg_new").unwrap()],
    );
    let snippet = |name: &str| Snippet {
        project_id: project.project_id.clone(),
        package_id: PackageId::new(name).unwrap(),
        score: 1.5,
        excerpt: Excerpt { field: "title", text: "Indexes".into() },
        superseded_by: Vec::new(),
    };
    let type_count =
        |name: &str, count| TypeCount { package_type: PackageType::parse(name).unwrap(), count };
    let rows = DigestRows {
        project: Some(&project),
        by_type: &[type_count("milestone", 2), type_count("x-eval", 1)],
        by_actor: &[ActorCount { actor: key("ada", ActorType::Human), count: 3 }],
        highlights: std::slice::from_ref(&highlight),
        facts: &[fact(json!({}))],
        questions: &questions,
        snippets: &[snippet("a"), snippet("b")],
        projects: &[ProjectCount {
            project_id: ProjectId::new("atlas").unwrap(),
            packages: 3,
            open_questions: 1,
            awaiting_review: 0,
        }],
        damaged: &[],
    };
    let bundle: Value =
        serde_json::from_str(&digest(&rows, &query(&[("snippets", "1")]), now())).unwrap();
    let expected = json!({
        "project": project.encode(), "scope": "project", "window_days": 14,
        "generated_at": "2026-05-01T00:00:00.000Z",
        "summary": {
            "package_count": 3, "by_type": {"milestone": 2, "x-eval": 1},
            "by_actor": [{"id": "ada", "type": "human", "package_count": 3}],
            "highlights": [{
                "project_id": "atlas", "package_id": "pkg_1", "title": "Indexes rebuilt",
                "package_type": "milestone",
                "significance": 9, "created_at": "2026-04-18T20:00:00Z",
                "superseded_by": ["pkg_new"],
            }],
        },
        "active_facts": [fact(json!({})).encode()], "open_questions": ["why?"],
        "snippets": [{"project_id": "atlas", "package_id": "a", "score": 1.5, "text": "Indexes",
        "field": "title"}],
        "projects": [{"project_id": "atlas", "package_count": 3, "open_question_count": 1,
        "awaiting_review_count": 0}],
    });
    assert_eq!(bundle, expected);
}

#[test]
fn a_global_digest_has_no_project_and_says_what_it_cut() {
    let facts = vec![fact(json!({})); MAX_DIGEST_FACTS + 1];
    let highlights =
        vec![Highlight::of(package(&with(json!({}))).fields(), Vec::new()); MAX_HIGHLIGHTS + 1];
    let rows = DigestRows {
        project: None,
        by_type: &[],
        by_actor: &[],
        highlights: &highlights,
        facts: &facts,
        questions: &OpenQuestions::default(),
        snippets: &[],
        projects: &[],
        damaged: &["pkg_1".to_owned(), "fact_2".to_owned()],
    };
    let bundle: Value = serde_json::from_str(&digest(&rows, &query(&[]), now())).unwrap();
    assert_eq!((&bundle["project"], &bundle["scope"]), (&Value::Null, &json!("global")));
    assert_eq!(bundle["x-integrity_warnings"], json!(["pkg_1", "fact_2"]));
    assert_eq!(bundle["active_facts"].as_array().unwrap().len(), MAX_DIGEST_FACTS);
    assert_eq!(bundle["summary"]["highlights"].as_array().unwrap().len(), MAX_HIGHLIGHTS);
    assert_eq!(bundle["x-left_out"], json!([{"member": "active_facts", "reason": "limit"}]));
}

#[test]
fn highlights_rank_by_weight_then_by_age() {
    let of = |significance: Value, created_at: &str| {
        Highlight::of(
            package(&with(json!({"significance": significance, "created_at": created_at})))
                .fields(),
            Vec::new(),
        )
        .rank()
    };
    let day = |day: u8| format!("2026-04-{day:02}T00:00:00Z");
    assert!(of(json!(9), &day(1)) > of(json!(8), &day(2)));
    assert!(of(json!(null), &day(2)) > of(json!(5), &day(1)));
    assert!(of(json!(6), &day(1)) > of(json!(null), &day(2)));
}

#[test]
fn an_excerpt_is_from_where_most_words_stand() {
    let body =
        format!("{} the index was slow under load {}", "lead ".repeat(100), "tail ".repeat(100));
    let found = package(&with(json!({
        "title": "About the index", "decisions_made": ["keep it", "Index per project"],
        "content_md": body,
    })));
    let look = |words: &str| excerpt(found.fields(), &Terms::parse(words).unwrap());
    assert_eq!(look("index"), Excerpt { field: "title", text: "About the index".into() });
    assert_eq!(
        look("project index"),
        Excerpt { field: "decisions_made", text: "Index per project".into() }
    );
    assert_eq!(look("proj").field, "decisions_made");
    let long = look("SLOW load");
    assert_eq!(long.field, "content_md");
    assert!(
        long.text.starts_with('…')
            && long.text.ends_with('…')
            && long.text.contains("slow under load")
    );
    assert_eq!(long.text.chars().count(), 242);
    assert_eq!(look("nowhere").field, "title");
    assert_eq!(look("").field, "title");
}
