//! What waits for a person in the memory: reviews, packages that were sent back, open questions.
//!
//! A review of an agent, and a package that was sent back, are shown after some time in which
//! nothing happened.

use accord_base::ActorKey;
use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_canon::sha256;
use accord_contract::{Time, Timestamp};
use serde::Deserialize;

use crate::package::{ReviewType, Status};
use crate::{ContentHash, PackageId};

/// How long an agent has for a review, in seconds.
const AGENT_REVIEW: i64 = 24 * 3_600;
/// How long a package that was sent back is left to its author, in seconds.
const REVISION: i64 = 3 * 24 * 3_600;

/// A package, as far as it says what waits.
#[derive(Clone, Copy, Debug)]
pub struct PackageFacts<'a> {
    pub package_id: &'a PackageId,
    pub author: &'a ActorKey,
    pub created_at: Time,
    pub status: Status,
    pub review_type: ReviewType,
    pub revision: u64,
    pub content_hash: &'a ContentHash,
    /// The package, as it is served.
    pub text: &'a str,
}

/// A question that is open.
#[derive(Clone, Copy, Debug)]
pub struct QuestionFacts<'a> {
    pub text: &'a str,
    /// Since when it is asked without an answer.
    pub since: Time,
    /// Until when an earlier answer held, if there was one.
    pub answered_until: Option<Time>,
    /// Who asked first.
    pub asked_by: Option<&'a ActorKey>,
}

#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow)]
    status: std::borrow::Cow<'t, str>,
    /// Logs of early versions may lack it.
    #[serde(borrow, default)]
    review_type: Option<std::borrow::Cow<'t, str>>,
    #[serde(borrow)]
    at: std::borrow::Cow<'t, str>,
}

#[derive(Deserialize)]
struct Titled<'t> {
    #[serde(borrow)]
    title: std::borrow::Cow<'t, str>,
}

/// What waits about a package that is not quarantined, with the texts of its log. Entries that
/// cannot be read are left out.
pub fn package<'t>(
    facts: &PackageFacts<'_>,
    log: impl IntoIterator<Item = &'t str>,
) -> Option<Waiting> {
    let (kind, wait) = match (facts.status, facts.review_type) {
        (Status::AwaitingReview, ReviewType::Human) => (kind::PACKAGE_REVIEW, 0),
        (Status::AwaitingReview, _) => (kind::PACKAGE_AGENT_REVIEW, AGENT_REVIEW),
        (Status::RevisionRequested, _) => (kind::PACKAGE_REVISION, REVISION),
        (Status::Draft | Status::Complete, _) => return None,
    };
    let here = (facts.status.as_str(), facts.review_type.as_str());
    let (mut opening, mut rounds, mut was_here) = ((facts.revision, facts.created_at), 0, false);
    for (seq, text) in (1..).zip(log) {
        let Ok(entry) = serde_json::from_str::<Entry<'t>>(text) else { continue };
        let reviewer = entry.review_type.as_deref().unwrap_or(here.1);
        let is_here = (&*entry.status, reviewer) == here;
        if is_here && !was_here {
            rounds += 1;
            let at = Timestamp::parse(&entry.at).map_or(facts.created_at, |at| at.time());
            opening = (seq, at);
        }
        was_here = is_here;
    }
    let (opening, since) = opening;
    let what = match kind {
        kind::PACKAGE_REVIEW => "Review",
        kind::PACKAGE_AGENT_REVIEW => "Review that no agent did",
        _ => "Sent back, and nothing since",
    };
    let again = if rounds > 1 { format!(" ({rounds} times)") } else { String::new() };
    let title = format!("{what}: a package of {}{again}", facts.author);
    let mut waiting = Waiting::new(kind, facts.package_id.as_str(), opening, title, since);
    let titled = serde_json::from_str::<Titled<'_>>(facts.text).ok();
    waiting.words = titled.and_then(|titled| words(&titled.title));
    waiting.asked_by = Some(facts.author.to_string());
    waiting.version = Some(format!("{}.{}", facts.content_hash, facts.revision));
    if wait > 0 {
        waiting.urgency = Urgency::Should;
        waiting.shown_from = Some(since.add_seconds(wait));
    }
    Some(waiting)
}

/// The item of an open question.
pub fn question(facts: &QuestionFacts<'_>) -> Waiting {
    let subject = &sha256(facts.text.as_bytes()).hex()[..32];
    let until = facts.answered_until.map_or(0, |until| until.unix_millis().max(0).unsigned_abs());
    let title = match facts.answered_until {
        None => "Open question".to_owned(),
        Some(_) => "Question, asked again after its answer".to_owned(),
    };
    let mut waiting = Waiting::new(kind::PACKAGE_QUESTION, subject, until, title, facts.since);
    waiting.words = words(facts.text);
    waiting.asked_by = facts.asked_by.map(ToString::to_string);
    waiting.urgency = Urgency::Should;
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_base::ActorType;

    fn author() -> ActorKey {
        ActorKey::parse("agent:planner").expect("an actor")
    }

    fn entry(status: &str, review_type: &str, hour: u8) -> String {
        format!(
            "{{\"seq\":1,\"status\":\"{status}\",\"review_type\":\"{review_type}\",\
             \"at\":\"2026-03-01T{hour:02}:00:00Z\"}}"
        )
    }

    fn waiting(status: Status, review_type: ReviewType, log: &[String]) -> Option<Waiting> {
        let (package_id, author) = (PackageId::new("pkg_1").expect("an id"), author());
        assert_eq!(author.kind, ActorType::Agent);
        let content_hash = ContentHash::of(b"{}").expect("a hash");
        let facts = PackageFacts {
            package_id: &package_id,
            author: &author,
            created_at: Time::from_unix_millis(0),
            status,
            review_type,
            revision: log.len() as u64,
            content_hash: &content_hash,
            text: r#"{"title":"Chose\nSQLite"}"#,
        };
        package(&facts, log.iter().map(String::as_str))
    }

    #[test]
    fn a_review_waits_from_the_entry_that_asked_for_it() {
        let asked = || entry("awaiting_review", "human", 1);
        let log = [entry("draft", "none", 0), asked(), entry("awaiting_review", "human", 2)];
        let item = waiting(Status::AwaitingReview, ReviewType::Human, &log).expect("it waits");
        assert_eq!((item.kind.as_str(), item.opening), (kind::PACKAGE_REVIEW, 2));
        assert_eq!(Timestamp::emit(item.since).as_str(), "2026-03-01T01:00:00.000Z");
        assert_eq!(item.words.as_deref(), Some("Chose SQLite"));
        assert_eq!(item.title, "Review: a package of agent:planner");
        assert!(item.shown_from.is_none());
        // Sent back and asked again: another item, which says so.
        let mut log = log.to_vec();
        log.extend([entry("revision_requested", "human", 3), entry("awaiting_review", "human", 4)]);
        let again = waiting(Status::AwaitingReview, ReviewType::Human, &log).expect("it waits");
        assert_eq!(again.opening, 5);
        assert_eq!(again.title, "Review: a package of agent:planner (2 times)");
    }

    #[test]
    fn what_agents_should_do_is_shown_after_some_time() {
        let log = [entry("awaiting_review", "agent", 0)];
        let item = waiting(Status::AwaitingReview, ReviewType::Agent, &log).expect("it waits");
        assert_eq!(item.shown_from, Some(item.since.add_seconds(AGENT_REVIEW)));
        let log = [entry("revision_requested", "human", 0)];
        let item = waiting(Status::RevisionRequested, ReviewType::Human, &log).expect("it waits");
        assert_eq!((item.kind.as_str(), item.urgency), (kind::PACKAGE_REVISION, Urgency::Should));
        for done in [Status::Draft, Status::Complete] {
            assert_eq!(waiting(done, ReviewType::Human, &log), None);
        }
    }

    #[test]
    fn a_question_that_is_asked_again_is_another_item() {
        let at = Time::from_unix_millis;
        let facts = QuestionFacts {
            text: "Which tax applies?",
            since: at(5),
            answered_until: None,
            asked_by: Some(&author()),
        };
        let (first, again) =
            (question(&facts), question(&QuestionFacts { answered_until: Some(at(4)), ..facts }));
        assert_eq!((first.opening, again.opening), (0, 4));
        assert_eq!(first.subject, again.subject);
        assert_eq!(first.words.as_deref(), Some("Which tax applies?"));
    }
}
