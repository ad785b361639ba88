//! Asserting a fact: superseding the current one, or filling in an earlier one.

use accord_contract::{Code, Failure, Time, Timestamp, wire_enum};

use super::{Assertion, Fact, place};
use crate::operations::AssertParams;
use crate::project::{Project, Writing};
use crate::{Actor, FactId, Warning, refuse};

wire_enum! {
    /// What to do with a fact that begins before one that is already known.
    pub enum OutOfOrder("OutOfOrder", closed) {
        /// Fit it into the chain.
        Insert = "insert",
        /// Refuse it.
        Reject = "reject",
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AssertOptions {
    pub if_changed: bool,
    /// What to do with a fact that would not become the current one.
    pub if_out_of_order: OutOfOrder,
    pub allow_credentials: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct AssertState<'a> {
    /// The fact with the id that the request chose, if it exists.
    pub same_id: Option<&'a Fact>,
    /// The last fact of the chain that is not empty and begins at [`Assertion::begins`] or earlier.
    pub before: Option<&'a Fact>,
    /// The first fact of the chain that is not empty and begins later.
    pub after: Option<&'a Fact>,
    /// The author of the source package, if it is in the project.
    pub source: Option<&'a Actor>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Asserted {
    /// Write nothing: this fact holds already, or was asserted before.
    Unchanged(Box<Fact>),
    Added {
        create_project: Option<Box<Project>>,
        /// The fact that ends where the new one begins.
        cut: Option<FactId>,
        fact: Box<Fact>,
        warnings: Vec<Warning>,
    },
}

impl Default for AssertOptions {
    fn default() -> Self {
        let if_out_of_order = OutOfOrder::Insert;
        Self { if_changed: false, if_out_of_order, allow_credentials: false }
    }
}

impl From<AssertParams> for AssertOptions {
    fn from(asked: AssertParams) -> Self {
        let choice = asked.if_out_of_order.unwrap_or(OutOfOrder::Insert);
        Self { if_changed: asked.if_changed, if_out_of_order: choice, allow_credentials: false }
    }
}

impl Assertion {
    /// When the fact begins to hold; its neighbours are looked up by that.
    pub fn begins(&self, now: Time) -> Timestamp {
        self.valid_from.clone().unwrap_or_else(|| Timestamp::emit(now))
    }
}

/// Decides an assertion. If the request chose no id, it is made from 16 random bytes. Fails with
/// `duplicate_fact_id`, `credential_found`, `fact_out_of_order`, `project_archived` or
/// `project_not_found`.
/// Clauses: AGENTIC-R-086, AGENTIC-A-16.
pub fn assert(
    asked: &Assertion,
    writing: &Writing<'_>,
    state: &AssertState<'_>,
    options: AssertOptions,
    random: [u8; 16],
) -> Result<Asserted, Failure> {
    // Before the check of the project: a repeated assertion writes nothing, so an archived project
    // does not refuse it.
    if let Some(known) = state.same_id {
        return repeated(asked, known);
    }
    let created = writing.admit()?;
    let now = writing.now;
    let from = asked.begins(now);
    let holding = state.before.filter(|fact| fact.holds_at(from.time()));
    if let Some(fact) = holding
        && options.if_changed
        && fact.value == asked.value
    {
        return Ok(Asserted::Unchanged(Box::new(fact.clone())));
    }
    if !options.allow_credentials {
        refuse::credentials(&asked.credentials)?;
    }
    let (before, after) = (state.before.map(Fact::span), state.after.map(Fact::span));
    let placement = place(&from, before.as_ref(), after.as_ref(), now);
    if placement.to.is_some() && options.if_out_of_order == OutOfOrder::Reject {
        let message = format!("the fact would begin at {from}, before what is already known");
        let failure = Failure::new(Code::AgenticFactOutOfOrder, message);
        return Err(failure.at("/valid_from"));
    }
    let mut warnings = Vec::new();
    if let Some(source) = &asked.source_package_id
        && state.source.is_none()
    {
        warnings.push(Warning::unknown_package("source_package_id", source));
    }
    let asserted_by = (asked.asserted_by.as_ref()).or(state.source).or(writing.actor);
    let fact = Fact {
        fact_id: (asked.fact_id.clone()).unwrap_or_else(|| FactId::mint(random)),
        project_id: writing.project_id.clone(),
        subject: asked.subject.clone(),
        predicate: asked.predicate.clone(),
        value: asked.value.clone(),
        valid_from: from,
        valid_to: placement.to,
        source_package_id: asked.source_package_id.clone(),
        confidence: asked.confidence.clone(),
        asserted_by: asserted_by.cloned(),
        created_at: Timestamp::emit(now),
        tags: asked.tags.clone(),
        extra: asked.extra.clone(),
    };
    Ok(Asserted::Added {
        create_project: created.map(Box::new),
        cut: (holding.filter(|_| placement.cuts_before)).map(|fact| fact.fact_id.clone()),
        fact: Box::new(fact),
        warnings,
    })
}

/// The same assertion again gives the fact that it made; another one is refused.
fn repeated(asked: &Assertion, known: &Fact) -> Result<Asserted, Failure> {
    let same = known.subject == asked.subject
        && known.predicate == asked.predicate
        && known.value == asked.value
        && known.source_package_id == asked.source_package_id
        && known.confidence == asked.confidence
        && known.tags == asked.tags
        && known.extra == asked.extra
        // A request without a start or an author got them when it arrived first.
        && asked.valid_from.as_ref().is_none_or(|from| from.time() == known.valid_from.time())
        && asked.asserted_by.as_ref().is_none_or(|actor| known.asserted_by.as_ref() == Some(actor));
    if same {
        return Ok(Asserted::Unchanged(Box::new(known.clone())));
    }
    let message = format!("another fact has the id {:?}", known.fact_id.as_str());
    Err(Failure::new(Code::AgenticDuplicateFactId, message).at("/fact_id"))
}
