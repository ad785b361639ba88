//! Projects: create, list, read, change, archive, restore.

use accord_base::{Access, Caller, EventKind, Page, ProjectId, ProjectPosition, Verb, fill_page};
use accord_contract::{Failure, Time, Timestamp};
use accord_memory_core::project::{self, ProjectUpdate};
use accord_memory_core::query::ProjectQuery;
use accord_memory_core::{Project, event};
use accord_store::{ProjectRow, ReadUnit, Table, WriteUnit};
use accord_system::random;

use super::load::unreadable;
use super::page::{Listed, Writing};
use super::record::{create_project, record};
use super::{Memory, UnitError, UnitResult, load};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CreatedProject {
    pub new: bool,
    pub project: Project,
}

impl Memory {
    pub async fn create_project(
        &self,
        caller: &Caller,
        sent: &[u8],
    ) -> Result<CreatedProject, Failure> {
        let mut asked = project::requested(sent, random(), self.now())?;
        caller.access().may(Verb::Admin, &asked.project_id)?;
        let memory = self.clone();
        self.write(move |unit| {
            let existing = load::known_project(unit, &asked.project_id)?;
            let now = memory.now_in(unit, &asked.project_id)?;
            asked.created_at = Timestamp::emit(now);
            let (new, project) = match (project::create(&asked, existing.as_ref())?, existing) {
                (ProjectUpdate::Changed(project), _) => {
                    create_project(unit, Some(&project), now)?;
                    (true, *project)
                }
                (ProjectUpdate::Unchanged, existing) => {
                    (false, existing.expect("an unchanged project exists"))
                }
            };
            Ok(CreatedProject { new, project })
        })
        .await
    }

    /// The projects that the caller covers, in the order of their ids.
    pub async fn projects(&self, caller: &Caller, asked: ProjectQuery) -> Result<Page, Failure> {
        let access = caller.access().clone();
        access.may_anywhere(Verb::Read)?;
        self.read(move |unit| {
            let (mut items, mut damaged) = (Vec::new(), Vec::new());
            let next = walk_projects(unit, &access, &asked, |row| {
                if load::project_of(&row).is_err() {
                    damaged.push(row.project_id.as_str().to_owned());
                    return Ok(None);
                }
                let bytes = row.text.len();
                items.push((row.text, row.project_id));
                Ok(Some(bytes))
            })?;
            damaged.extend(unreadable_projects(unit, &access));
            let writing = Writing {
                max_tokens: asked.max_tokens,
                text: String::as_str,
                head: &["project_id", "name"],
                cursor: &|id: &ProjectId| ProjectPosition { project_id: id.clone() }.encode(),
            };
            let listed = Listed { items, next };
            let (items, next_cursor, budgeted) = listed.within(&writing, &damaged, |after| {
                let after = Some(ProjectPosition { project_id: after.clone() });
                let rest = ProjectQuery { limit: u32::MAX, after, ..asked.clone() };
                let mut total = 0;
                walk_projects(unit, &access, &rest, |_| {
                    total += 1;
                    Ok(Some(0))
                })?;
                Ok(total)
            })?;
            Ok(Page { items, next_cursor, damaged, budgeted })
        })
        .await
    }

    pub async fn project(&self, caller: &Caller, id: &ProjectId) -> Result<Project, Failure> {
        let (access, id) = (caller.access().clone(), id.clone());
        self.read(move |unit| load::project(unit, &access, Verb::Read, &id)).await
    }

    /// Creates a project for a write of another protocol, as a deposit does, unless it exists.
    /// Returns whether it is new.
    pub async fn ensure_project(&self, caller: &Caller, id: &ProjectId) -> Result<bool, Failure> {
        caller.access().may(Verb::Write, id)?;
        let (memory, named) = (self.clone(), id.clone());
        let found = self.read(move |unit| load::known_project(unit, &named)).await?;
        if let Some(found) = found {
            found.must_take_writes()?;
            return Ok(false);
        }
        let id = id.clone();
        self.write(move |unit| memory.ensure_in(unit, &id)).await
    }

    pub async fn change_project(
        &self,
        caller: &Caller,
        id: &ProjectId,
        sent: &[u8],
    ) -> Result<Project, Failure> {
        caller.access().may(Verb::Admin, id)?;
        let change = project::change(sent)?;
        self.update(caller, id, event::PROJECT_UPDATED, move |project, _| {
            project.changed(change.clone())
        })
        .await
    }

    /// Archives a project, which then refuses writes.
    pub async fn archive(&self, caller: &Caller, id: &ProjectId) -> Result<Project, Failure> {
        self.update(caller, id, event::PROJECT_ARCHIVED, |old, now| Ok(old.archived(now))).await
    }

    pub async fn unarchive(&self, caller: &Caller, id: &ProjectId) -> Result<Project, Failure> {
        self.update(caller, id, event::PROJECT_RESTORED, |project, _| Ok(project.restored())).await
    }

    async fn update(
        &self,
        caller: &Caller,
        id: &ProjectId,
        kind: EventKind,
        decide: impl Fn(&Project, Time) -> Result<ProjectUpdate, Failure> + Send + 'static,
    ) -> Result<Project, Failure> {
        let (memory, access, id) = (self.clone(), caller.access().clone(), id.clone());
        self.write(move |unit: &mut dyn WriteUnit| {
            let project = load::project(unit, &access, Verb::Admin, &id)?;
            let now = memory.now_in(unit, &id)?;
            match decide(&project, now)? {
                ProjectUpdate::Unchanged => Ok(project),
                ProjectUpdate::Changed(changed) => {
                    unit.update_project(&load::row_of_project(&changed))?;
                    record(unit, &event::about_project(kind.clone(), &changed, now))?;
                    Ok(*changed)
                }
            }
        })
        .await
    }
}

/// The unreadable projects that a unit met and that the caller covers.
pub(crate) fn unreadable_projects(unit: &dyn ReadUnit, access: &Access) -> Vec<String> {
    let mut met = unreadable(unit, Table::Project);
    // A row without an id belongs to no project that the caller could cover.
    met.retain(|id| match id.parse() {
        Ok(id) => access.covers(&id),
        Err(_) => access.projects().is_none(),
    });
    met
}

/// Takes the projects that the caller covers, and returns the id after which the list continues.
pub(crate) fn walk_projects(
    unit: &dyn ReadUnit,
    access: &Access,
    asked: &ProjectQuery,
    take: impl FnMut(ProjectRow) -> UnitResult<Option<usize>>,
) -> UnitResult<Option<ProjectId>> {
    let shown = |row: &ProjectRow| asked.include_archived || row.archived_at.is_none();
    let read = |after: Option<&ProjectId>, limit: usize| -> UnitResult<Vec<ProjectRow>> {
        // A key with a list of projects reads only those, because there may be many others.
        if let Some(covered) = access.projects() {
            let rest = covered.iter().filter(|id| after.is_none_or(|after| *id > after));
            let rows = rest.filter_map(|id| load::if_sound(unit.project(id)).transpose());
            let shown = rows.filter(|row| row.as_ref().map_or(true, shown));
            return shown.take(limit).collect();
        }
        let query = accord_store::ProjectQuery { archived: asked.include_archived, after, limit };
        Ok(unit.projects(&query)?)
    };
    let after = asked.after.as_ref().map(|place| place.project_id.clone());
    let limit = asked.limit as usize;
    fill_page::<_, _, UnitError>(limit, after, read, |row| row.project_id.clone(), take)
}
