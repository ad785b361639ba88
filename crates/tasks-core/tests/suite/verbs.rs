//! Who acts, sections of a body, tasks by the beginning of their ids.

use accord_base::evidence::EvidenceDigest;
use accord_base::{By, Door};
use accord_contract::Code;
use accord_tasks_core::TaskId;
use accord_tasks_core::board::{Board, ClaimFilter, Entry, NoTask};
use accord_tasks_core::evidence::{self, Output};
use accord_tasks_core::task::with_section;
use serde_json::{Value, json};

use crate::support::{at, task};

fn by(actor: &str) -> By {
    By::parse(actor, Door::Http).unwrap()
}

fn board(tasks: &[(&str, &str, Value)]) -> Board {
    let mut board = Board::default();
    for (id, status, about) in tasks {
        board.put(Entry::of(task(id, status, about.clone()).task(), None));
    }
    board
}

#[test]
fn an_actor_has_the_name_that_files_use() {
    for (actor, name, is_person, is_agent) in [
        ("human:reviewer", "human:reviewer", true, false),
        ("agent:swe-backend", "swe-backend", false, true),
        ("swe-backend", "swe-backend", false, true),
        ("script:ci", "script:ci", false, false),
        // A name with a colon that is no type is an agent's.
        ("acme:bot", "acme:bot", false, true),
    ] {
        let by = by(actor);
        assert_eq!((by.name(), by.is_person(), by.is_agent()), (name, is_person, is_agent));
    }
    assert!(By::parse("", Door::Cli).is_err());
    assert_eq!(by("swe-qa").agent(None).unwrap(), "swe-qa");
    assert_eq!(by("human:reviewer").agent(Some("swe-qa")).unwrap(), "swe-qa");
    assert_eq!(by("human:reviewer").agent(None).unwrap_err().code, Code::WireFieldMissing);
    assert_eq!(by("a").agent(Some("b")).unwrap_err().code, Code::AofUnauthorizedAgent);
}

#[test]
fn a_section_is_replaced_where_it_is() {
    let body = "Intro.\n\n## instructions\n\nOld.\n\n### Part\n\nx\n\n## Work Log\n\n- a";
    let expected = "Intro.\n\n## Instructions\n\nNew.\n\n## Work Log\n\n- a";
    assert_eq!(with_section(body, "Instructions", "New.\n"), expected);
    assert_eq!(with_section("", "Guidance", "Do."), "## Guidance\n\nDo.\n");
    assert_eq!(with_section("A.\n", "Guidance", "Do."), "A.\n\n## Guidance\n\nDo.\n");
    // A heading in a block of code is none.
    let code = "```\n## Guidance\n```";
    assert_eq!(with_section(code, "Guidance", "Do."), format!("{code}\n\n## Guidance\n\nDo.\n"));
}

#[test]
fn an_exact_id_is_never_ambiguous() {
    let board = board(&[
        ("TASK-2026-02-09-001", "ready", json!({})),
        ("TASK-2026-02-09-001-01", "ready", json!({})),
        ("TASK-2026-02-09-002", "done", json!({})),
    ]);
    let found = |text: &str| board.resolve(text).map(|id| id.to_string());
    assert_eq!(found("TASK-2026-02-09-001").unwrap(), "TASK-2026-02-09-001");
    assert_eq!(found("2026-02-09-001-").unwrap(), "TASK-2026-02-09-001-01");
    assert_eq!(found("2026-02-09-002").unwrap(), "TASK-2026-02-09-002");
    let refused = found("2026-02-09-00").unwrap_err();
    assert_eq!(refused.code, Code::AofAmbiguousTaskId);
    assert_eq!(refused.details.unwrap()["count"], 3);
    // The end of an id, in whole numbers.
    assert_eq!(found("002").unwrap(), "TASK-2026-02-09-002");
    assert_eq!(found("09-001-01").unwrap(), "TASK-2026-02-09-001-01");
    assert_eq!(found("9-002").unwrap_err().code, Code::AofTaskNotFound);
    // As people write it. It is not the beginning of the year.
    for text in ["2", "02"] {
        assert_eq!(found(text).unwrap(), "TASK-2026-02-09-002");
    }
    assert_eq!(found("7").unwrap_err().code, Code::AofTaskNotFound);
    let missing = found("TASK-2026-02-09-003").unwrap_err();
    assert_eq!(missing.code, Code::AofTaskNotFound);
    let nearest = missing.details.unwrap()["nearest"].clone();
    assert_eq!(nearest, json!(["TASK-2026-02-09-001-01", "TASK-2026-02-09-002"]));
}

#[test]
fn a_task_without_a_target_takes_its_turn_among_the_others() {
    let routed = json!({"routing": {"agent": "a"}, "priority": "low"});
    let board = board(&[
        ("TASK-2026-02-09-001", "ready", routed),
        ("TASK-2026-02-09-002", "ready", json!({"priority": "normal"})),
        ("TASK-2026-02-09-003", "ready", json!({"routing": {"agent": "b"}, "priority": "high"})),
    ]);
    let next = |except: &[TaskId]| {
        let wish = ClaimFilter { agent: "a", except, ..ClaimFilter::default() };
        board.next_for(&wish, at(0))
    };
    let second = next(&[]).unwrap();
    assert_eq!(second.to_string(), "TASK-2026-02-09-002");
    let first = next(&[second]).unwrap();
    assert_eq!(first.to_string(), "TASK-2026-02-09-001");
    assert_eq!(next(&[second, first]), Err(NoTask::NoneFits));
    assert_eq!(Board::default().next_for(&ClaimFilter::default(), at(0)), Err(NoTask::NoneReady));
}

#[test]
fn evidence_covers_file_result_and_outputs() {
    let output = |sha256: &str| Output {
        path: "outputs/a".into(),
        bytes: 1,
        sha256: Some(sha256.to_owned()),
        is_executable: sha256 == "y",
    };
    let digests: Vec<EvidenceDigest> = vec![
        evidence::digest(("task", None), &[], &[], &[], &[]),
        evidence::digest(("other", None), &[], &[], &[], &[]),
        evidence::digest(("task", Some("result")), &[], &[], &[], &[]),
        evidence::digest(("task", None), &[], &["outputs/l: a link to x".to_owned()], &[], &[]),
        evidence::digest(("task", None), &[output("x")], &[], &[], &[]),
        evidence::digest(("task", None), &[output("y")], &[], &[], &[]),
        evidence::digest(("task", None), &[output("x")], &[], &["mark".to_owned()], &[]),
    ];
    for (number, digest) in digests.iter().enumerate() {
        assert!(!digests[..number].contains(digest));
        evidence::check((digest, true), Some(&digest.as_str()[..32]), None).unwrap();
        evidence::check((digest, true), None, None).unwrap();
    }
    let check = |expect: &str| evidence::check((&digests[0], true), Some(expect), None);
    let other = check(digests[1].as_str()).unwrap_err();
    assert_eq!(other.code, Code::XchainEvidenceChanged);
    assert_eq!(check("12").unwrap_err().code, Code::WireFieldValue);
}
