//! Deposit: decides whether a package is new, a replay, or a conflict with the package of its id.

use accord_base::credential::CredentialPlace;
use accord_contract::{Code, Failure, Value, Wire as _};

use crate::lifecycle::Revision;
use crate::package::{ANSWERS, AnswerLink, Links, SUPERSEDES, Status, flow};
use crate::project::{Project, Writing};
use crate::{ActorType, ContentHash, Package, WARNINGS, Warning, refuse, text};

#[derive(Clone, Debug, Default)]
pub struct DepositState {
    /// The hashes of the package of the same id, if it exists.
    pub known: Option<KnownPackage>,
    pub parent_known: bool,
    pub session_known: bool,
    pub links: LinkTargets,
    /// The places of the package with credentials; none if they are allowed.
    pub credentials: Vec<CredentialPlace>,
    /// Whether Accord made the package itself, from a record.
    pub is_flow: bool,
}

/// What the links of a package lead to, each in the order of the links.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LinkTargets {
    pub answers: Vec<LinkTarget>,
    pub supersedes: Vec<LinkTarget>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkTarget {
    /// It is there, or the depositor may not know whether it is.
    Found,
    /// It is there, and a person wrote it.
    ByPerson,
    NoPackage,
    /// No package asks the question, or the package has none at that index.
    NoQuestion,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KnownPackage {
    pub deposited: ContentHash,
    pub current: ContentHash,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deposit {
    New {
        create_project: Option<Box<Project>>,
        revision: Box<Revision>,
        warnings: Vec<Warning>,
    },
    /// The same package was deposited before.
    Replay,
}

/// The answer to a change: the package with its hash and warnings. If the package has a member
/// `warnings` of its own, that one stays as it was deposited, and the warnings are returned apart.
/// Clauses: AGENTIC-R-026, AGENTIC-R-043.
pub fn answer(package: &Package, warnings: Vec<Warning>) -> (String, Option<Vec<Warning>>) {
    let answer = package.transport_text();
    if package.fields().extra.contains_key(WARNINGS) {
        return (answer, Some(warnings));
    }
    if warnings.is_empty() {
        return (answer, None);
    }
    let warnings: Value = warnings.iter().map(Warning::encode).collect();
    (text::append(&answer, WARNINGS, &warnings.to_string()), None)
}

/// Decides the deposit of `package`. Fails with `invalid_schema` at `project_id` when it names
/// another project, or at `x-answers` or `x-supersedes`, with `duplicate_package_id`,
/// `credential_found`, `reserved_package`, `project_archived` or `project_not_found`.
/// Clauses: AGENTIC-R-044, AGENTIC-R-045, AGENTIC-R-022, AGENTIC-R-051, AGENTIC-R-052,
/// AGENTIC-R-065, AGENTIC-A-03, AGENTIC-A-20, AGENTIC-A-39.
///
/// A replay is answered as before even when the project was archived meanwhile, because nothing is
/// written.
pub fn deposit(
    package: &Package,
    writing: &Writing<'_>,
    state: &DepositState,
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
    // After the lookup: a package that was stored with its credentials is still there.
    refuse::credentials(&state.credentials)?;
    Links::check(package.fields())?;
    if !state.is_flow {
        flow::check_free(package.fields())?;
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
    warnings.extend(link_warnings(package, &state.links));
    Ok(Deposit::New {
        create_project: created.map(Box::new),
        revision: Box::new(Revision::deposited(package, writing.actor.cloned(), writing.now)),
        warnings,
    })
}

/// Warnings about links that have no effect, or not yet. They never refuse a package, because its
/// targets may arrive later.
fn link_warnings(package: &Package, targets: &LinkTargets) -> Vec<Warning> {
    let fields = package.fields();
    let links = Links::of(fields);
    let mut warnings = Vec::new();
    for (index, (link, target)) in links.answers.iter().zip(&targets.answers).enumerate() {
        match (link, target) {
            (AnswerLink::Asked { package_id, .. }, LinkTarget::NoPackage) => {
                warnings.push(Warning::unknown_package(ANSWERS, package_id));
            }
            (_, LinkTarget::NoPackage | LinkTarget::NoQuestion) => {
                warnings.push(Warning::unknown_question(index));
            }
            (_, LinkTarget::Found | LinkTarget::ByPerson) => {}
        }
    }
    let is_final = package.status() == Status::Complete;
    let needs_review = is_final && fields.created_by.kind != ActorType::Human;
    for (id, target) in links.supersedes.iter().zip(&targets.supersedes) {
        match target {
            LinkTarget::NoPackage | LinkTarget::NoQuestion => {
                warnings.push(Warning::unknown_package(SUPERSEDES, id));
            }
            LinkTarget::ByPerson if needs_review => warnings.push(Warning::needs_review(id)),
            LinkTarget::Found | LinkTarget::ByPerson => {}
        }
    }
    warnings
}
