//! Deposit: decides whether a package is new, a replay, or a conflict with the package of its id.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Value, Wire as _};

use crate::lifecycle::Revision;
use crate::package::transport_text;
use crate::project::{Project, Writing};
use crate::{ContentHash, Package, Warning, text};

/// The stored state that a deposit depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepositState {
    /// The hashes of the package of the same id, if it exists.
    pub known: Option<KnownPackage>,
    /// Whether the package that it names as its parent is in the project.
    pub parent_known: bool,
    /// Whether its session is in the project.
    pub session_known: bool,
}

/// The hashes of a package that is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KnownPackage {
    /// The hash with which it was deposited.
    pub deposited: ContentHash,
    /// The hash that it has now.
    pub current: ContentHash,
}

/// The decision about a deposit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deposit {
    /// Store the package.
    New {
        /// The project to create with it.
        create_project: Option<Box<Project>>,
        /// The first entry of its log.
        revision: Box<Revision>,
        /// Warnings about it.
        warnings: Vec<Warning>,
    },
    /// The same package was deposited before.
    Replay,
}

/// The answer to a deposit: the package with its hash, and warnings.
///
/// Clauses: AGENTIC-R-026, AGENTIC-R-043.
pub fn answer(stored: &str, hash: &ContentHash, warnings: &[Warning]) -> String {
    let answer = transport_text(stored, hash);
    if warnings.is_empty() {
        return answer;
    }
    let warnings: Value = warnings.iter().map(Warning::encode).collect();
    text::append(&answer, "warnings", &warnings.to_string())
}

/// Decides the deposit of `package`.
///
/// Clauses: AGENTIC-R-044, AGENTIC-R-045, AGENTIC-R-022, AGENTIC-R-051, AGENTIC-R-052,
/// AGENTIC-R-065, AGENTIC-A-03, AGENTIC-A-20, AGENTIC-A-39.
///
/// A replay is answered as before even when the project was archived meanwhile, because nothing is
/// written.
///
/// # Errors
/// With `invalid_schema` at `project_id` when it names another project, with
/// `duplicate_package_id`, `project_archived` or `project_not_found`.
pub fn deposit(
    package: &Package,
    writing: &Writing<'_>,
    state: DepositState,
) -> Result<Deposit, Failure> {
    let hash = *package.content_hash();
    // A retry sends the package as it was deposited, or as it was read after a transition. The hash
    // covers `project_id`, so the check of the project is not needed here.
    if let Some(known) = state.known
        && (hash == known.deposited || hash == known.current)
    {
        return Ok(Deposit::Replay);
    }
    package.must_belong_to(writing.project_id)?;
    let created = writing.admit()?;
    if state.known.is_some() {
        let message =
            format!("the project has another package {:?}", package.package_id().as_str());
        let failure = Failure::new(Code::AgenticDuplicatePackageId, message);
        return Err(failure.at("/package_id"));
    }
    let mut warnings = Vec::new();
    if let Some(parent) = package.fields().parent()
        && !state.parent_known
    {
        warnings.push(Warning::unknown_package("parent_package_id", &parent));
    }
    if let Some(session) = package.fields().created_by.session()
        && !state.session_known
    {
        warnings.push(Warning::unknown_session("created_by", session));
    }
    Ok(Deposit::New {
        create_project: created.map(Box::new),
        revision: Box::new(Revision::deposited(package, writing.actor.cloned(), writing.now)),
        warnings,
    })
}
