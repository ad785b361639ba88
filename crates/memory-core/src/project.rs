//! Projects: what packages, facts and sessions belong to.
//!
//! Invariants:
//! - `project_id` and `created_at` never change;
//! - an archived project refuses all writes except its restoration and its removal;
//! - a project with contents can be removed only if it was created for a conformance run;
//! - unknown members are kept.

pub use accord_base::refuse::project_not_found as not_found;
use accord_contract::{
    Code, Failure, Field, Limits, Object, Time, Timestamp, Value, Wire as _, message,
};

use crate::limits::{MAX_DOCUMENT_BYTES, TEXT};
use crate::package::Title;
use crate::{Actor, ProjectId, refuse, text};

/// The member that marks a project of a conformance run.
const CONFORMANCE: &str = "x-conformance";

message! {
    // Clauses: AGENTIC-A-22.
    /// A bounded scope of work.
    pub struct Project("Project", open) {
        /// The project's id.
        required project_id: ProjectId = "project_id", "project-id";
        /// Its name.
        required name: Title = "name", "text-for-people";
        /// Its description.
        required description: String = "description", "text-for-people", Limits::text(TEXT);
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// When it was archived; null if it is not.
        required_or_null archived_at: Timestamp = "archived_at", "time:rfc-3339-utc";
    }

    /// Asks for a new project.
    pub struct ProjectRequest("ProjectRequest", open) {
        /// Its id; generated if absent.
        nullable project_id: ProjectId = "project_id", "project-id";
        /// Its name; its id if absent.
        nullable name: Title = "name", "text-for-people";
        /// Its description.
        nullable description: String = "description", "text-for-people", Limits::text(TEXT);
    }

    /// Changes a project. Absent members keep their values.
    pub struct ProjectChange("ProjectChange", open) {
        /// Its name.
        optional name: Title = "name", "text-for-people";
        /// Its description.
        nullable description: String = "description", "text-for-people", Limits::text(TEXT);
    }

    /// What a project holds.
    pub struct ProjectContents("ProjectContents", open) {
        /// Packages, drafts and quarantined ones included.
        required packages: u64 = "packages", "count";
        /// Facts, ended ones included.
        required facts: u64 = "facts", "count";
        /// Sessions.
        required sessions: u64 = "sessions", "count";
        /// Blobs.
        required blobs: u64 = "blobs", "count";
        /// Tasks, finished ones included. A project without a task tree has none.
        optional tasks: u64 = "tasks", "count";
        /// Live sessions that have not ended. One that has ended leaves only its counters.
        optional live_sessions: u64 = "live_sessions", "count";
        /// Records of decisions.
        optional decisions: u64 = "decisions", "count";
    }
}

impl ProjectContents {
    pub fn new([packages, facts, sessions, blobs]: [u64; 4]) -> Self {
        let (tasks, live_sessions, decisions, extra) = (None, None, None, Object::new());
        Self { packages, facts, sessions, blobs, tasks, live_sessions, decisions, extra }
    }

    /// The same with a number of live sessions that have not ended.
    #[must_use]
    pub fn with_live_sessions(mut self, sessions: u64) -> Self {
        self.live_sessions = (sessions > 0).then_some(sessions);
        self
    }

    /// The same with a number of decisions.
    #[must_use]
    pub fn with_decisions(mut self, decisions: u64) -> Self {
        self.decisions = (decisions > 0).then_some(decisions);
        self
    }

    /// The same with a number of tasks, which are not in the store.
    #[must_use]
    pub fn with_tasks(mut self, tasks: u64) -> Self {
        self.tasks = (tasks > 0).then_some(tasks);
        self
    }

    pub fn total(&self) -> u64 {
        let more = [self.tasks, self.live_sessions, self.decisions].iter().flatten().sum::<u64>();
        self.packages + self.facts + self.sessions + self.blobs + more
    }

    fn in_words(&self) -> String {
        let counts = [
            (self.packages, "package"),
            (self.facts, "fact"),
            (self.sessions, "session"),
            (self.blobs, "blob"),
            (self.tasks.unwrap_or(0), "task"),
            (self.live_sessions.unwrap_or(0), "live session"),
            (self.decisions.unwrap_or(0), "decision"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = counts
            .map(|(count, name)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        words.join(", ")
    }
}

/// Whether a write may create the project that it names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ProjectPolicy {
    /// The first write to a project creates it.
    #[default]
    Create,
    /// Projects are created only by an explicit request.
    Strict,
}

/// The context of a write: project, author and time.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    pub project_id: &'a ProjectId,
    pub project: Option<&'a Project>,
    pub policy: ProjectPolicy,
    pub actor: Option<&'a Actor>,
    /// The time. Within a project it never decreases; otherwise the fact that was asserted last
    /// might not be the current one.
    pub now: Time,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ProjectUpdate {
    /// The project has these values already.
    Unchanged,
    Changed(Box<Project>),
}

impl Writing<'_> {
    /// The new project that the write creates; `None` when the project exists. Fails with
    /// `project_archived`, or with `project_not_found` when writes may not create projects.
    pub fn admit(&self) -> Result<Option<Project>, Failure> {
        match (self.project, self.policy) {
            (Some(project), _) => project.must_take_writes().map(|()| None),
            (None, ProjectPolicy::Create) => {
                Ok(Some(Project::bare(self.project_id.clone(), self.now)))
            }
            (None, ProjectPolicy::Strict) => Err(not_found(self.project_id)),
        }
    }
}

impl Project {
    /// A project of which only the id is known.
    pub fn bare(project_id: ProjectId, now: Time) -> Self {
        // An id may be longer than a title.
        let name: String = project_id.as_str().chars().take(200).collect();
        Self {
            name: Title::parse(name).expect("an id is not empty"),
            project_id,
            description: String::new(),
            created_at: Timestamp::emit(now),
            archived_at: None,
            extra: Object::new(),
        }
    }

    /// Reads a project as it is exported or stored, in the form that [`Project`]
    /// writes or a shorter one.
    pub fn read(mut members: Object) -> Result<Self, Failure> {
        let id = members.get("project_id").cloned().unwrap_or_default();
        let fill = |members: &mut Object, name: &str, value: Value| {
            if members.get(name).is_none_or(Value::is_null) {
                members.insert(name.into(), value);
            }
        };
        if let Some(id) = id.as_str() {
            let name: String = id.chars().take(200).collect();
            fill(&mut members, "name", name.into());
        }
        fill(&mut members, "description", "".into());
        members.entry("archived_at").or_insert(Value::Null);
        Self::from_document(Value::Object(members)).map_err(refuse::decoded)
    }

    pub fn is_archived(&self) -> bool {
        self.archived_at.is_some()
    }

    /// Refuses a write to an archived project. Fails with `project_archived`.
    /// Clauses: AGENTIC-R-048, AGENTIC-A-23.
    pub fn must_take_writes(&self) -> Result<(), Failure> {
        let Some(since) = &self.archived_at else { return Ok(()) };
        let message =
            format!("the project {:?} is archived since {since}", self.project_id.as_str());
        Err(Failure::new(Code::AgenticProjectArchived, message))
    }

    /// The project with a change. Fails with `project_archived`.
    pub fn changed(&self, change: ProjectChange) -> Result<ProjectUpdate, Failure> {
        self.must_take_writes()?;
        let mut project = self.clone();
        if let Some(name) = change.name {
            project.name = name;
        }
        match change.description {
            Field::Absent => {}
            Field::Null => project.description.clear(),
            Field::Value(description) => project.description = description,
        }
        for (name, value) in change.extra {
            // `null` removes a member, because a member that is left out is kept.
            if value.is_null() {
                project.extra.shift_remove(&name);
            } else {
                project.extra.insert(name, value);
            }
        }
        Ok(self.update_to(project))
    }

    /// Whether the project is created for a conformance run. Asked when it is created, because
    /// a member that is set later does not make a project removable.
    pub fn is_for_conformance(&self) -> bool {
        self.extra.get(CONFORMANCE).is_some_and(|value| *value == Value::Bool(true))
    }

    /// Decides whether the project may be removed: it was created for a conformance run, or it
    /// holds nothing. An archived one may be removed, too. Fails with `project_not_empty`, and what
    /// it holds.
    pub fn must_be_removable(
        &self,
        created_for_conformance: bool,
        contents: &ProjectContents,
    ) -> Result<(), Failure> {
        if created_for_conformance || contents.total() == 0 {
            return Ok(());
        }
        let message = format!(
            "the project {:?} holds {}, and was not created with {CONFORMANCE:?}: true",
            self.project_id.as_str(),
            contents.in_words()
        );
        let failure = Failure::new(Code::AgenticProjectNotEmpty, message);
        Err(failure.with("contents", contents.encode()))
    }

    /// The project, archived at `now`. An archived project keeps its time.
    /// Clauses: AGENTIC-R-121.
    #[must_use]
    pub fn archived(&self, now: Time) -> ProjectUpdate {
        let mut project = self.clone();
        project.archived_at.get_or_insert_with(|| Timestamp::emit(now));
        self.update_to(project)
    }

    /// The project, no longer archived.
    /// Clauses: AGENTIC-R-121.
    #[must_use]
    pub fn restored(&self) -> ProjectUpdate {
        let mut project = self.clone();
        project.archived_at = None;
        self.update_to(project)
    }

    fn update_to(&self, project: Self) -> ProjectUpdate {
        if *self == project {
            ProjectUpdate::Unchanged
        } else {
            ProjectUpdate::Changed(Box::new(project))
        }
    }
}

/// Reads the request for a new project. Without an id it gets one from 16 random bytes.
pub fn requested(body: &[u8], random: [u8; 16], now: Time) -> Result<Project, Failure> {
    let mut members = text::object(body, MAX_DOCUMENT_BYTES)?;
    refuse::not_yours(&mut members, &["created_at", "archived_at"])?;
    let asked = ProjectRequest::from_document(Value::Object(members)).map_err(refuse::decoded)?;
    let id = asked.project_id.value().cloned();
    let mut project = Project::bare(id.unwrap_or_else(|| ProjectId::mint(random)), now);
    if let Field::Value(name) = asked.name {
        project.name = name;
    }
    if let Field::Value(description) = asked.description {
        project.description = description;
    }
    project.extra = asked.extra;
    Ok(project)
}

/// Decides whether a new project may be created. `existing` is the project of its id: the same
/// request twice creates it once. Fails with `duplicate_project_id` when another project has the
/// id.
/// Clauses: AGENTIC-A-21.
pub fn create(asked: &Project, existing: Option<&Project>) -> Result<ProjectUpdate, Failure> {
    let Some(existing) = existing else {
        return Ok(ProjectUpdate::Changed(Box::new(asked.clone())));
    };
    let same = existing.name == asked.name
        && existing.description == asked.description
        && existing.extra == asked.extra;
    if same {
        return Ok(ProjectUpdate::Unchanged);
    }
    let message = format!("there is a project {:?} already", asked.project_id.as_str());
    let failure = Failure::new(Code::AgenticDuplicateProjectId, message);
    Err(failure.at("/project_id"))
}

pub fn change(body: &[u8]) -> Result<ProjectChange, Failure> {
    let mut members = text::object(body, MAX_DOCUMENT_BYTES)?;
    refuse::not_yours(&mut members, &["project_id", "created_at", "archived_at"])?;
    ProjectChange::from_document(Value::Object(members)).map_err(refuse::decoded)
}
