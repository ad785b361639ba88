//! Deposits a package.
//!
//! Everything that depends on the package alone is done before its transaction begins.

use std::sync::Arc;

use accord_base::credential::CredentialPlace;
use accord_base::worker::Attempt;
use accord_base::{Actor, ActorKey, ActorType, Author, Caller, Decision, Need, ProjectId, Verb};
use accord_contract::{Code, Failure, Time, Timestamp};
use accord_memory_core::deposit::{Deposit, DepositState, KnownPackage, answer, deposit};
use accord_memory_core::package::{is_by_accord, with_minted_id};
use accord_memory_core::{Package, Warning, event};
use accord_store::{Drafts, EventEntry, PackageIndex, PackageRow, Quarantine, WriteUnit};
use accord_system::random;
use bytes::Bytes;

use super::attempts::{self, EndedWork, Left};
use super::record::create_project;
use super::served::{Damaged, Served};
use super::{Memory, UnitResult, load};

/// How a package is deposited.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepositOptions {
    /// Whether a package without an id gets one.
    pub mint: bool,
    /// Whether a package with credentials is stored.
    pub allow_credentials: bool,
    /// Whether Accord made the package itself, from a record of another protocol.
    pub flow: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deposited {
    pub new: bool,
    pub new_project: bool,
    /// The stored package, with warnings about it.
    pub package: Served,
}

pub(crate) struct Prepared {
    pub(crate) project_id: ProjectId,
    pub(crate) package: Package,
    pub(crate) index: PackageIndex,
    /// The places with credentials that are not allowed.
    pub(crate) credentials: Vec<CredentialPlace>,
    /// Whether Accord made the package itself.
    pub(crate) is_flow: bool,
    pub(crate) actor: Option<Actor>,
    /// The attempt of the worker that it comes from, if it comes from one.
    pub(crate) attempt: Option<Attempt>,
    /// The actor whose drafts alone the caller sees.
    pub(crate) drafts: Option<ActorKey>,
}

/// A package of a run says what a person approved: the key of an agent or a script vouches for
/// nobody. Without a key the process of the caller was checked.
fn check_flow_key(caller: &Caller) -> Result<(), Failure> {
    let is_key = caller.key_id().is_some();
    let is_person = caller.access().actor().is_some_and(|actor| actor.kind == ActorType::Human);
    if !is_key || is_person {
        return Ok(());
    }
    let message = "packages of governed runs are deposited with the key of a person";
    Err(Failure::new(Code::AofPersonRequired, message)
        .suggesting("accord key create --actor human:NAME --verb approve"))
}

/// What Accord made says so: nothing else may have the members that only Accord sets.
fn check_flow_author(package: &Package) -> Result<(), Failure> {
    if is_by_accord(package.fields()) {
        return Ok(());
    }
    let message = "a package of a governed run is of script:accord";
    Err(Failure::new(Code::AgenticReservedPackage, message).at("/created_by"))
}

impl Prepared {
    /// The same with another package.
    fn with(&self, package: Package) -> Self {
        Self {
            project_id: self.project_id.clone(),
            index: PackageIndex::of(package.fields()),
            package,
            credentials: self.credentials.clone(),
            is_flow: self.is_flow,
            actor: self.actor.clone(),
            attempt: self.attempt.clone(),
            drafts: self.drafts.clone(),
        }
    }
}

/// The rows of a deposit, without their times.
pub(crate) struct Rows {
    pub(crate) package: PackageRow,
    pub(crate) event: EventEntry,
}

pub(crate) enum Stored {
    New { package: Box<Package>, warnings: Vec<Warning>, new_project: bool },
    Replay(Result<Served, Damaged>),
}

impl Memory {
    /// Deposits a package.
    pub async fn deposit(
        &self,
        caller: &Caller,
        project: &ProjectId,
        sent: Bytes,
        options: DepositOptions,
    ) -> Result<Deposited, Failure> {
        let access = caller.access();
        access.may(Verb::Write, project)?;
        // Parsing, hashing and indexing take the most time. One thread writes, so none of it
        // happens in the transaction.
        let DepositOptions { mint, allow_credentials, flow } = options;
        if flow {
            // What a run decided is what people rely on.
            access.may(Verb::Approve, project)?;
            caller.attribute(Need::Decide(Decision::Grant), Author::unnamed())?;
            check_flow_key(caller)?;
        }
        let (package, index, credentials) = self
            .compute(sent.len(), move || {
                let package = if mint {
                    Package::parse(with_minted_id(&sent, random())?.as_bytes())?
                } else {
                    Package::parse(&sent)?
                };
                let index = PackageIndex::of(package.fields());
                let credentials = match allow_credentials {
                    true => Vec::new(),
                    false => package.credentials(),
                };
                Ok((package, index, credentials))
            })
            .await?;
        if flow {
            check_flow_author(&package)?;
        }
        if flow && let Some(ended) = EndedWork::of_package(&package) {
            return self.deposit_rejection(project, ended, &package).await;
        }
        // The key of the person who commands in the repository deposits in the name of Accord.
        let author = package.fields().created_by.clone();
        let actor = match flow {
            true => Some(author),
            false => {
                let author = Author::claimed(Some(author), "/created_by");
                caller.attribute(Need::Write, author)?.actor
            }
        };
        let prepared = Arc::new(Prepared {
            project_id: project.clone(),
            actor,
            is_flow: flow,
            attempt: caller.attempt().cloned(),
            package,
            index,
            credentials,
            drafts: access.drafts_only_of().cloned(),
        });
        // The times are set again in the transaction, where the newest event of the project is
        // known.
        let (package, now) = (&prepared.package, self.now());
        let mut rows = Rows {
            package: load::row_of_package(package, *package.content_hash(), (1, false), now),
            event: EventEntry::from(&event::deposited(package, now)),
        };
        let (memory, deposit) = (self.clone(), prepared.clone());
        match self.write(move |unit| memory.store_deposit(unit, &deposit, &mut rows)).await? {
            Stored::New { package, warnings, new_project } => {
                let (text, apart) = answer(&package, warnings);
                let package = Served {
                    package_id: package.package_id().clone(),
                    content_hash: *package.content_hash(),
                    revision: 1,
                    text,
                    apart,
                };
                Ok(Deposited { new: true, new_project, package })
            }
            Stored::Replay(known) => self.sound(known).map(|package| Deposited {
                new: false,
                new_project: false,
                package,
            }),
        }
    }

    /// Clauses: AGENTIC-R-046.
    pub(crate) fn store_deposit(
        &self,
        unit: &mut dyn WriteUnit,
        prepared: &Prepared,
        rows: &mut Rows,
    ) -> UnitResult<Stored> {
        let linked = match prepared.is_flow {
            true => attempts::with_parent(unit, &prepared.project_id, &prepared.package)?,
            false => None,
        };
        if let Some(linked) = linked {
            let prepared = prepared.with(linked);
            rows.package = load::row_of_package(
                &prepared.package,
                *prepared.package.content_hash(),
                (1, false),
                rows.package.deposited_at.time(),
            );
            return self.store_deposit(unit, &prepared, rows);
        }
        let (project_id, package) = (&prepared.project_id, &prepared.package);
        // Looked up in the transaction: of several deposits of one id at the same time, one is new
        // and the others are replays or conflicts.
        let known = unit.package(project_id, package.package_id())?;
        let project = load::known_project(unit, project_id)?;
        // A missing parent or session gives a warning, never a refusal, because documents may
        // arrive in any order.
        let parent_known = match package.fields().parent() {
            Some(parent) => load::is_there(unit.package(project_id, &parent))?,
            None => false,
        };
        let session_known = match package.fields().created_by.session() {
            Some(session) => unit.session(project_id, session)?.is_some(),
            None => false,
        };
        let (known_project, actor) = (project.as_ref(), prepared.actor.as_ref());
        let writing = self.writing(unit, project_id, known_project, actor)?;
        let state = DepositState {
            known: known.as_ref().map(|known| KnownPackage {
                deposited: known.deposited_hash,
                current: known.state.content_hash,
            }),
            parent_known,
            session_known,
            credentials: prepared.credentials.clone(),
            is_flow: prepared.is_flow,
            links: unit.link_targets(
                project_id,
                prepared.index.links(),
                prepared.drafts.as_ref().map_or(Drafts::All, Drafts::Of),
            )?,
        };
        match deposit(package, &writing, &state)? {
            Deposit::Replay => {
                let mut known = known.expect("only an existing package is a replay");
                if known.quarantine.as_ref().is_some_and(Quarantine::is_rejected) {
                    attempts::show_again(unit, project_id, package.package_id())?;
                    known.quarantine = None;
                    note_work(unit, prepared, writing.now)?;
                } else if let Some(attempt) = &prepared.attempt {
                    let left = Left::Package(package.package_id());
                    attempts::note_again(unit, project_id, attempt, left, writing.now)?;
                }
                Ok(Stored::Replay(Served::of(known)))
            }
            Deposit::New { create_project: created, revision, warnings } => {
                create_project(unit, created.as_deref(), writing.now)?;
                let now = Timestamp::emit(writing.now);
                rows.package.deposited_at = now.clone();
                rows.event.at = now;
                let log = [load::row_of_revision(&revision)];
                unit.insert_package(&rows.package, &prepared.index, &log)?;
                unit.append_event(project_id, &rows.event)?;
                note_work(unit, prepared, writing.now)?;
                let (package, new_project) = (Box::new(package.clone()), created.is_some());
                Ok(Stored::New { package, warnings, new_project })
            }
        }
    }
}

/// Notes in which attempt a package was deposited.
fn note_work(unit: &mut dyn WriteUnit, prepared: &Prepared, now: Time) -> UnitResult<()> {
    let Some(attempt) = &prepared.attempt else { return Ok(()) };
    let left = Left::Package(prepared.package.package_id());
    attempts::note(unit, &prepared.project_id, attempt, left, now)
}
