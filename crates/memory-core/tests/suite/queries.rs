//! What can be asked for.

use accord_api::parameter::ParamSet;
use accord_base::{Cursor, ProjectId, ProjectPosition, SessionId};
use accord_contract::{Code, Failure, Time};
use accord_memory_core::PackageId;
use accord_memory_core::fact::{AssertOptions, OutOfOrder};
use accord_memory_core::operations::{AssertParams, InvalidateParams};
use accord_memory_core::package::Status;
use accord_memory_core::query::{
    DigestQuery, FactPosition, FactQuery, FactTime, Latest, MAX_QUERY_BYTES, MAX_TERMS,
    OrientQuery, Orientation, PackageFilter, PackagePosition, Params, ProjectQuery, Pull,
    SessionPosition, SessionQuery, Terms,
};
use proptest::prelude::*;

use crate::support::{at, invalid, now, refused};

fn ask<P: ParamSet, T>(
    pairs: &[(&str, &str)],
    check: impl Fn(P) -> Result<T, Failure>,
) -> Result<T, Failure> {
    check(P::read(&Params::new(pairs.iter().copied())?)?)
}

fn pull(pairs: &[(&str, &str)]) -> Result<Pull, Failure> {
    ask(pairs, |asked| Pull::of(asked, &shop()))
}

fn reviews(pairs: &[(&str, &str)]) -> Result<Latest, Failure> {
    ask(pairs, |asked| Latest::reviews(asked, &shop()))
}

/// The project whose things are listed.
fn shop() -> ProjectId {
    ProjectId::new("shop").unwrap()
}

#[test]
fn reviews_are_what_awaits_one() {
    let all = reviews(&[]).unwrap();
    assert_eq!(all.limit, 50);
    assert_eq!(all.filter.status, Some(Status::AwaitingReview));
    assert_eq!(reviews(&[("limit", "200")]).unwrap().limit, 200);
    assert!(reviews(&[("limit", "201")]).is_err());
    assert!(reviews(&[("cursor", "nonsense")]).is_err());
}

#[test]
fn a_pull_that_says_nothing_is_for_the_five_latest() {
    let latest = |limit| {
        Pull::Latest(Latest {
            limit,
            after: None,
            max_tokens: None,
            filter: PackageFilter::default(),
        })
    };
    assert_eq!(pull(&[]).unwrap(), latest(5));
    assert_eq!(pull(&[("mode", "latest"), ("utm", "x")]).unwrap(), latest(5));
    for (text, limit) in [("1", 1), ("3", 3), ("200", 200), ("007", 7)] {
        assert_eq!(pull(&[("limit", text)]).unwrap(), latest(limit));
    }
    for wrong in ["0", "-1", "abc", "201", "", "+5", "5.0", " 5", "99999999999"] {
        assert_eq!(refused(pull(&[("limit", wrong)])), invalid("/limit"), "{wrong:?}");
    }
    assert_eq!(refused(pull(&[("limit", "1"), ("limit", "2")])), invalid("/limit"));
}

#[test]
fn a_pull_can_be_narrowed() {
    let Pull::Latest(latest) =
        pull(&[("status", "awaiting_review"), ("session_id", "s1")]).unwrap()
    else {
        panic!("it asks for the latest")
    };
    assert_eq!(latest.filter.status, Some(Status::AwaitingReview));
    assert_eq!(latest.filter.session, Some(SessionId::new("s1").unwrap()));
    assert_eq!(refused(pull(&[("status", "open")])), invalid("/status"));
    assert_eq!(refused(pull(&[("session_id", "")])), invalid("/session_id"));
    assert_eq!(refused(pull(&[("mode", "next")])), invalid("/mode"));
    assert_eq!(refused(pull(&[("mode", "specific")])), invalid("/package_id"));
    let one = pull(&[("mode", "specific"), ("package_id", "日本/1")]).unwrap();
    assert_eq!(one, Pull::Specific(PackageId::new("日本/1").unwrap()));
}

#[test]
fn a_search_needs_a_query_and_takes_any() {
    for wrong in [
        vec![("mode", "relevant")],
        vec![("mode", "relevant"), ("query", "")],
        vec![("mode", "relevant"), ("query", " \t")],
    ] {
        assert_eq!(refused(pull(&wrong)), invalid("/query"));
    }
    let long = "x".repeat(MAX_QUERY_BYTES + 1);
    let outcome = pull(&[("mode", "relevant"), ("query", &long)]);
    assert_eq!(refused(outcome), (Code::AgenticTextTooLong, "/query".into()));
    let words = |query: &str| match pull(&[("mode", "relevant"), ("query", query)]).unwrap() {
        Pull::Relevant(relevant) => {
            assert_eq!((relevant.query.as_str(), relevant.limit), (query, 5));
            relevant.terms.words().join(" ")
        }
        other => panic!("{other:?}"),
    };
    for (query, expected) in [
        ("\" OR (", "or"),
        ("*", ""),
        ("NEAR/3(a b)", "near 3 a b"),
        ("title:x^2 -y {z}", "title x 2 y z"),
        ("😀", ""),
        ("Größe GRÖSSE größe", "größe grösse"),
        ("re\u{301}sume\u{301}", "re\u{301}sume\u{301}"),
        ("\u{301}", ""),
        ("検索 auto_deposit don't", "検索 auto deposit don t"),
    ] {
        assert_eq!(words(query), expected, "{query}");
    }
    let many: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
    assert_eq!(Terms::parse(&many.join(" ")).unwrap().words().len(), MAX_TERMS);
}

#[test]
fn facts_are_asked_for_by_time() {
    let facts = |pairs: &[(&str, &str)]| ask(pairs, |asked| FactQuery::of(asked, &shop()));
    let plain = facts(&[]).unwrap();
    assert_eq!(
        (plain.time, plain.limit, plain.subject, plain.after),
        (FactTime::Current, 100, None, None)
    );
    let day = FactTime::AsOf(at("2026-04-10T00:00:00Z"));
    assert_eq!(facts(&[("as_of", "2026-04-10")]).unwrap().time, day);
    assert_eq!(facts(&[("at", "2026-04-10T00:00:00Z")]).unwrap().time, day);
    assert_eq!(
        facts(&[("at", "2026-04-10"), ("as_of", "2026-04-10T00:00:00.0Z")]).unwrap().time,
        day
    );
    assert_eq!(facts(&[("history", "true")]).unwrap().time, FactTime::History);
    assert_eq!(facts(&[("subject", "a/b?c")]).unwrap().subject.as_deref(), Some("a/b?c"));
    for (pairs, pointer) in [
        (vec![("as_of", "yesterday")], "/as_of"),
        (vec![("as_of", "2026-04-10T00:00:00+02:00")], "/as_of"),
        (vec![("as_of", "2026-04-10"), ("at", "2026-04-11")], "/at"),
        (vec![("as_of", "2026-04-10"), ("history", "true")], "/history"),
        (vec![("history", "maybe")], "/history"),
        (vec![("limit", "1001")], "/limit"),
        (vec![("subject", "")], "/subject"),
    ] {
        assert_eq!(refused(facts(&pairs)), invalid(pointer));
    }
}

#[test]
fn an_invalidation_names_subject_and_predicate() {
    let parse = |pairs: &[(&str, &str)]| {
        ask(pairs, |asked: InvalidateParams| Ok(asked.expected()?.map(str::to_owned)))
    };
    let both = [("subject", "a"), ("predicate", "b")];
    assert_eq!(parse(&both).unwrap(), None);
    for name in ["object", "value"] {
        assert_eq!(parse(&[both[0], both[1], (name, "")]).unwrap().as_deref(), Some(""));
    }
    assert_eq!(refused(parse(&both[..1])), invalid("/predicate"));
    assert_eq!(refused(parse(&both[1..])), invalid("/subject"));
    let two = [both[0], both[1], ("object", "1"), ("value", "2")];
    assert_eq!(refused(parse(&two)), invalid("/object"));
}

#[test]
fn an_invalidation_can_name_its_author() {
    let author = |more: &[(&str, &str)]| {
        let pairs = [&[("subject", "a"), ("predicate", "b")], more].concat();
        ask(&pairs, |asked: InvalidateParams| asked.author())
    };
    assert_eq!(author(&[]).unwrap(), None);
    let planner = author(&[("actor", "agent:planner"), ("session_id", "s1")]).unwrap().unwrap();
    assert_eq!(
        (planner.id.as_str(), planner.session().map(SessionId::as_str)),
        ("planner", Some("s1"))
    );
    assert_eq!(refused(author(&[("actor", "planner")])), invalid("/actor"));
    assert_eq!(refused(author(&[("session_id", "s1")])), invalid("/session_id"));
}

#[test]
fn an_assertion_can_be_meant_in_other_ways() {
    let options =
        |pairs: &[(&str, &str)]| ask(pairs, |asked: AssertParams| Ok(AssertOptions::from(asked)));
    assert_eq!(options(&[]).unwrap(), AssertOptions::default());
    let both = options(&[("if_changed", "true"), ("if_out_of_order", "reject")]).unwrap();
    assert_eq!((both.if_changed, both.if_out_of_order), (true, OutOfOrder::Reject));
    assert_eq!(refused(options(&[("if_out_of_order", "drop")])), invalid("/if_out_of_order"));
    assert_eq!(refused(options(&[("if_changed", "yes")])), invalid("/if_changed"));
}

#[test]
fn windows_snippets_and_budgets_have_bounds() {
    let orient = |pairs: &[(&str, &str)]| {
        ask(pairs, Orientation::of).map(|asked| match asked {
            Orientation::Bundle(query) => query,
            Orientation::Briefing(_) => panic!("a briefing"),
        })
    };
    assert_eq!(orient(&[]).unwrap(), OrientQuery::default());
    let plain = OrientQuery::default();
    assert_eq!((plain.window_days, plain.limit, plain.max_tokens), (14, 20, None));
    assert_eq!(now().days_before(plain.window_days), at("2026-04-17T00:00:00Z"));
    assert_eq!(
        orient(&[("window_days", "3660"), ("max_tokens", "4000")]).unwrap().max_tokens,
        Some(4000)
    );
    for wrong in ["0", "-1", "x", "3661"] {
        assert_eq!(refused(orient(&[("window_days", wrong)])), invalid("/window_days"));
    }
    assert_eq!(refused(orient(&[("max_tokens", "10")])), invalid("/max_tokens"));

    let digest = |pairs: &[(&str, &str)]| ask(pairs, DigestQuery::of);
    let plain = digest(&[]).unwrap();
    assert_eq!(
        (plain.project, plain.focus, plain.snippets, plain.window_days),
        (None, None, 25, 14)
    );
    assert!(!plain.include_archived);
    let full = digest(&[("project", "p"), ("focus", "Index speed"), ("snippets", "0")]).unwrap();
    assert_eq!(full.project, Some(ProjectId::new("p").unwrap()));
    let focus = full.focus.unwrap();
    assert_eq!(
        (focus.text.as_str(), focus.terms.words().len(), full.snippets),
        ("Index speed", 2, 0)
    );
    assert_eq!(digest(&[("focus", " ")]).unwrap().focus, None);
    assert_eq!(refused(digest(&[("snippets", "201")])), invalid("/snippets"));
    assert_eq!(refused(digest(&[("project", "")])), invalid("/project"));
    let long = "x".repeat(MAX_QUERY_BYTES + 1);
    assert_eq!(refused(digest(&[("focus", &long)])), (Code::AgenticTextTooLong, "/focus".into()));
}

#[test]
fn listings_of_projects_and_sessions() {
    let projects = ask(&[("include_archived", "1")], ProjectQuery::of).unwrap();
    assert_eq!((projects.include_archived, projects.limit, projects.after), (true, 50, None));
    let sessions = ask(&[("callsign", "calm-fox"), ("active", "true"), ("limit", "2")], |asked| {
        SessionQuery::of(asked, &shop())
    })
    .unwrap();
    assert_eq!(
        (sessions.callsign.as_deref(), sessions.active, sessions.limit),
        (Some("calm-fox"), true, 2)
    );
}

#[test]
fn a_cursor_is_of_its_listing() {
    let place = PackagePosition { created_at: now(), seq: 7 };
    let Pull::Latest(latest) = pull(&[("cursor", &place.encode(&shop()))]).unwrap() else {
        panic!("it asks for the latest")
    };
    assert_eq!(latest.after, Some(place));
    let session = SessionPosition { started_at: now(), seq: 7 };
    let project = ProjectPosition { project_id: ProjectId::new("p").unwrap() };
    for wrong in [
        place.encode(&ProjectId::new("shops").unwrap()),
        session.encode(&shop()),
        project.encode(),
        String::new(),
        "!".into(),
        "W10".into(),
        place.encode(&shop()).to_lowercase(),
    ] {
        let expected = (Code::AgenticInvalidCursor, "/cursor".to_owned());
        assert_eq!(refused(pull(&[("cursor", &wrong)])), expected, "{wrong}");
    }
    assert_eq!(SessionPosition::decode(&session.encode(&shop()), &shop()).unwrap(), session);
    assert_eq!(ProjectPosition::decode(&project.encode()).unwrap(), project);
}

proptest! {
    #[test]
    fn cursors_stand_for_their_places(
        seconds in Time::MIN.unix_seconds()..=Time::MAX.unix_seconds(),
        nanos in 0..1_000_000_000_u32,
        seq: u64, subject in "\\PC{0,20}", predicate in "\\PC{0,20}",
    ) {
        let instant = Time::from_unix(seconds, nanos).unwrap();
        let place = PackagePosition { created_at: instant, seq };
        prop_assert_eq!(PackagePosition::decode(&place.encode(&shop()), &shop()).unwrap(), place);
        let place = FactPosition { subject, predicate, valid_from: instant, seq };
        let text = place.encode(&shop());
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        prop_assert!(text.bytes().all(allowed));
        prop_assert_eq!(FactPosition::decode(&text, &shop()).unwrap(), place);
    }

    #[test]
    fn no_text_makes_a_reader_stumble(text in "\\PC{0,60}") {
        let _ = PackagePosition::decode(&text, &shop());
        let _ = FactPosition::decode(&text, &shop());
        let terms = Terms::parse(&text).unwrap();
        for word in terms.words() {
            prop_assert!(!word.contains(['"', '*', '(', ')', ':', '^', ' ', '-']));
        }
    }
}
