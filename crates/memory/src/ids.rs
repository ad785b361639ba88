//! The ids that begin with a text, for people who type the beginning of an id.

use accord_base::{Caller, ProjectId, Verb};
use accord_contract::Failure;
use accord_memory_core::PackageId;
use accord_memory_core::query::{IdKind, IdQuery, MAX_IDS};
use accord_store::ReadUnit;

use super::{Memory, UnitResult, load};

/// How many ids are read at most: some of them may not be shown.
const READ: usize = 100;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MatchingIds {
    /// The first of them, each with its project.
    pub ids: Vec<(ProjectId, String)>,
    pub more: bool,
}

impl Memory {
    /// The ids of a kind that begin with a text, in the caller's projects.
    pub async fn ids(&self, caller: &Caller, asked: IdQuery) -> Result<MatchingIds, Failure> {
        let access = caller.access().clone();
        self.read(move |unit| {
            load::may_in(&access, Verb::Read, asked.within.as_ref())?;
            let projects: Vec<Option<&ProjectId>> = match (&asked.within, access.projects()) {
                (Some(project), _) => vec![Some(project)],
                // Each on its own, so that those of other projects do not fill the list.
                (None, Some(projects)) => projects.iter().map(Some).collect(),
                (None, None) => vec![None],
            };
            let (mut found, kind) = (Vec::new(), asked.kind.unwrap_or(IdKind::Package));
            for project in projects {
                let drafts = load::drafts(&access);
                for (project, id) in matching(unit, kind, &asked.prefix, project)? {
                    let is_shown = match (kind, id.parse()) {
                        (IdKind::Session, _) => true,
                        // The id of another actor's draft is not shown.
                        (IdKind::Package, Ok(id)) => {
                            load::may_be_named(unit.package(&project, &id), drafts)?
                        }
                        (IdKind::Package, Err(_)) => false,
                    };
                    if is_shown {
                        found.push((id, project));
                    }
                }
            }
            found.sort();
            let more = found.len() > MAX_IDS;
            found.truncate(MAX_IDS);
            let ids = found.into_iter().map(|(id, project)| (project, id)).collect();
            Ok(MatchingIds { ids, more })
        })
        .await
    }
}

fn matching(
    unit: &dyn ReadUnit,
    kind: IdKind,
    prefix: &str,
    within: Option<&ProjectId>,
) -> UnitResult<Vec<(ProjectId, String)>> {
    Ok(match kind {
        IdKind::Package => {
            let mut found = unit.package_ids(prefix, within, READ)?;
            // A short id, as a briefing shows it, lacks the prefix of generated ids.
            let beginning = PackageId::new(prefix).ok().and_then(|id| id.beginning());
            if let Some(beginning) = beginning.filter(|beginning| beginning != prefix) {
                found.extend(unit.package_ids(&beginning, within, READ)?);
            }
            let found = found.into_iter();
            found.map(|(project, id)| (project, id.as_str().to_owned())).collect()
        }
        IdKind::Session => {
            let found = unit.session_ids(prefix, within, READ)?.into_iter();
            found.map(|(project, id)| (project, id.as_str().to_owned())).collect()
        }
    })
}
