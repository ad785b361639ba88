//! The position of a fact in its chain, the facts of its subject and predicate.
//!
//! A placement needs only the two neighbours in the chain, however long it is. Spans that never
//! held (`to` is `from`) are skipped.

use accord_contract::{Code, Failure, Time, Timestamp};

/// The time in which a fact holds, without its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    pub from: Timestamp,
    /// The end; `None` if it has none.
    pub to: Option<Timestamp>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placement {
    /// Whether the fact before it now ends where the new one begins.
    pub cuts_before: bool,
    /// The end of the new fact; `None` when it becomes the current one.
    pub to: Option<Timestamp>,
}

impl Span {
    pub fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.time() <= self.from.time())
    }

    /// Whether it ends before it begins, which no span may.
    pub fn is_backward(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.time() < self.from.time())
    }

    /// Clauses: AGENTIC-R-090.
    pub fn holds_at(&self, instant: Time) -> bool {
        self.from.time() <= instant && (self.to.as_ref()).is_none_or(|to| instant < to.time())
    }
}

/// Places a fact that holds from `from` on.
/// Clauses: AGENTIC-R-086, AGENTIC-R-087, AGENTIC-A-14, AGENTIC-A-15.
///
/// `before` is the last span of the chain that is not empty and begins at `from` or earlier;
/// `after` the first that is not empty and begins later.
///
/// - A fact that holds at `from` ends there.
/// - The new fact ends where `after` begins. If `before` held at `from` and was invalidated before
///   that, it ends there instead: the invalidation said that nothing holds from then on. An end in
///   the future has no such effect.
pub fn place(
    from: &Timestamp,
    before: Option<&Span>,
    after: Option<&Span>,
    now: Time,
) -> Placement {
    let holding = before.filter(|span| span.holds_at(from.time()));
    let retracted = holding.and_then(|span| span.to.clone()).filter(|end| end.time() <= now);
    let next = after.map(|span| span.from.clone());
    let to = match (retracted, next) {
        (Some(end), Some(next)) if end.time() < next.time() => Some(end),
        (Some(end), None) => Some(end),
        (_, next) => next,
    };
    Placement { cuts_before: holding.is_some(), to }
}

/// Checks the rules of a chain, whose spans are in the order of their starts. Fails with
/// `fact_overlap` when two spans hold at once or two are current, with `integrity_error` when one
/// ends before it begins.
/// Clauses: AGENTIC-R-087, AGENTIC-R-091.
pub fn check_chain(chain: &[Span]) -> Result<(), Failure> {
    let mut last: Option<&Span> = None;
    for span in chain {
        if span.is_backward() {
            let message = format!("a fact that begins at {} ends before that", span.from);
            return Err(Failure::new(Code::AgenticIntegrityError, message));
        }
        if span.is_empty() {
            continue;
        }
        if let Some(last) = last
            && (last.from.time() > span.from.time() || last.holds_at(span.from.time()))
        {
            return Err(overlap(span));
        }
        last = Some(span);
    }
    Ok(())
}

pub(super) fn overlap(span: &Span) -> Failure {
    let message = format!(
        "another fact of this subject and predicate holds at {} or later, when this one does",
        span.from
    );
    Failure::new(Code::AgenticFactOverlap, message).at("/valid_from")
}
