//! The life of a package after its deposit.

use accord_base::ActorType;
use accord_contract::Code;
use accord_memory_core::lifecycle::{
    Change, Move, Reviewer, Revision, Transition, check_revisions, flag, plain, review, transition,
};
use accord_memory_core::limits::{MAX_REVISIONS, MAX_TEXT_BYTES};
use accord_memory_core::package::{ReviewType, Status};
use accord_memory_core::{ContentHash, Package};
use serde_json::json;

use crate::support::{actor, invalid, now, package, refused, with};

fn in_status(status: Status) -> (Package, Revision) {
    let package = package(&with(json!({"status": status.as_str(), "review_type": "human"})));
    let first = Revision::deposited(&package, None, now());
    (package, first)
}

fn asked(change: Change) -> Move {
    Move::new(change)
}

fn moved(package: &Package, last: &Revision, asked: &Move) -> (Package, Revision) {
    match transition(package, last, asked, now()).unwrap() {
        Transition::Moved { package, revision } => (*package, *revision),
        Transition::Unchanged => panic!("nothing moved"),
    }
}

#[test]
fn sixteen_pairs_and_six_ways() {
    use Status::{AwaitingReview, Complete, Draft, RevisionRequested};
    let allowed = [
        (Draft, Complete),
        (Draft, AwaitingReview),
        (AwaitingReview, Complete),
        (AwaitingReview, RevisionRequested),
        (RevisionRequested, AwaitingReview),
        (RevisionRequested, Complete),
    ];
    for from in Status::ALL {
        for to in Status::ALL {
            let (package, last) = in_status(*from);
            let outcome = transition(&package, &last, &asked(Change::Review(*to)), now());
            if allowed.contains(&(*from, *to)) {
                let (next, revision) = moved(&package, &last, &asked(Change::Review(*to)));
                assert_eq!((next.status(), revision.status), (*to, *to));
                assert_eq!(next.review_type(), ReviewType::Human);
            } else {
                let expected = (Code::AgenticInvalidTransition, "/status".to_owned());
                assert_eq!(refused(outcome), expected, "{from} to {to}");
            }
        }
    }
}

#[test]
fn each_way_begins_where_it_may() {
    use Status::{AwaitingReview, Complete, Draft, RevisionRequested};
    for (change, from, to) in [
        (
            Change::Flag(Reviewer::Agent),
            vec![Draft, RevisionRequested, AwaitingReview],
            AwaitingReview,
        ),
        (Change::Resubmit, vec![RevisionRequested], AwaitingReview),
        (Change::Complete, vec![Draft, RevisionRequested], Complete),
    ] {
        for status in Status::ALL {
            let (package, last) = in_status(*status);
            let outcome = transition(&package, &last, &asked(change), now());
            if from.contains(status) {
                assert_eq!(moved(&package, &last, &asked(change)).0.status(), to);
            } else {
                assert_eq!(
                    refused(outcome).0,
                    Code::AgenticInvalidTransition,
                    "{change:?} {status}"
                );
            }
        }
    }
    let (complete, last) = in_status(Complete);
    let failure =
        transition(&complete, &last, &asked(Change::Flag(Reviewer::Human)), now()).unwrap_err();
    assert!(failure.suggestion.unwrap().contains("parent_package_id"));
}

#[test]
fn a_flag_sets_the_reviewer_and_raised_twice_is_raised_once() {
    let (draft, first) = in_status(Status::Draft);
    let human = asked(Change::Flag(Reviewer::Human));
    let (flagged, second) = moved(&draft, &first, &human);
    assert_eq!(
        (flagged.status(), flagged.review_type()),
        (Status::AwaitingReview, ReviewType::Human)
    );
    assert_eq!(transition(&flagged, &second, &human, now()).unwrap(), Transition::Unchanged);
    let (other, third) = moved(&flagged, &second, &asked(Change::Flag(Reviewer::Agent)));
    assert_eq!((other.status(), other.review_type()), (Status::AwaitingReview, ReviewType::Agent));
    assert_eq!(third.seq, 3);
    // A note is worth an entry of its own, once.
    let mut noted = asked(Change::Flag(Reviewer::Agent));
    noted.note = Some("look at the index".into());
    let (same, fourth) = moved(&other, &third, &noted);
    assert_eq!((&same, fourth.note.as_deref()), (&other, Some("look at the index")));
    assert_eq!(transition(&same, &fourth, &noted, now()).unwrap(), Transition::Unchanged);
    check_revisions(&same, &[first, second, third, fourth]).unwrap();
}

#[test]
fn only_two_values_in_the_text_change() {
    let text = "{\"x-status\":\"status\", \"st\\u0061tus\" : \"draft\" ,\n\
        \"package_id\":\"p\",\"project_id\":\"atlas\",\
        \"relay_version\":\"0.1\",\"title\":\"draft none\",\"package_type\":\"standard\",\
        \"created_at\":\"2026-04-18T20:00:00Z\",\
        \"created_by\":{\"id\":\"ada\",\"type\":\"human\",\"status\":\"draft\"},\
        \"n\":1.0,\"review_type\":\"none\"}";
    let draft = Package::parse(text.as_bytes()).unwrap();
    let first = Revision::deposited(&draft, None, now());
    let (flagged, second) = moved(&draft, &first, &asked(Change::Flag(Reviewer::Human)));
    let expected = text.replacen(" : \"draft\"", " : \"awaiting_review\"", 1).replacen(
        "\"review_type\":\"none\"",
        "\"review_type\":\"human\"",
        1,
    );
    assert_eq!(flagged.text(), expected);
    assert_eq!(*flagged.content_hash(), ContentHash::of(expected.as_bytes()).unwrap());
    assert_eq!(flagged, Package::parse(expected.as_bytes()).unwrap());
    assert_eq!((second.seq, second.content_hash), (2, *flagged.content_hash()));
    assert_eq!(first.content_hash, *draft.content_hash());
}

#[test]
fn an_entry_says_who_when_and_why() {
    let (waiting, first) = in_status(Status::AwaitingReview);
    let grace = actor("grace", ActorType::Human);
    let asked = Move {
        note: Some("no tests".into()),
        actor: Some(grace.clone()),
        ..Move::new(Change::Review(Status::RevisionRequested))
    };
    let (_, entry) = moved(&waiting, &first, &asked);
    assert_eq!((entry.actor, entry.note), (Some(grace), Some("no tests".into())));
    assert_eq!(entry.at.as_str(), "2026-05-01T00:00:00.000Z");
}

#[test]
fn a_log_is_checked_by_its_hashes() {
    let (draft, first) = in_status(Status::Draft);
    let (flagged, second) = moved(&draft, &first, &asked(Change::Flag(Reviewer::Agent)));
    let (done, third) = moved(&flagged, &second, &asked(Change::Review(Status::Complete)));
    let log = [first, second, third];
    check_revisions(&done, &log).unwrap();

    let place = |log: &[Revision]| refused(check_revisions(&done, log));
    assert_eq!(place(&log[..2]), (Code::AgenticHashMismatch, "".into()));
    assert_eq!(place(&[]), (Code::AgenticHashMismatch, "".into()));
    assert_eq!(place(&log[1..]), invalid("/0/seq"));
    let mut forged = log.clone();
    forged[1].content_hash = forged[0].content_hash;
    assert_eq!(place(&forged), (Code::AgenticHashMismatch, "/1/content_hash".into()));
    let mut idle = log.clone();
    idle[1] = log[0].clone();
    idle[1].seq = 2;
    assert_eq!(place(&idle), invalid("/1/status"));
    let mut backward = log.clone();
    backward.swap(0, 2);
    (backward[0].seq, backward[2].seq) = (1, 3);
    assert_eq!(place(&backward), invalid("/1/status"));
}

#[test]
fn a_log_that_is_full_can_still_be_completed() {
    let (mut package, mut last) = in_status(Status::Draft);
    for round in 1..MAX_REVISIONS {
        let reviewer = if round % 2 == 0 { Reviewer::Human } else { Reviewer::Agent };
        (package, last) = moved(&package, &last, &asked(Change::Flag(reviewer)));
    }
    assert_eq!(last.seq, MAX_REVISIONS as u64);
    let again =
        transition(&package, &last, &asked(Change::Review(Status::RevisionRequested)), now());
    assert_eq!(refused(again).0, Code::AgenticTooManyItems);
    moved(&package, &last, &asked(Change::Review(Status::Complete)));
}

#[test]
fn requests_are_read_strictly() {
    let sound =
        flag(br#"{"review_type":"human","note":"look","actor":{"id":"a","type":"agent"},"x":1}"#)
            .unwrap();
    assert_eq!(sound.change, Change::Flag(Reviewer::Human));
    assert_eq!(
        (sound.note.as_deref(), sound.actor),
        (Some("look"), Some(actor("a", ActorType::Agent)))
    );
    for wrong in [r#"{"review_type":"none"}"#, "{}", r#"{"review_type":null}"#] {
        assert_eq!(refused(flag(wrong.as_bytes())), invalid("/review_type"));
    }
    assert_eq!(refused(flag(b"")).0, Code::AgenticInvalidSchema);
    assert_eq!(refused(flag(br#"{"review_type":"agent","note":7}"#)), invalid("/note"));
    let long = json!({"review_type": "agent", "note": "x".repeat(MAX_TEXT_BYTES + 1)}).to_string();
    assert_eq!(refused(flag(long.as_bytes())), (Code::AgenticTextTooLong, "/note".into()));

    assert_eq!(
        review(br#"{"outcome":"complete"}"#).unwrap().change,
        Change::Review(Status::Complete)
    );
    assert_eq!(refused(review(br#"{"outcome":"approved"}"#)), invalid("/outcome"));
    assert_eq!(plain(Change::Resubmit, b" ").unwrap(), asked(Change::Resubmit));
    let noted = plain(Change::Complete, br#"{"note":"done","actor":null}"#).unwrap();
    assert_eq!(noted.note.as_deref(), Some("done"));
    assert_eq!(refused(plain(Change::Complete, b"[]")).0, Code::AgenticInvalidSchema);
}
