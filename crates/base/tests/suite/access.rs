//! Who may do and see what.

use accord_base::{Access, Actor, ActorId, ActorKey, ActorType, By, Door, KeyScope};
use accord_base::{ProjectId, Verb};
use accord_contract::{Code, Failure, Wire as _};
use serde_json::json;

fn project_id() -> ProjectId {
    ProjectId::new("atlas").unwrap()
}

fn actor(id: &str, kind: ActorType) -> Actor {
    Actor::new(ActorId::new(id).unwrap(), kind)
}

fn key(id: &str, kind: ActorType) -> ActorKey {
    actor(id, kind).key()
}

/// The code and the pointer of a refusal.
fn refused<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> (Code, String) {
    let failure = outcome.unwrap_err();
    (failure.code, failure.pointer.unwrap_or_default())
}

fn invalid(pointer: &str) -> (Code, String) {
    (Code::AgenticInvalidSchema, pointer.to_owned())
}

fn scope(verbs: &[Verb], projects: Option<&[&str]>) -> KeyScope {
    let ids = |names: &[&str]| names.iter().map(|id| ProjectId::new(*id).unwrap()).collect();
    KeyScope::new(verbs.to_vec(), projects.map(ids))
}

#[test]
fn a_key_does_what_its_verbs_say_where_its_projects_are() {
    let other = ProjectId::new("other").unwrap();
    let access = Access::of(&scope(&[Verb::Read, Verb::Write], Some(&["atlas"])));
    for (verb, allowed) in
        [(Verb::Read, true), (Verb::Write, true), (Verb::Review, false), (Verb::Admin, false)]
    {
        assert_eq!(access.may(verb, &project_id()).is_ok(), allowed);
        assert_eq!(access.may_anywhere(verb).is_ok(), allowed);
        assert_eq!(refused(access.may(verb, &other)).0, Code::AccessDenied);
    }
    assert_eq!(access.projects().unwrap().len(), 1);
    let admin = Access::of(&scope(&[Verb::Admin], None));
    let nothing = Access::of(&scope(&[Verb::Admin], Some(&[])));
    for verb in Verb::ALL {
        admin.may(*verb, &other).unwrap();
        Access::open().may(*verb, &other).unwrap();
        assert_eq!(refused(nothing.may(*verb, &other)).0, Code::AccessDenied);
    }
}

#[test]
fn a_key_writes_as_its_actor() {
    let ada = || actor("ada", ActorType::Human);
    let grace = || actor("grace", ActorType::Human);
    let own = scope(&[Verb::Write], None).bound_to(key("ada", ActorType::Human), false);
    let bound = Access::of(&own);
    let in_session = ada().in_session("s1".parse().unwrap());
    assert_eq!(bound.attribute(Some(in_session.clone()), "/created_by").unwrap(), Some(in_session));
    assert_eq!(bound.attribute(None, "/actor").unwrap(), Some(ada()));
    for other in [grace(), actor("ada", ActorType::Agent)] {
        let outcome = bound.attribute(Some(other), "/created_by");
        assert_eq!(refused(outcome), (Code::AccessDenied, "/created_by".into()));
    }
    let deputy =
        Access::of(&scope(&[Verb::Write], None).bound_to(key("ada", ActorType::Human), true));
    assert_eq!(deputy.attribute(Some(grace()), "/actor").unwrap(), Some(grace()));
    assert_eq!(deputy.attribute(None, "/actor").unwrap(), Some(ada()));
    let nobody = Access::of(&scope(&[Verb::Write], None));
    assert_eq!(nobody.attribute(Some(grace()), "/actor").unwrap(), Some(grace()));
    assert_eq!(nobody.attribute(None, "/actor").unwrap(), None);
}

#[test]
fn drafts_are_for_their_author_where_the_key_names_an_actor() {
    let author = key("ada", ActorType::Human);
    let bound =
        |id: &str, kind| Access::of(&scope(&[Verb::Read], None).bound_to(key(id, kind), true));
    assert!(bound("ada", ActorType::Human).sees_drafts_of(&author));
    for other in [bound("grace", ActorType::Human), bound("ada", ActorType::Agent)] {
        assert!(!other.sees_drafts_of(&author));
    }
    let nobody = Access::of(&scope(&[Verb::Read], None));
    assert!(nobody.sees_drafts_of(&author) && nobody.drafts_only_of().is_none());
    assert!(Access::open().sees_drafts_of(&author));
    assert_eq!(
        bound("ada", ActorType::Human).drafts_only_of(),
        Some(&key("ada", ActorType::Human))
    );
}

#[test]
fn a_scope_is_kept_as_json() {
    let full = scope(&[Verb::Read, Verb::Review], Some(&["a", "b"]))
        .bound_to(key("ada", ActorType::Script), true);
    let expected = json!({
        "verbs": ["read", "review"], "projects": ["a", "b"], "actor": {"id": "ada",
        "type": "script"}, "act_as": true,
    });
    assert_eq!(full.encode(), expected);
    assert_eq!(KeyScope::read(expected).unwrap(), full);
    let all = scope(&[Verb::Read], None);
    assert_eq!(KeyScope::read(all.encode()).unwrap(), all);
    let empty = json!({"verbs": [], "projects": null, "actor": null, "act_as": false});
    assert_eq!(refused(KeyScope::read(empty)), invalid("/verbs"));
    let wrong = json!({"verbs": ["fly"], "projects": null, "actor": null, "act_as": false});
    assert_eq!(refused(KeyScope::read(wrong)), invalid("/verbs/0"));
}

#[test]
fn no_request_names_an_agent_that_looks_like_another_actor() {
    let access = Access::open();
    for id in ["human:lead", "Human:lead", " human:lead", "script:accord", "agent:bot"] {
        for kind in [ActorType::Agent, ActorType::Script] {
            let named = access.attribute(Some(actor(id, kind)), "/created_by");
            assert_eq!(refused(named), invalid("/created_by"), "{kind} {id:?}");
            let named = By::parse(&format!("{kind}:{id}"), Door::Http);
            if id.trim_start() == id {
                assert_eq!(refused(named).0, Code::WireFieldValue, "{kind} {id:?}");
            }
        }
        // Records can have one. It is not shown as the other.
        let by = By::new(actor(id, ActorType::Agent), Door::Http);
        assert_eq!(by.name(), format!("agent:{id}"));
    }
    for id in ["human", "human:", "humane:lead", "team:human:lead", "claude-code:2"] {
        access.attribute(Some(actor(id, ActorType::Agent)), "").unwrap();
        assert_eq!(By::new(actor(id, ActorType::Agent), Door::Http).name(), id);
    }
    access.attribute(Some(actor("human:lead", ActorType::Human)), "").unwrap();
}
