//! Staged results: what a turn says that it did, corrected and judged.
//!
//! A result is [read](read_staged), [normalised](normalize) and then judged in five
//! [stages](Stage); the first stage that finds something wrong is the last.
//!
//! Invariants:
//! - nothing is corrected silently: every rewrite has a code and a place;
//! - normalisation never makes up a request: what a turn did not ask for, it does not get;
//! - a result that passed names only files inside the repository, none of the run's own.

mod normalize;
mod turn_result;
mod validate;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

pub use normalize::{Rewrite, RewriteCode, normalize};
pub use turn_result::{TurnResult, TurnStatusClaim, Verification};
pub use validate::validate;

use crate::config::{Config, Role, RuntimeType, WriteAuthority};
use crate::history::RunIndex;
use crate::members::array;
use crate::rule;
use crate::state::{State, Turn};

/// The most bytes that a staged result may have.
pub const MAX_RESULT_BYTES: usize = 8 << 20;

wire_enum! {
    /// What is judged, in this order.
    pub enum Stage("ValidationStage", closed) {
        /// Whether it is a result at all.
        Schema = "schema",
        /// Whether it is the result of the turn.
        Assignment = "assignment",
        /// Whether its role may change what it changed.
        Artifact = "artifact",
        /// Whether its evidence says what it says.
        Verification = "verification",
        /// Whether the run's rules allow what it asks for.
        Protocol = "protocol",
    }
}

/// What a result is judged against.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The rules.
    pub config: &'a Config,
    /// The state of the run.
    pub state: &'a State,
    /// The turn that the result is for: the one that is meant, or the only active one.
    pub turn: Option<&'a Turn>,
    /// What the run has so far.
    pub index: &'a RunIndex,
}

/// How a result is corrected.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Leniency {
    /// Nothing is corrected, and what is otherwise a warning is refused where the protocol's
    /// text asks for it: a turn that wants a person says why.
    pub strict: bool,
    /// A person says that a claim of work in the workspace is a review.
    pub force_review: bool,
}

/// One thing that is wrong with a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// What kind of thing it is.
    pub code: Code,
    /// What is wrong, for people.
    pub message: String,
    /// The member that it is about.
    pub field: Option<String>,
    /// The path that it is about, as it was written.
    pub path: Option<String>,
    /// The rule in the protocol's own words.
    pub detail: Option<&'static str>,
}

/// What came of judging a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Validation {
    /// The stage that found something wrong; `None` when all passed.
    pub failed_stage: Option<Stage>,
    /// Everything that the stage found.
    pub problems: Vec<Problem>,
    /// What is odd and allowed.
    pub warnings: Vec<String>,
}

/// A result that was corrected and judged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// The result as it was judged.
    pub result: Value,
    /// What was corrected, in order.
    pub rewrites: Vec<Rewrite>,
    /// What came of it.
    pub validation: Validation,
}

/// Reads staged bytes.
///
/// # Errors
/// When they are too many, or not one JSON document that all readers understand alike.
pub fn read_staged(bytes: &[u8]) -> Result<Value, String> {
    if bytes.len() > MAX_RESULT_BYTES {
        return Err(format!(
            "the staged result has more than {MAX_RESULT_BYTES} bytes"
        ));
    }
    accord_canon::read(bytes)
        .map_err(|error| format!("the staged result is not valid JSON: {error}"))
}

/// Corrects and judges a staged result; `Err` is why there is none.
///
/// Clauses: AX-STRICT-SHAPE.
pub fn judge(
    staged: Result<Value, String>,
    situation: &Situation<'_>,
    leniency: Leniency,
) -> Judged {
    let staged = match staged {
        Ok(staged) => staged,
        Err(why) => {
            return Judged {
                result: Value::Null,
                rewrites: Vec::new(),
                validation: Validation::failed(
                    Stage::Schema,
                    vec![Problem::new(Code::XchainSchemaError, why)],
                ),
            };
        }
    };
    let (result, rewrites) = if rule!(leniency.strict; CorrectedWhenStrict => false) {
        (staged, Vec::new())
    } else {
        normalize(staged, situation, leniency)
    };
    let mut validation = validate(&result, situation, leniency.strict);
    let said = rewrites.iter().map(Rewrite::to_string);
    validation.warnings.splice(0..0, said);
    Judged {
        result,
        rewrites,
        validation,
    }
}

impl Situation<'_> {
    /// The role whose turn it is.
    pub fn role(&self) -> Option<&Role> {
        self.config.role(self.turn?.role())
    }

    /// What that role may do to the repository.
    pub fn authority(&self) -> Option<WriteAuthority> {
        self.role().map(|role| role.authority)
    }

    /// What carries the turn out.
    pub fn runtime(&self) -> Option<RuntimeType> {
        let id = self
            .turn?
            .runtime_id()
            .or_else(|| self.role()?.runtime.as_deref())?;
        self.config.runtime(id).map(|runtime| runtime.kind)
    }
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            field: None,
            path: None,
            detail: None,
        }
    }

    pub(crate) fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    pub(crate) fn detail(mut self, detail: &'static str) -> Self {
        self.detail = Some(detail);
        self
    }
}

impl Validation {
    pub(crate) fn failed(stage: Stage, problems: Vec<Problem>) -> Self {
        Self {
            failed_stage: Some(stage),
            problems,
            warnings: Vec::new(),
        }
    }

    /// The stages that passed.
    pub fn stages_passed(&self) -> Vec<&'static str> {
        let passed = Stage::ALL
            .iter()
            .take_while(|stage| Some(**stage) != self.failed_stage);
        passed.map(|stage| stage.as_str()).collect()
    }

    /// What is wrong, for people.
    pub fn errors(&self) -> Vec<String> {
        self.problems
            .iter()
            .map(|problem| problem.message.clone())
            .collect()
    }

    /// The problem that names the refusal: that two requests exclude each other says more
    /// than what is wrong with either; otherwise the first.
    pub fn headline(&self) -> Option<&Problem> {
        let exclusive = |problem: &&Problem| problem.code == Code::XchainMutuallyExclusiveRequests;
        let found = self.problems.iter().find(exclusive);
        found.or_else(|| self.problems.first())
    }

    /// The failure that the problems are.
    pub fn failure(&self) -> Option<Failure> {
        let (stage, first) = (self.failed_stage?, self.headline()?);
        let mut details = Object::new();
        details.insert("failed_stage".into(), stage.as_str().into());
        details.insert("error_type".into(), first.code.as_str().into());
        details.insert("errors".into(), array(&self.errors()));
        for (name, value) in [
            ("error_field", first.field.as_deref()),
            ("error_path", first.path.as_deref()),
            ("error_detail", first.detail),
        ] {
            if let Some(value) = value {
                details.insert(name.into(), value.into());
            }
        }
        let message = format!("the {stage} stage refused the result: {}", first.message);
        let mut failure = Failure::new(Code::XchainValidationFailed, message);
        failure.details = Some(Box::new(details));
        Some(failure)
    }
}
