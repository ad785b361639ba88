//! Which level of a protocol an implementation reaches, in protocols whose levels build on each
//! other, and whether the claimed level is true.
//!
//! Only required cases decide. A level is reached if all of its required cases that apply pass, and
//! those of every level below. A missing route counts against the lowest level that requires it,
//! and against no other; if no level requires it, it counts against none. A claim is disproved by a
//! required case that fails, and by the absence of a route that the protocol defines. If only the
//! kit defines where a route is, its absence proves nothing: the level is then unproven.

use accord_contract::{Object, message, wire_enum};

use crate::case::{Case, Strength, Task};
use crate::corpus::{DefinedBy, Protocol, RouteList};
use crate::report::CaseReport;
use crate::verdict::Verdict;

message! {
    /// Which level is reached, and whether the claimed one is true.
    pub struct Conformance("Conformance", open) {
        /// The highest level that is reached; absent when none is.
        optional reached: String = "reached", "conformance-level";
        /// The level that the server claims, where it claims one.
        optional claimed: String = "claimed", "conformance-level";
        /// Whether the claim is true.
        optional claim: ClaimVerdict = "claim", "claim-verdict";
        /// Every level, from the lowest.
        required levels: Vec<LevelStanding> = "levels", "level-standings";
    }

    /// The standing of an implementation at a level.
    pub struct LevelStanding("LevelStanding", open) {
        /// The level.
        required level: String = "level", "conformance-level";
        /// Its standing.
        required standing: Standing = "standing", "level-standing";
        /// The required cases that fail, or could not be judged.
        required broken: Vec<String> = "broken", "case-ids";
        /// The required cases whose route the server does not have.
        required missing: Vec<String> = "missing", "case-ids";
    }
}

wire_enum! {
    /// The standing of an implementation at a level.
    pub enum Standing("Standing", closed) {
        /// All of its required cases that apply pass.
        Reached = "reached",
        /// None fails, but some could not be judged: the protocol does not define their routes.
        Unproven = "unproven",
        /// The implementation is not at this level: it does not have routes that the protocol
        /// defines.
        NotThere = "not_there",
        /// The implementation has the routes of the level, and required cases fail.
        Broken = "broken",
        /// No required case of the level was run.
        Untested = "untested",
    }

    /// Whether a claim is true, as far as a run can tell.
    pub enum ClaimVerdict("ClaimVerdict", closed) {
        /// The claimed level is reached.
        Proved = "proved",
        /// The claim is not disproved, but not every case could be judged.
        Unproven = "unproven",
        /// The run shows that it is not true.
        Disproved = "disproved",
    }
}

/// The levels that a run has shown; `None` in protocols without levels that build on each other.
pub(crate) fn conformance(
    protocol: &Protocol,
    cases: &[CaseReport],
    claimed: Option<String>,
) -> Option<Conformance> {
    let routes = protocol.routes().filter(|routes| !routes.levels.is_empty())?;
    // A claim is judged by the levels, so it does not decide them.
    let decides = |case: &&CaseReport| {
        case.strength == Strength::Must
            && case.verdict != Verdict::Skip
            && !protocol.case(&case.id).is_ok_and(is_claim)
    };
    let required: Vec<&CaseReport> = cases.iter().filter(decides).collect();
    let levels: Vec<LevelStanding> =
        routes.levels.iter().map(|level| standing(level, routes, &required)).collect();
    // A level above one that is not reached does not count: levels include those below them.
    let reached = levels.iter().take_while(|level| level.standing == Standing::Reached).last();
    let claim = claimed.as_ref().map(|claimed| {
        let all = || upto(&levels, claimed);
        match () {
            () if all().any(|level| level.disproves(routes, cases)) => ClaimVerdict::Disproved,
            // A level that the corpus does not have is not proved by any case.
            () if all().next().is_none() => ClaimVerdict::Unproven,
            () if all().all(|level| level.standing == Standing::Reached) => ClaimVerdict::Proved,
            () => ClaimVerdict::Unproven,
        }
    });
    Some(Conformance {
        reached: reached.map(|level| level.level.clone()),
        claimed,
        claim,
        levels,
        extra: Object::new(),
    })
}

/// Whether a case judges the claimed level, which needs the verdicts of all other cases.
pub(crate) fn is_claim(case: &Case) -> bool {
    matches!(&case.task, Task::Exchange(exchange) if exchange.claim.is_some())
}

impl Conformance {
    /// What the server lacks for the lowest level. No case fails then, but none passes either.
    pub(crate) fn lacks_the_lowest(&self) -> Option<String> {
        let lowest = self.levels.first()?;
        let lacks = matches!(lowest.standing, Standing::NotThere | Standing::Unproven);
        lacks.then(|| lowest.in_words())
    }

    /// Why the claim is not true, if the run has shown that.
    pub(crate) fn disproof(&self) -> Option<String> {
        let claimed = self.claimed.as_ref()?;
        if self.claim != Some(ClaimVerdict::Disproved) {
            return None;
        }
        let reasons: Vec<String> = upto(&self.levels, claimed)
            .filter(|level| level.standing != Standing::Reached)
            .map(LevelStanding::in_words)
            .collect();
        Some(format!("the server claims {claimed}, which is not true: {}", reasons.join("; ")))
    }
}

impl LevelStanding {
    /// The standing in a sentence, with its cases.
    pub fn in_words(&self) -> String {
        let level = &self.level;
        match self.standing {
            Standing::Reached => format!("{level} is reached"),
            Standing::Broken => format!("{level} is broken ({})", listing(&self.broken)),
            Standing::NotThere => format!("{level} is missing ({})", listing(&self.missing)),
            Standing::Unproven => format!(
                "{level} is unproven, because the protocol does not define its routes ({})",
                listing(&self.missing)
            ),
            Standing::Untested => format!("{level} was not tested"),
        }
    }

    fn disproves(&self, routes: &RouteList, cases: &[CaseReport]) -> bool {
        let defined = |id: &String| {
            let case = cases.iter().find(|case| case.id == *id);
            let name = case.and_then(|case| case.missing_route.as_ref());
            name.is_some_and(|name| is_defined(routes, name))
        };
        !self.broken.is_empty() || self.missing.iter().any(defined)
    }
}

fn standing(level: &str, routes: &RouteList, required: &[&CaseReport]) -> LevelStanding {
    let ids = |cases: Vec<&CaseReport>| cases.iter().map(|case| case.id.clone()).collect();
    let of_level = || required.iter().copied().filter(|case| case.level == level);
    let is_broken = |case: &&CaseReport| {
        matches!(case.verdict, Verdict::Fail | Verdict::Error | Verdict::HarnessError)
    };
    let broken: Vec<&CaseReport> = of_level().filter(is_broken).collect();
    // The level of the missing route decides, not that of the case that used it.
    let is_missing = |case: &&CaseReport| {
        let route = case.missing_route.as_ref().and_then(|name| routes.routes.get(name));
        route.is_some_and(|route| route.level.as_deref() == Some(level))
    };
    let missing: Vec<&CaseReport> = required.iter().copied().filter(is_missing).collect();
    let not_there = missing.iter().any(|case| {
        let route = case.missing_route.as_ref();
        route.is_some_and(|name| is_defined(routes, name))
    });
    let passes = of_level().any(|case| case.verdict == Verdict::Pass);
    let standing = match () {
        // A failed case says more than a missing route.
        () if !broken.is_empty() => Standing::Broken,
        () if not_there => Standing::NotThere,
        () if !missing.is_empty() => Standing::Unproven,
        () if passes => Standing::Reached,
        () => Standing::Untested,
    };
    LevelStanding {
        level: level.to_owned(),
        standing,
        broken: ids(broken),
        missing: ids(missing),
        extra: Object::new(),
    }
}

fn is_defined(routes: &RouteList, name: &str) -> bool {
    let route = routes.routes.get(name);
    route.is_some_and(|route| route.defined_by == DefinedBy::Protocol)
}

/// A level and those below it; none if the level is unknown.
fn upto<'a>(levels: &'a [LevelStanding], claimed: &str) -> impl Iterator<Item = &'a LevelStanding> {
    let rank = levels.iter().position(|level| level.level == claimed);
    levels.iter().take(rank.map_or(0, |rank| rank + 1))
}

fn listing(ids: &[String]) -> String {
    match ids {
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => "no case".to_owned(),
    }
}
