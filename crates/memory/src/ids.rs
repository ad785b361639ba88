//! The ids that begin with a text, for people who type the beginning of an id.

use accord_base::{Caller, ProjectId, Verb};
use accord_contract::Failure;
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
            let projects: Vec<Option<&ProjectId>> = match (&asked.within, access.projects()) {
                (Some(project), _) => {
                    access.may(Verb::Read, project)?;
                    vec![Some(project)]
                }
                (None, covered) => {
                    access.may_anywhere(Verb::Read)?;
                    // Each on its own, so that those of other projects do not fill the list.
                    match covered {
                        Some(projects) => projects.iter().map(Some).collect(),
                        None => vec![None],
                    }
                }
            };
            let mut found = Vec::new();
            for project in projects {
                let drafts = load::drafts(&access);
                for (project, id) in matching(unit, &asked, project)? {
                    let is_shown = match kind(&asked) {
                        IdKind::Session => true,
                        // The id of another actor's draft is not shown.
                        IdKind::Package => match id.parse() {
                            Ok(id) => load::may_be_named(unit.package(&project, &id), drafts)?,
                            Err(_) => false,
                        },
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
    asked: &IdQuery,
    within: Option<&ProjectId>,
) -> UnitResult<Vec<(ProjectId, String)>> {
    Ok(match kind(asked) {
        IdKind::Package => {
            let found = unit.package_ids(&asked.prefix, within, READ)?.into_iter();
            found.map(|(project, id)| (project, id.as_str().to_owned())).collect()
        }
        IdKind::Session => {
            let found = unit.session_ids(&asked.prefix, within, READ)?.into_iter();
            found.map(|(project, id)| (project, id.as_str().to_owned())).collect()
        }
    })
}

fn kind(asked: &IdQuery) -> IdKind {
    asked.kind.unwrap_or(IdKind::Package)
}
