//! Chains of facts, under any sequence of asserts and invalidations.
//!
//! The facts are held against a model that shares no code with them: a row of cells, one
//! an instant and the last for ever after, each with the fact that holds there. The rows
//! are kept as a store keeps them, and only the neighbours of a new fact are looked at.

use accord_contract::{Code, Time, Timestamp};
use accord_memory_core::fact::{
    AssertOptions, AssertState, Asserted, Assertion, OutOfOrder, assert, check_chain, invalidate,
};
use accord_memory_core::{Fact, FactId};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{project, project_id, refused, writing};

/// Instants of the model; times are below the last cell.
const CELLS: usize = 40;

#[derive(Clone, Debug)]
enum Step {
    Assert {
        /// Where the fact begins; `None` for now.
        from: Option<usize>,
        value: u8,
        if_changed: bool,
        reject: bool,
    },
    Invalidate {
        value: Option<u8>,
    },
    /// Time goes on.
    Wait(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let assert = (
        prop::option::weighted(0.7, 0..CELLS - 1),
        0..3_u8,
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(from, value, if_changed, reject)| Step::Assert {
            from,
            value,
            if_changed,
            reject,
        });
    let invalidate =
        prop::option::weighted(0.3, 0..3_u8).prop_map(|value| Step::Invalidate { value });
    let wait = (0..4_usize).prop_map(Step::Wait);
    prop::collection::vec(prop_oneof![5 => assert, 2 => invalidate, 2 => wait], 0..25)
}

fn instant(cell: usize) -> Time {
    Time::from_unix_millis(cell as i64 * 1000)
}

/// What a store holds of one chain, in the order in which it came.
#[derive(Default)]
struct Rows(Vec<Fact>);

impl Rows {
    /// The two lookups that a store offers.
    fn neighbours(&self, at: Time) -> (Option<&Fact>, Option<&Fact>) {
        let held = || self.0.iter().filter(|fact| !fact.span().is_empty());
        let starts = |fact: &&Fact| fact.valid_from.time();
        let before = held().filter(|fact| starts(fact) <= at).max_by_key(starts);
        let after = held().filter(|fact| starts(fact) > at).min_by_key(starts);
        (before, after)
    }

    fn current(&self) -> Option<&Fact> {
        let mut current = self.0.iter().filter(|fact| fact.is_current());
        let found = current.next();
        assert!(current.next().is_none(), "two facts are current");
        found
    }

    fn end(&mut self, id: &FactId, at: &Timestamp) {
        let row = self.0.iter_mut().find(|fact| fact.fact_id == *id);
        row.expect("the fact is there").valid_to = Some(at.clone());
    }
}

/// The naive model.
struct Model {
    cells: [Option<usize>; CELLS],
}

impl Model {
    /// A fact holds from its start on, up to where another one starts, or where what it
    /// takes the place of was invalidated.
    fn assert(&mut self, fact: usize, from: usize, now: usize) {
        let old = self.cells;
        let ends = |cell: &usize| {
            let (here, before) = (old[*cell], old[cell - 1]);
            let begins = here.is_some() && here != before;
            let same =
                old[from].is_some() && old[from..*cell].iter().all(|held| *held == old[from]);
            begins || (same && here.is_none() && *cell <= now)
        };
        let end = (from + 1..CELLS).find(ends).unwrap_or(CELLS);
        self.cells[from..end].fill(Some(fact));
    }

    fn invalidate(&mut self, now: usize) {
        let current = self.cells[CELLS - 1];
        for cell in &mut self.cells[now..] {
            if current.is_some() && *cell == current {
                *cell = None;
            }
        }
    }
}

fn run(steps: &[Step]) {
    let (id, project) = (project_id(), project());
    let mut rows = Rows::default();
    let mut model = Model { cells: [None; CELLS] };
    let mut now = 0;
    let mut ends_by_invalidation = Vec::new();
    for step in steps {
        let before_step = rows.0.clone();
        match step {
            Step::Wait(cells) => now = (now + cells).min(CELLS - 2),
            Step::Assert { from, value, if_changed, reject } => {
                let number = rows.0.len();
                let mut sent =
                    json!({"subject": "s", "predicate": "p", "value": value.to_string()});
                if let Some(from) = from {
                    // Spelled in our own way, so that a changed text is seen.
                    sent["valid_from"] = json!(instant(*from).to_string().replace('Z', "+00:00"));
                }
                let asked = Assertion::parse(sent.to_string().as_bytes(), &id).unwrap();
                let mut writing = writing(&id, Some(&project), None);
                writing.now = instant(now);
                let begins = from.unwrap_or(now);
                let (before, after) = rows.neighbours(asked.begins(writing.now).time());
                let state = AssertState { before, after, ..AssertState::default() };
                let options = AssertOptions {
                    if_changed: *if_changed,
                    if_out_of_order: if *reject { OutOfOrder::Reject } else { OutOfOrder::Insert },
                    ..AssertOptions::default()
                };
                let mut random = [0; 16];
                random[0] = number as u8;
                let holds = model.cells[begins].map(|fact| rows.0[fact].value.clone());
                let mut next = Model { cells: model.cells };
                next.assert(number, begins, now);
                let becomes_current = next.cells[CELLS - 1] == Some(number);
                match assert(&asked, &writing, &state, options, random) {
                    Ok(Asserted::Unchanged(fact)) => {
                        assert!(*if_changed && holds.as_ref() == Some(&fact.value));
                        assert_eq!(fact.value, value.to_string());
                    }
                    Ok(Asserted::Added { cut, fact, .. }) => {
                        assert!(!*if_changed || holds != Some(value.to_string()));
                        assert!(!*reject || becomes_current);
                        assert_eq!(fact.is_current(), becomes_current);
                        if let Some(cut) = cut {
                            rows.end(&cut, &fact.valid_from);
                        }
                        rows.0.push(*fact);
                        model = next;
                    }
                    Err(failure) => {
                        assert_eq!(failure.code, Code::AgenticFactOutOfOrder);
                        assert!(*reject && !becomes_current);
                    }
                }
            }
            Step::Invalidate { value } => {
                let value = value.map(|value| value.to_string());
                let current = rows.current().cloned();
                let ended = invalidate(current.as_ref(), value.as_deref(), instant(now));
                let fits = current
                    .as_ref()
                    .is_some_and(|fact| value.is_none_or(|value| value == fact.value));
                assert_eq!(ended.is_some(), fits);
                if let (Some(ended), Some(current)) = (ended, current) {
                    rows.end(&current.fact_id, &ended);
                    ends_by_invalidation.push(ended.time());
                    model.invalidate(now);
                }
            }
        }
        check(&rows, &model, &before_step, &ends_by_invalidation);
    }
}

fn check(rows: &Rows, model: &Model, before_step: &[Fact], ends_by_invalidation: &[Time]) {
    // At every instant the fact holds that the model says.
    for (cell, expected) in model.cells.iter().enumerate() {
        let held: Vec<_> = (rows.0.iter().enumerate())
            .filter(|(_, fact)| fact.holds_at(instant(cell)))
            .map(|(index, _)| index)
            .collect();
        assert_eq!(held, Vec::from_iter(*expected), "at {cell}");
    }
    let current = rows.current().map(|fact| fact.fact_id.clone());
    let expected = model.cells[CELLS - 1].map(|fact| rows.0[fact].fact_id.clone());
    assert_eq!(current, expected);

    // No overlap, no end before its start, and no gap that no invalidation made.
    let mut chain: Vec<_> = rows.0.iter().map(Fact::span).collect();
    chain.sort_by_key(|span| span.from.time());
    check_chain(&chain).unwrap();
    chain.retain(|span| !span.is_empty());
    for pair in chain.windows(2) {
        let end = pair[0].to.as_ref().expect("only the last has no end").time();
        let next = pair[1].from.time();
        assert!(end == next || ends_by_invalidation.contains(&end), "a gap at {end}");
    }

    // Nothing that had an end ever ends later.
    for (then, since) in before_step.iter().zip(&rows.0) {
        let end = |fact: &Fact| fact.valid_to.as_ref().map_or(Time::MAX, Timestamp::time);
        assert!(end(since) <= end(then), "{} became longer", since.fact_id);
        assert_eq!(then.valid_from, since.valid_from);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn chains_keep_their_promises(steps in steps()) {
        run(&steps);
    }
}

#[test]
fn the_end_of_one_is_spelled_as_the_start_of_the_next() {
    let (id, project) = (project_id(), project());
    let first = crate::support::fact(json!({"valid_from": "2026-04-10T12:00:00Z"}));
    let body = br#"{"subject":"site","predicate":"status","value":"down",
        "valid_from":"2026-04-11T12:00:00.10+00:00"}"#;
    let asked = Assertion::parse(body, &id).unwrap();
    let state = AssertState { before: Some(&first), ..AssertState::default() };
    let outcome = assert(
        &asked,
        &writing(&id, Some(&project), None),
        &state,
        AssertOptions::default(),
        [1; 16],
    );
    let Asserted::Added { cut, fact, .. } = outcome.unwrap() else { panic!("it is added") };
    assert_eq!(cut.as_ref(), Some(&first.fact_id));
    assert_eq!(fact.valid_from.as_str(), "2026-04-11T12:00:00.10+00:00");
}

#[test]
fn a_chain_that_overlaps_is_refused() {
    let span = |from: usize, to: Option<usize>| {
        let time = |cell| Timestamp::emit(instant(cell));
        accord_memory_core::fact::Span { from: time(from), to: to.map(time) }
    };
    check_chain(&[span(1, Some(3)), span(2, Some(2)), span(3, None), span(9, Some(9))]).unwrap();
    for wrong in [
        vec![span(1, Some(3)), span(2, None)],
        vec![span(1, None), span(2, None)],
        vec![span(2, Some(3)), span(1, Some(2))],
    ] {
        assert_eq!(refused(check_chain(&wrong)).0, Code::AgenticFactOverlap);
    }
    assert_eq!(refused(check_chain(&[span(3, Some(2))])).0, Code::AgenticIntegrityError);
}
