//! `project.yaml`: what a project says about itself, and the settings of its tree. Members that the
//! reference knows have its form. Those of Accord stand beside them, and the reference ignores
//! them. `apply` and `review` decide about the work of agents, so that the file alone does not set
//! them: [`Settings`] has the values that were committed through Accord.

use std::collections::{BTreeMap, HashMap};

use accord_contract::text::pretty;
use accord_contract::{
    Code, Failure, Limits as WireLimits, Object, TextForm, Value, Wire as _, message,
};
use accord_tasks_core::aof_project_id;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::operations::{ApplyMode, IdForm, LayoutName, ReviewMode};
use accord_tasks_core::route::Rules;
use accord_tasks_core::task::{OnViolation, Priority};
use accord_tasks_core::yaml::Yaml;
use accord_trees::{Disk, Stat, read_file};

use crate::Result;
use crate::layout::{MANIFEST, RunLayout};
use crate::tree::failure;

/// The largest `project.yaml`.
const MAX_FILE: u64 = 1024 * 1024;

message! {
    /// How many tasks may be in progress.
    pub struct ManifestLimits("TaskManifestLimits", open) {
        /// In the whole tree.
        optional running: u64 = "running", "count";
        /// In each team.
        optional teams: BTreeMap<String, u64> = "teams", "counts";
        /// How many are started by one poll.
        optional per_poll: u64 = "perPoll", "count";
    }

    /// How often a task is tried.
    pub struct ManifestRetry("TaskManifestRetry", open) {
        /// The attempts before a task becomes a dead letter.
        optional max_attempts: u64 = "maxAttempts", "count";
    }

    /// How long tasks may take, in the form of the reference.
    pub struct ManifestSla("TaskManifestSla", open) {
        /// The longest time in progress of a task that does not say otherwise.
        optional default_max_in_progress_ms: u64 = "defaultMaxInProgressMs", "duration:ms";
        /// What happens after that.
        optional on_violation: OnViolation = "onViolation", "action";
    }

    /// What new tasks get unless they say otherwise.
    pub struct ManifestDefaults("TaskManifestDefaults", open) {
        /// The priority.
        optional priority: Priority = "priority", "priority";
        /// The team.
        optional team: String = "team", "team";
    }

    /// `project.yaml`.
    pub struct Manifest("TaskManifest", open) {
        /// The id in AOF, which is the name of the folder.
        required id: String = "id", "aof-project-id", WireLimits::text(TextForm::ANY.not_empty());
        /// The id of the project, if AOF's rule does not allow it.
        optional project_id: String = "projectId", "project-id";
        /// The title.
        optional title: String = "title", "text";
        /// When a report moves its task.
        optional apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review.
        optional review: ReviewMode = "review", "review-mode";
        /// Where run artifacts are.
        optional layout: LayoutName = "layout", "run-layout";
        /// What tells the ids of tasks of one day apart.
        optional ids: IdForm = "ids", "task-id-form";
        /// How long a lease lasts.
        optional lease_ttl_ms: u64 = "leaseTtlMs", "duration:ms";
        /// How long a heartbeat lasts.
        optional heartbeat_ttl_ms: u64 = "heartbeatTtlMs", "duration:ms";
        /// How many tasks may be in progress.
        optional limits: ManifestLimits = "limits", "limits";
        /// How often a task is tried.
        optional retry: ManifestRetry = "retry", "retry";
        /// How long tasks may take.
        optional sla: ManifestSla = "sla", "sla";
        /// What new tasks get unless they say otherwise.
        optional defaults: ManifestDefaults = "defaults", "defaults";
    }

    /// `state/accord/settings.json`: the settings that count only as set through Accord.
    pub struct CommittedSettings("TaskCommittedSettings", open) {
        /// When a report moves its task.
        required apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review.
        required review: ReviewMode = "review", "review-mode";
        /// Who set them.
        required by: String = "by", "actor-id";
        /// Through which door.
        required door: String = "door", "door";
        /// When.
        required at: String = "at", "time:iso-8601";
        /// The digest of what the person saw who adopted them.
        optional evidence: String = "evidence", "evidence-digest";
    }
}

/// The settings of a tree, as they hold now.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `project.yaml`, if it exists.
    pub manifest: Option<Manifest>,
    /// The settings that were committed through Accord, if they were.
    pub committed: Option<CommittedSettings>,
    committed_text: Option<String>,
    stamp: Stamp,
}

/// What tells one version of a file from another.
type Stamp = Option<(u64, i64)>;

impl Settings {
    /// Reads `project.yaml`. What was committed through Accord is in the log of the tree.
    pub fn load(disk: &dyn Disk) -> Result<Self> {
        let stamp = stamp(disk);
        let manifest = text(disk, MANIFEST)?.map(|text| read_manifest(&text)).transpose()?;
        Ok(Self { manifest, committed: None, committed_text: None, stamp })
    }

    pub(crate) fn of(manifest: Manifest, committed: CommittedSettings) -> Self {
        let committed = Some(committed);
        Self { manifest: Some(manifest), committed, committed_text: None, stamp: None }
    }

    /// The settings with those that were committed, as the log has them. `None` if they have them.
    pub(crate) fn held_to(&self, committed: Option<&str>) -> Option<Self> {
        if self.committed_text.as_deref() == committed {
            return None;
        }
        let committed_text = committed.map(str::to_owned);
        Some(Self { committed: committed.and_then(read_committed), committed_text, ..self.clone() })
    }

    /// The settings with those that were committed according to others.
    #[must_use]
    pub(crate) fn held_as(self, others: &Self) -> Self {
        let (committed, committed_text) = (others.committed.clone(), others.committed_text.clone());
        Self { committed, committed_text, ..self }
    }

    /// Whether `project.yaml` changed since it was read.
    pub(crate) fn is_outdated(&self, disk: &dyn Disk) -> bool {
        self.stamp != stamp(disk)
    }

    /// When a report moves its task, and who may end a review: as set through Accord.
    pub fn rules(&self) -> Rules {
        let rules = |held: &CommittedSettings| Rules { apply: held.apply, review: held.review };
        self.committed.as_ref().map_or_else(Rules::default, rules)
    }

    pub fn layout(&self) -> RunLayout {
        match self.manifest.as_ref().and_then(|manifest| manifest.layout) {
            Some(LayoutName::Upstream) => RunLayout::Reference,
            _ => RunLayout::Guide,
        }
    }

    pub fn times(&self) -> LeaseTimes {
        let standard = LeaseTimes::default();
        let seconds = |ms: Option<u64>, standard: i64| {
            let seconds = ms.and_then(|ms| i64::try_from(ms.div_ceil(1_000)).ok());
            seconds.filter(|seconds| *seconds > 0).unwrap_or(standard)
        };
        let lease = self.manifest.as_ref().and_then(|manifest| manifest.lease_ttl_ms);
        let heartbeat = self.manifest.as_ref().and_then(|manifest| manifest.heartbeat_ttl_ms);
        LeaseTimes {
            lease_seconds: seconds(lease, standard.lease_seconds),
            heartbeat_seconds: seconds(heartbeat, standard.heartbeat_seconds),
        }
    }

    /// How many tasks may be in progress, in all and by team, where the project says so.
    pub fn limits(&self) -> (Option<usize>, HashMap<String, usize>) {
        let limits = self.manifest.as_ref().and_then(|manifest| manifest.limits.as_ref());
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let teams = limits.and_then(|limits| limits.teams.as_ref()).into_iter().flatten();
        let teams = teams.map(|(team, count)| (team.clone(), size(*count))).collect();
        (limits.and_then(|limits| limits.running).map(size), teams)
    }
}

impl Manifest {
    pub fn project(&self) -> &str {
        self.project_id.as_deref().unwrap_or(&self.id)
    }
}

pub(crate) fn read_manifest(text: &str) -> Result<Manifest> {
    let invalid =
        |why: String| Failure::new(Code::AofProjectManifestInvalid, format!("{MANIFEST}: {why}"));
    let yaml = Yaml::read(text).map_err(|error| invalid(error.to_string()))?;
    let members = Value::Object(yaml.members().clone());
    Manifest::from_document(members).map_err(|error| invalid(error.to_string()))
}

pub(crate) fn committed_text(committed: &CommittedSettings) -> String {
    match committed.encode() {
        Value::Object(members) => pretty(&members),
        _ => String::new(),
    }
}

pub(crate) fn read_committed(text: &str) -> Option<CommittedSettings> {
    let document = accord_canon::read(text.as_bytes()).ok()?;
    CommittedSettings::from_document(document).ok()
}

fn text(disk: &dyn Disk, path: &str) -> Result<Option<String>> {
    let bytes = read_file(disk, path, MAX_FILE).map_err(|error| failure(&error))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn stamp(disk: &dyn Disk) -> Stamp {
    let stat: Option<Stat> = disk.stat(MANIFEST).ok().flatten();
    stat.map(|stat| (stat.length, stat.modified_ms))
}

/// The members of `project.yaml` for an id.
pub(crate) fn new_members(project: &str) -> Object {
    let id = aof_project_id(project);
    let mut members = Object::new();
    members.insert("id".into(), id.as_str().into());
    if id != project {
        members.insert("projectId".into(), project.into());
    }
    members
}
