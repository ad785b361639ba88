//! The kit notices: servers that are wrong in one thing each are caught by a case of the clause
//! that they break.
//!
//! Nothing in the host knows of faults. Each stands in front of an honest host, on a port of its
//! own, and changes what is asked or what is answered; the kit judges it over the network as it
//! judges any server.

mod answers;
mod front;
mod requests;

use std::num::NonZeroUsize;
use std::time::Duration;

use accord_kit::driver::{Http, HttpOptions};
use accord_kit::verdict::Verdict;
use accord_kit::{Corpus, Protocol, Reporters, RunOptions, RunReport, run};

use self::front::{Change, Front};
use crate::support::World;

/// One way to be wrong.
struct Fault {
    name: &'static str,
    /// The clause that it breaks.
    clause: &'static str,
    change: Change,
}

/// Declares the table: a name, the clause it breaks, what is changed on the way in or out.
macro_rules! faults {
    ($($name:literal breaks $clause:literal: $change:expr;)+) => {
        static FAULTS: &[Fault] = &[$(Fault {
            name: $name,
            clause: concat!("AGENTIC-", $clause),
            change: $change,
        }),+];
    };
}

use Change::{Answer, Request};

faults! {
    "later-versions-taken" breaks "R-004": Request(requests::later_versions_taken);
    "long-titles-cut" breaks "R-005": Request(requests::long_titles_cut);
    "unknown-status-is-complete" breaks "R-006": Request(requests::unknown_status_is_complete);
    "unknown-review-is-none" breaks "R-007": Request(requests::unknown_review_is_none);
    "unknown-actors-are-scripts" breaks "R-009": Request(requests::unknown_actors_are_scripts);
    "unknown-types-are-standard" breaks "R-013": Request(requests::unknown_types_are_standard);
    "tags-made-lists" breaks "R-015": Request(requests::tags_made_lists);
    "limit-ignored" breaks "R-070": Request(requests::limit_ignored);
    "ten-by-default" breaks "R-069": Request(requests::ten_by_default);
    "numbers-as-values" breaks "R-082": Request(requests::numbers_as_values);
    "confidence-clamped" breaks "R-083": Request(requests::confidence_clamped);
    "as-of-just-before" breaks "R-090": Request(requests::as_of_just_before);
    "object-ignored" breaks "R-094": Request(requests::object_ignored);
    "a-week-by-default" breaks "R-100": Request(requests::a_week_by_default);
    "every-window-is-long" breaks "R-101": Request(requests::every_window_is_long);
    "last-member-wins" breaks "R-040": Request(requests::last_member_wins);

    "unknown-members-dropped" breaks "R-019": Answer(answers::unknown_members_dropped);
    "defaults-filled-in" breaks "R-017": Answer(answers::defaults_filled_in);
    "hash-of-the-text" breaks "R-026": Answer(answers::hash_of_the_text);
    "again-is-a-conflict" breaks "R-044": Answer(answers::again_is_a_conflict);
    "another-takes-its-place" breaks "R-045": Answer(answers::another_takes_its_place);
    "member-not-named" breaks "R-047": Answer(answers::member_not_named);
    "complete-can-be-flagged" breaks "R-056": Answer(answers::complete_can_be_flagged);
    "flag-keeps-the-type" breaks "R-055": Answer(answers::flag_keeps_the_type);
    "oldest-first" breaks "R-068": Answer(answers::oldest_first);
    "not-found-is-null" breaks "R-073": Answer(answers::not_found_is_null);
    "search-finds-nothing" breaks "R-074": Answer(answers::search_finds_nothing);
    "ends-a-moment-early" breaks "R-086": Answer(answers::ends_a_moment_early);
    "all-facts-current" breaks "R-087": Answer(answers::all_facts_current);
    "nothing-counted" breaks "R-093": Answer(answers::nothing_counted);
    "old-facts-left-out" breaks "R-102": Answer(answers::old_facts_left_out);
    "packages-cut-short" breaks "R-104": Answer(answers::packages_cut_short);
    "no-snippets" breaks "R-108": Answer(answers::no_snippets);
    "times-of-elsewhere" breaks "R-111": Answer(answers::times_of_elsewhere);
    "past-facts-not-exported" breaks "R-118": Answer(answers::past_facts_not_exported);
    "archived-is-gone" breaks "R-121": Answer(answers::archived_is_gone);
    "claims-what-it-lacks" breaks "R-124": Answer(answers::claims_what_it_lacks);
    "blobs-not-compared" breaks "A-33": Answer(answers::blobs_not_compared);
}

/// The clause that a server is what it claims to be.
const CLAIMS: &str = "AGENTIC-R-124";

/// The clauses of reviews, which make the highest level.
const REVIEWS: &[&str] = &["AGENTIC-R-055", "AGENTIC-R-061", "AGENTIC-R-062"];

#[test]
fn every_seeded_fault_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    let protocol = &Corpus::embedded_protocol("agentic").unwrap();
    let world = World::new();
    let mut missed = Vec::new();
    for fault in FAULTS {
        // What a server claims is judged by the cases of what it claims.
        let claimed = if fault.clause == CLAIMS { REVIEWS } else { &[] };
        let clauses = [&[fault.clause], claimed].concat().join(",");
        let report = judge(protocol, &world, fault.change, &clauses);
        let failed = failures(&report, Some(fault.clause));
        println!("{:<28} {}: {}", fault.name, fault.clause, failed.join(", "));
        if failed.is_empty() {
            missed.push((fault.name, report.cases));
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// The front itself is honest: what is caught is the fault.
#[test]
fn a_front_without_a_fault_fails_no_case_of_these_clauses() {
    let protocol = &Corpus::embedded_protocol("agentic").unwrap();
    let world = World::new();
    let clauses: Vec<_> = FAULTS.iter().map(|fault| fault.clause).collect();
    let report = judge(protocol, &world, Request(requests::unchanged), &clauses.join(","));
    assert_eq!(failures(&report, None), Vec::<String>::new());
    assert!(report.cases.len() >= FAULTS.len());
}

#[test]
fn no_two_faults_have_the_same_name() {
    let mut names: Vec<_> = FAULTS.iter().map(|fault| fault.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FAULTS.len());
}

/// Runs the cases of some clauses (separated by commas) against a server with a change.
fn judge(protocol: &Protocol, world: &World, change: Change, clauses: &str) -> RunReport {
    let front = Front::start(&world.host, change);
    let mut options = RunOptions::default();
    options.workers = NonZeroUsize::MIN.saturating_add(3);
    // No case of these ends by its time limit, but a busy machine needs time for 100 requests.
    options.case_timeout = Duration::from_secs(300);
    let each: Vec<_> = clauses.split(',').map(|clause| format!("clause({clause})")).collect();
    options.filter = Some(each.join(" | ").parse().unwrap());
    let mut server = HttpOptions::new(front.url());
    server.request_timeout = Duration::from_secs(120);
    let server = Http::new(server).unwrap();
    run(protocol, &server, &options, &mut Reporters::default()).unwrap()
}

/// The cases that fail, of one clause or of all.
fn failures(report: &RunReport, clause: Option<&str>) -> Vec<String> {
    let of_clause = |clauses: &[String]| {
        clause.is_none_or(|clause| clauses.iter().any(|known| known == clause))
    };
    let failed = report.cases.iter();
    failed
        .filter(|case| case.verdict == Verdict::Fail && of_clause(&case.clauses))
        .map(|case| case.id.to_string())
        .collect()
}
