//! Records of decisions, of all protocols: lists them, and takes over those of other places.
//!
//! Invariant: what decides here writes its record in its own transaction. A record that comes
//! through here was made elsewhere, and names that place.

use accord_api::operations::decisions::{DecisionParams, TakeOverRequest};
use accord_base::decision::{DecisionId, DecisionPosition, DecisionProtocol, DecisionRecord};
use accord_base::{Author, By, Caller, Cursor as _, Decision, Need, ProjectId, fill_page};
use accord_contract::{Code, Failure};
use accord_store::{DecisionQuery, DecisionRow, Table, WriteUnit, record_decision};

use super::{Memory, UnitError, UnitResult, load};

/// The decisions of a page that names no number.
const DEFAULT: usize = 50;

#[derive(Clone, Debug, Default)]
pub struct DecisionPage {
    pub decisions: Vec<DecisionRecord>,
    pub next_cursor: Option<String>,
    /// The ids of damaged records that belong on this page.
    pub damaged: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct TakenDecisions {
    /// Those that are new.
    pub taken: Vec<DecisionId>,
    /// How many the project had before.
    pub known: u64,
}

impl Memory {
    /// A page of the decisions of a project, the newest first.
    pub async fn decisions(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: DecisionParams,
    ) -> Result<DecisionPage, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        let cursor = asked.cursor.as_deref();
        let after = cursor.map(|text| DecisionPosition::decode(text, &project)).transpose()?;
        let limit = asked.limit.map_or(DEFAULT, |limit| limit as usize);
        self.read(move |unit| {
            load::readable(unit, &access, &project)?;
            let mut page = DecisionPage::default();
            let read = |after: Option<&DecisionPosition>, limit| {
                let query = DecisionQuery {
                    protocol: asked.protocol,
                    kind: asked.kind.as_deref(),
                    subject: asked.subject.as_deref(),
                    actor: asked.actor.as_deref(),
                    after: after.copied(),
                    limit,
                };
                Ok::<_, UnitError>(unit.decisions(&project, &query)?)
            };
            let next = fill_page(limit, after, read, DecisionRow::position, |row| {
                let bytes = row.text.len();
                match load::decision_of(&row) {
                    Ok(record) => {
                        page.decisions.push(record);
                        Ok(Some(bytes))
                    }
                    Err(_) => {
                        page.damaged.push(row.decision_id.into_string());
                        Ok(None)
                    }
                }
            })?;
            page.damaged.extend(load::unreadable(unit, Table::Decision));
            page.next_cursor = next.map(|place| place.encode(&project));
            Ok(page)
        })
        .await
    }

    /// Takes over decisions that were recorded elsewhere. Those that the project has are skipped.
    /// Fails with `unauthorized` unless the caller owns the data folder, `not_for_workers`.
    pub async fn take_over_decisions(
        &self,
        caller: &Caller,
        project: &ProjectId,
        request: TakeOverRequest,
    ) -> Result<TakenDecisions, Failure> {
        caller.authorize(Need::Decide(Decision::Grant), project, Author::unnamed())?;
        if !caller.is_owner() {
            let message = "only the owner of the data folder takes over decisions";
            return Err(Failure::new(Code::AccessDenied, message)
                .suggesting("run the command on the machine of the host, for its data folder"));
        }
        let TakeOverRequest { source, mut decisions } = request;
        for (place, record) in decisions.iter_mut().enumerate() {
            check(record).map_err(|(member, message)| {
                let at = format!("/decisions/{place}/{member}");
                Failure::new(Code::WireFieldValue, message).at(at)
            })?;
            record.taken_over_from = Some(source.clone());
        }
        let (memory, project) = (self.clone(), project.clone());
        self.write(move |unit| {
            let found = load::known_project(unit, &project)?;
            let found = found.ok_or_else(|| accord_memory_core::project::not_found(&project))?;
            found.must_take_writes()?;
            memory.add_decisions(unit, &project, &decisions)
        })
        .await
    }

    fn add_decisions(
        &self,
        unit: &mut dyn WriteUnit,
        project: &ProjectId,
        decisions: &[DecisionRecord],
    ) -> UnitResult<TakenDecisions> {
        let mut done = TakenDecisions::default();
        for record in decisions {
            let now = self.now_in(unit, project)?;
            match record_decision(unit, project, record, now)? {
                true => done.taken.push(record.decision_id.clone()),
                false => done.known += 1,
            }
        }
        Ok(done)
    }
}

/// Checks that a record is that of a person, in a protocol whose decisions are taken outside of a
/// host. Returns the wrong member and what is wrong with it.
fn check(record: &DecisionRecord) -> Result<(), (&'static str, String)> {
    if record.protocol != DecisionProtocol::Runs {
        let message = "only decisions about governed runs are taken over; a host records those of \
                       packages, tasks and live sessions itself";
        return Err(("protocol", message.to_owned()));
    }
    let by = By::parse(&record.actor, record.door);
    if !by.is_ok_and(|by| by.is_person()) {
        let message = format!("{:?} is not a person, such as human:lead", record.actor);
        return Err(("actor", message));
    }
    Ok(())
}
