//! Staged results: read, normalized and validated.
//!
//! A result is [read](read_staged), [normalized](normalize) and then validated in five
//! [stages](Stage). The first stage that finds a problem is the last one that runs.
//!
//! Invariants:
//! - nothing is corrected silently: every rewrite has a code and a field;
//! - normalization never adds a request that the turn did not make;
//! - a valid result names only files inside the repository, and no file of the run itself.

mod normalize;
mod turn_result;
mod validate;

use accord_contract::{Code, Failure, Object, Value, wire_enum};

pub use normalize::{Rewrite, RewriteCode, normalize};
pub use turn_result::{TurnResult, TurnStatusClaim, Verification};
pub use validate::validate;

use crate::{Config, Role, RunIndex, RuntimeType, State, Turn, WriteAuthority, array, rule};

pub(crate) const MAX_RESULT_BYTES: usize = 8 << 20;

wire_enum! {
    pub enum Stage("ValidationStage", closed) {
        Schema = "schema",
        Assignment = "assignment",
        /// The role may change the files that it changed.
        Artifact = "artifact",
        Verification = "verification",
        /// The rules of the run allow the requests.
        Protocol = "protocol",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    pub config: &'a Config,
    pub state: &'a State,
    /// The turn of the result: the named one, or the only active one.
    pub turn: Option<&'a Turn>,
    pub index: &'a RunIndex,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Leniency {
    /// No corrections. Some warnings become errors where the protocol text requires it: a turn with
    /// `needs_human` must have a reason.
    pub strict: bool,
    /// A person declared that a claimed workspace change is a review.
    pub force_review: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub code: Code,
    pub message: String,
    pub field: Option<String>,
    /// The affected path, as it was written.
    pub path: Option<String>,
    /// The rule in the words of the protocol.
    pub detail: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// The stage that failed; `None` when all passed.
    pub failed_stage: Option<Stage>,
    pub problems: Vec<Problem>,
    /// Warnings about things that are unusual but allowed.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The result after normalization.
    pub result: Value,
    pub rewrites: Vec<Rewrite>,
    pub validation: Validation,
}

/// Parses a staged result. Fails when it is too large or not one unambiguous JSON document.
pub fn read_staged(bytes: &[u8]) -> Result<Value, String> {
    // The limit is checked before parsing, because a worker controls the file.
    if bytes.len() > MAX_RESULT_BYTES {
        return Err(format!("the staged result has more than {MAX_RESULT_BYTES} bytes"));
    }
    accord_canon::read(bytes).map_err(|why| format!("the staged result is not valid JSON: {why}"))
}

/// Normalizes and validates a staged result. An error says why there is none.
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
            let problems = vec![Problem::new(Code::XchainSchemaError, why)];
            let validation = Validation::failed(Stage::Schema, problems);
            return Judged { result: Value::Null, rewrites: Vec::new(), validation };
        }
    };
    let (result, rewrites) = if rule!(leniency.strict; CorrectedWhenStrict => false) {
        (staged, Vec::new())
    } else {
        normalize(staged, situation, leniency)
    };
    let mut validation = validate(&result, situation, leniency);
    validation.warnings.splice(0..0, rewrites.iter().map(Rewrite::to_string));
    Judged { result, rewrites, validation }
}

impl Situation<'_> {
    pub fn role(&self) -> Option<&Role> {
        self.config.role(self.turn?.role())
    }

    pub fn authority(&self) -> Option<WriteAuthority> {
        self.role().map(|role| role.authority)
    }

    pub fn runtime(&self) -> Option<RuntimeType> {
        let id = self.turn?.runtime_id().or_else(|| self.role()?.runtime.as_deref())?;
        self.config.runtime(id).map(|runtime| runtime.kind)
    }
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, path: None, detail: None }
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
        Self { failed_stage: Some(stage), problems, warnings: Vec::new() }
    }

    pub fn stages_passed(&self) -> Vec<&'static str> {
        let passed = Stage::ALL.iter().take_while(|stage| Some(**stage) != self.failed_stage);
        passed.map(|stage| stage.as_str()).collect()
    }

    pub fn errors(&self) -> Vec<String> {
        self.problems.iter().map(|problem| problem.message.clone()).collect()
    }

    /// The problem that names the refusal: the first one, or that of two requests that exclude each
    /// other. In the protocol's cases an unknown phase precedes the latter.
    pub fn headline(&self) -> Option<&Problem> {
        let exclusive = |problem: &&Problem| problem.code == Code::XchainMutuallyExclusiveRequests;
        let found = self.problems.iter().find(exclusive);
        found.or_else(|| self.problems.first())
    }

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
