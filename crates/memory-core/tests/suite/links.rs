//! What packages answer and supersede: how links are read, and from when they hold.

use accord_base::ActorType;
use accord_contract::Code;
use accord_memory_core::PackageId;
use accord_memory_core::deposit::{Deposit, DepositState, LinkTarget, LinkTargets, deposit};
use accord_memory_core::lifecycle::{Side, Standing};
use accord_memory_core::package::{AnswerLink, Links, QuestionKey, Status, answer_item};
use serde_json::{Value, json};

use crate::support::{at, invalid, package, project, project_id, refused, with, writing};

fn id(text: &str) -> PackageId {
    PackageId::new(text).unwrap()
}

fn sent(members: Value, targets: LinkTargets) -> Result<Vec<(String, String)>, (Code, String)> {
    let (id, here) = (project_id(), project());
    let state = DepositState { links: targets, ..DepositState::default() };
    let decided = deposit(&package(&with(members)), &writing(&id, Some(&here), None), &state);
    match decided {
        Ok(Deposit::New { warnings, .. }) => {
            Ok(warnings.into_iter().map(|it| (it.code, it.field)).collect())
        }
        other => Err(refused(other)),
    }
}

#[test]
fn links_are_read_from_their_members() {
    let linked = package(&with(json!({
        "x-answers": [{"question": " Why? "}, {"package_id": "pkg_0", "index": 2.0}],
        "x-supersedes": ["pkg_0", "b", "pkg_0"],
    })));
    let links = Links::of(linked.fields());
    let asked = AnswerLink::Asked { package_id: id("pkg_0"), index: 2 };
    assert_eq!(links.answers, [AnswerLink::Question(QuestionKey::of("why?")), asked]);
    assert_eq!(links.supersedes, [id("pkg_0"), id("b")]);
    assert!(Links::check(linked.fields()).is_ok());
    let none = package(&with(json!({"x-answers": null, "parent_package_id": "pkg_0"})));
    assert!(Links::of(none.fields()).is_empty(), "a parent is not superseded");
}

#[test]
fn a_deposit_with_a_wrong_link_is_refused_at_its_place() {
    let many: Vec<_> = (0..1_001).map(|n| json!(format!("p{n}"))).collect();
    let long = "a".repeat(65 * 1024);
    for (members, pointer) in [
        (json!({"x-answers": "Why?"}), "/x-answers"),
        (json!({"x-answers": ["Why?"]}), "/x-answers/0"),
        (json!({"x-answers": [{}]}), "/x-answers/0"),
        (json!({"x-answers": [{"question": "Why?", "index": 0}]}), "/x-answers/0"),
        (
            json!({"x-answers": [{"question": "Why?", "package_id": "p", "index": 0}]}),
            "/x-answers/0",
        ),
        (json!({"x-answers": [{"question": " "}]}), "/x-answers/0/question"),
        (json!({"x-answers": [{"question": 5}]}), "/x-answers/0/question"),
        (json!({"x-answers": [{"package_id": "p"}]}), "/x-answers/0/index"),
        (json!({"x-answers": [{"package_id": "p", "index": -1}]}), "/x-answers/0/index"),
        (json!({"x-answers": [{"package_id": "p", "index": 1.5}]}), "/x-answers/0/index"),
        (json!({"x-answers": [{"package_id": "p", "index": 1000}]}), "/x-answers/0/index"),
        (json!({"x-answers": [{"package_id": "", "index": 0}]}), "/x-answers/0/package_id"),
        (json!({"x-answers": [{"package_id": "pkg_1", "index": 0}]}), "/x-answers/0"),
        (json!({"open_questions": ["Why?"], "x-answers": [{"question": "WHY?"}]}), "/x-answers/0"),
        (json!({"x-supersedes": "pkg_0"}), "/x-supersedes"),
        (json!({"x-supersedes": ["pkg_0", 7]}), "/x-supersedes/1"),
        (json!({"x-supersedes": ["pkg_1"]}), "/x-supersedes/0"),
    ] {
        let outcome = sent(members.clone(), LinkTargets::default());
        assert_eq!(outcome, Err(invalid(pointer)), "{members}");
        // Stored or imported elsewhere, it is a package like any other.
        Links::of(package(&with(members)).fields());
    }
    let outcome = sent(json!({"x-supersedes": many}), LinkTargets::default());
    assert_eq!(outcome, Err((Code::AgenticTooManyItems, "/x-supersedes".into())));
    let outcome = sent(json!({"x-answers": [{"question": long}]}), LinkTargets::default());
    assert_eq!(outcome, Err((Code::AgenticTextTooLong, "/x-answers/0/question".into())));
}

#[test]
fn a_link_without_effect_gives_a_warning() {
    use LinkTarget::{ByPerson, Found, NoPackage, NoQuestion};
    let members = |kind: &str, status: &str| {
        json!({
            "created_by": {"id": "a", "type": kind}, "status": status,
            "x-answers": [
                {"question": "Why?"}, {"question": "Who?"},
                {"package_id": "a", "index": 0}, {"package_id": "b", "index": 7},
            ],
            "x-supersedes": ["c", "d", "e"],
        })
    };
    let targets = LinkTargets {
        answers: vec![Found, NoQuestion, NoPackage, NoQuestion],
        supersedes: vec![Found, NoPackage, ByPerson],
    };
    let warn = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    let mut expected = vec![
        warn("unknown_question", "x-answers"),
        warn("unknown_package", "x-answers"),
        warn("unknown_question", "x-answers"),
        warn("unknown_package", "x-supersedes"),
    ];
    for (kind, status) in [("human", "complete"), ("agent", "awaiting_review")] {
        assert_eq!(sent(members(kind, status), targets.clone()), Ok(expected.clone()));
    }
    expected.push(warn("human_review_needed", "x-supersedes"));
    for kind in ["agent", "script"] {
        assert_eq!(sent(members(kind, "complete"), targets.clone()), Ok(expected.clone()));
    }
}

#[test]
fn a_text_names_a_question_or_a_place() {
    for (text, item) in [
        ("Why?", json!({"question": "Why?"})),
        ("pkg_0#2", json!({"package_id": "pkg_0", "index": 2})),
        ("a#b#0", json!({"package_id": "a#b", "index": 0})),
        ("Is it issue #5", json!({"question": "Is it issue #5"})),
        ("issue #5", json!({"question": "issue #5"})),
        ("#5", json!({"question": "#5"})),
        ("C#", json!({"question": "C#"})),
        ("pkg_0#+2", json!({"question": "pkg_0#+2"})),
        ("pkg_0#99999999999", json!({"question": "pkg_0#99999999999"})),
    ] {
        assert_eq!(answer_item(text), item, "{text}");
    }
}

const CREATED: &str = "2026-04-18T20:00:00Z";

fn entry(status: &str, actor: Value, second: u32) -> String {
    let at = format!("2026-04-18T20:00:{second:02}Z");
    json!({"seq": 1, "status": status, "actor": actor, "at": at, "note": "x"}).to_string()
}

fn standing(author: ActorType, status: Status, log: &[String]) -> Standing {
    Standing::of(at(CREATED), author, status, log.iter().map(String::as_str))
}

#[test]
fn only_a_complete_package_answers_and_by_both_clocks() {
    let agent = json!({"id": "a", "type": "agent"});
    let draft = [entry("draft", agent.clone(), 10)];
    let found = standing(ActorType::Agent, Status::Draft, &draft);
    assert_eq!((found.asked_at, found.answers_until), (at(CREATED), None));
    for status in [Status::AwaitingReview, Status::RevisionRequested] {
        assert_eq!(standing(ActorType::Agent, status, &draft).answers_until, None);
    }
    let log = [entry("draft", agent.clone(), 10), entry("complete", agent, 30)];
    let found = standing(ActorType::Agent, Status::Complete, &log);
    assert_eq!(found.answers_until, Some(at("2026-04-18T20:00:30Z")));
    // A created_at ahead of the server's clock.
    let late = Standing::of(
        at("2026-04-18T21:00:00Z"),
        ActorType::Agent,
        Status::Complete,
        log.iter().map(String::as_str),
    );
    assert_eq!(late.asked_at, at("2026-04-18T20:00:10Z"));
    assert_eq!(late.answers_until, Some(at("2026-04-18T21:00:00Z")));
    // A log that cannot be read.
    let found = standing(ActorType::Agent, Status::Complete, &["?".to_owned()]);
    assert_eq!((found.asked_at, found.answers_until), (at(CREATED), Some(at(CREATED))));
}

#[test]
fn a_persons_package_is_superseded_by_people_and_after_their_review() {
    let [human, agent] = ["human", "agent"].map(|kind| json!({"id": "a", "type": kind}));
    let reviewed_by =
        |by: &Value| [entry("awaiting_review", agent.clone(), 1), entry("complete", by.clone(), 2)];
    let outranks = |author, log: &[String]| standing(author, Status::Complete, log).outranks_people;
    assert!(outranks(ActorType::Human, &[entry("complete", agent.clone(), 1)]));
    assert!(outranks(ActorType::Agent, &reviewed_by(&human)));
    assert!(!outranks(ActorType::Agent, &reviewed_by(&agent)));
    assert!(!outranks(ActorType::Script, &reviewed_by(&Value::Null)));
    // A person completed it, but reviewed nothing.
    let log = [entry("draft", agent.clone(), 1), entry("complete", human.clone(), 2)];
    assert!(!outranks(ActorType::Agent, &log));
    // A person asked for changes, and the agent completed it without a further review.
    let log = [
        entry("awaiting_review", agent.clone(), 1),
        entry("revision_requested", human, 2),
        entry("complete", agent.clone(), 3),
    ];
    assert!(!outranks(ActorType::Agent, &log));
    assert!(!outranks(ActorType::Agent, &[entry("complete", agent, 1)]));
}

#[test]
fn of_two_that_supersede_each_other_the_later_one_does() {
    let (early, late) = (id("b"), id("a"));
    let complete = standing(ActorType::Agent, Status::Complete, &[]);
    let side = |package_id, created_at: &str, author, standing| Side {
        package_id,
        created_at: at(created_at),
        author,
        standing,
    };
    let old = side(&early, CREATED, ActorType::Agent, Some(complete));
    let new = side(&late, "2026-04-18T20:00:01Z", ActorType::Agent, Some(complete));
    assert!(old.supersedes(&new, false), "a link to a later package holds");
    assert!(!old.supersedes(&new, true) && new.supersedes(&old, true));
    // At the same instant the ids decide, so that one of them remains.
    let same = side(&late, CREATED, ActorType::Agent, Some(complete));
    assert!(old.supersedes(&same, true) && !same.supersedes(&old, true));
    // The later one may not supersede, so the earlier one does.
    let human = side(
        &early,
        CREATED,
        ActorType::Human,
        Some(Standing { outranks_people: true, ..complete }),
    );
    assert!(human.supersedes(&new, true) && !new.supersedes(&human, true));
    // Quarantined, or not complete.
    for standing in [None, Some(standing(ActorType::Agent, Status::AwaitingReview, &[]))] {
        assert!(!Side { standing, ..new }.supersedes(&old, false));
    }
}
