//! JSON Schema as contracts use it: a subset of draft 07, with closed shapes.
//!
//!
//! Invariants:
//! * Every keyword of a schema is enforced, is known to say nothing about values, or refuses the
//!   schema. Nothing is ignored silently.
//! * Formats assert. Values are never converted, and defaults are never filled in.
//! * Compiling and checking take bounded time and memory, whatever the schema and the value are:
//!   the size of schemas is limited, patterns run in linear time, and the steps of a check are
//!   counted.

mod check;
mod closed;
mod compile;
mod formats;
mod node;
mod pattern;
mod question;
mod uri;

use accord_contract::Value;

use crate::violation::Violations;

pub use closed::close;
pub use compile::Quota;
pub(crate) use question::types;
pub use question::{Question, QuestionKind, QuestionMember, written};

/// A compiled schema. The shape of its objects is closed.
#[derive(Debug)]
pub struct Schema {
    root: node::Node,
}

impl Schema {
    /// Compiles one schema on its own. The fields of violations begin at the schema.
    pub fn compile(schema: &Value) -> Result<Self, Violations> {
        Self::compile_at(schema, "", &mut Quota::default())
    }

    /// Compiles a schema at `field` of a contract, from what is left of the contract's quota.
    ///
    /// Clauses: GGUI-SCHEMA-SUBSET, GGUI-SCHEMA-CLOSED.
    pub fn compile_at(schema: &Value, field: &str, quota: &mut Quota) -> Result<Self, Violations> {
        compile::compile(&close(schema), field, quota).map(|root| Self { root })
    }

    /// Every place where a value does not match. Their fields begin with `field`.
    ///
    /// Clauses: GGUI-SCHEMA-ALL-ERRORS, GGUI-SCHEMA-NO-COERCION, GGUI-VIOLATION-KEYWORD.
    pub fn check(&self, value: &Value, field: &str) -> Violations {
        check::check(&self.root, value, field)
    }

    pub fn accepts(&self, value: &Value) -> bool {
        check::accepts(&self.root, value)
    }
}
