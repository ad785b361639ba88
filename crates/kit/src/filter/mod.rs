//! Filter expressions, which select cases.
//!
//! Predicates: `id(glob)`, `clause(glob)`, `op(glob)` (an operation or a route), `level(name)`,
//! `area(name)` (the second segment of the id) and `strength(name)`. They are joined with `&` or
//! `and`, `|` or `or`, `!` or `not`, and parentheses. A bare word is a pattern for the id; without
//! `*` and `?` it matches anywhere in it.

mod check;
pub(crate) mod glob;
mod parse;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::case::Case;
use crate::corpus::Protocol;
use glob::Glob;

/// A parsed filter expression.
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    expr: Expr,
}

/// A filter expression that cannot be parsed, or names something that the protocol does not have.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("column {column}: {message}")]
#[non_exhaustive]
pub struct FilterError {
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl Filter {
    /// Whether the filter selects this case.
    pub fn matches(&self, case: &Case) -> bool {
        self.expr.matches(case)
    }

    /// Checks that the protocol has what the filter names. A pattern for ids may match nothing.
    pub fn check(&self, protocol: &Protocol) -> Result<(), FilterError> {
        check::check(&self.expr, protocol)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let expr = parse::parse(text)?;
        Ok(Self { text: text.to_owned(), expr })
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Expr {
    /// All of them. A list and not a tree, so that a long chain does not nest.
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Is(Predicate, usize),
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Predicate {
    Id(Glob),
    IdPart(String),
    Clause(Glob),
    Operation(Glob),
    Level(String),
    Area(String),
    Strength(String),
}

impl Expr {
    fn matches(&self, case: &Case) -> bool {
        match self {
            Self::And(all) => all.iter().all(|expr| expr.matches(case)),
            Self::Or(any) => any.iter().any(|expr| expr.matches(case)),
            Self::Not(inner) => !inner.matches(case),
            Self::Is(predicate, _) => predicate.matches(case),
        }
    }
}

impl Predicate {
    fn matches(&self, case: &Case) -> bool {
        match self {
            Self::Id(glob) => glob.matches(&case.id),
            Self::IdPart(part) => case.id.contains(part.as_str()),
            Self::Clause(glob) => case.clauses.iter().any(|clause| glob.matches(clause)),
            Self::Operation(glob) => case.operations().any(|name| glob.matches(name)),
            Self::Level(level) => case.level() == *level,
            Self::Area(area) => case.area() == area,
            Self::Strength(strength) => case.strength.as_str() == strength,
        }
    }
}
