//! The documents that each phase requires, and how they are evaluated.

use accord_contract::{Object, Value, wire_enum};

use crate::members::{self, entries, list, text, texts};
use crate::{RepoPath, rule};

wire_enum! {
    pub enum Semantics("GateSemantics", closed) {
        /// The product owner has approved.
        PmSignoff = "pm_signoff",
        /// The specification of the system is complete.
        SystemSpec = "system_spec",
        /// The implementation is described.
        ImplementationNotes = "implementation_notes",
        /// Every requirement has passed.
        AcceptanceMatrix = "acceptance_matrix",
        /// The verdict allows shipping.
        ShipVerdict = "ship_verdict",
        /// The release is described for users.
        ReleaseNotes = "release_notes",
        /// The required sections have content.
        SectionCheck = "section_check",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// Its path, normalized.
    pub path: String,
    pub semantics: Option<Semantics>,
    /// The sections that [`Semantics::SectionCheck`] requires.
    pub required_sections: Vec<String>,
    pub required: bool,
    /// The owner, which must have had a turn in the phase.
    pub owned_by: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowKit {
    phases: Vec<(String, Vec<Artifact>)>,
}

wire_enum! {
    pub enum Template("WorkflowTemplate", closed) {
        PlanningDefault = "planning-default",
        ImplementationDefault = "implementation-default",
        QaDefault = "qa-default",
        ArchitectureReview = "architecture-review",
        SecurityReview = "security-review",
    }
}

impl Semantics {
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        Some(match path {
            ".planning/PM_SIGNOFF.md" => Self::PmSignoff,
            ".planning/SYSTEM_SPEC.md" => Self::SystemSpec,
            ".planning/IMPLEMENTATION_NOTES.md" => Self::ImplementationNotes,
            ".planning/acceptance-matrix.md" => Self::AcceptanceMatrix,
            ".planning/ship-verdict.md" => Self::ShipVerdict,
            ".planning/RELEASE_NOTES.md" => Self::ReleaseNotes,
            _ => return None,
        })
    }
}

impl WorkflowKit {
    /// The documents of a project: the declared ones, or the default ones without a declaration. An
    /// empty declaration requires none.
    pub(super) fn of_project(document: &Object) -> Self {
        // An empty object opts out of the default documents, so presence decides and not content.
        if document.contains_key("workflow_kit") {
            return Self::declared(document);
        }
        use Template::{ImplementationDefault, PlanningDefault, QaDefault};
        let templates =
            [PlanningDefault, ImplementationDefault, QaDefault].map(Template::artifacts);
        let phases = super::DEFAULT_PHASES.map(str::to_owned).into_iter().zip(templates);
        Self { phases: phases.collect() }
    }

    pub(super) fn declared(document: &Object) -> Self {
        let kit = members::object(document, "workflow_kit");
        let phases = kit.into_iter().flat_map(|kit| entries(kit, "phases"));
        let of_phase = |(phase, value): (&String, &Value)| {
            let value = value.as_object()?;
            let template = text(value, "template").and_then(Template::parse);
            let mut artifacts = template.map_or_else(Vec::new, Template::artifacts);
            let own = list(value, "artifacts").iter().filter_map(Value::as_object);
            for artifact in own.filter_map(Artifact::extract) {
                artifacts.retain(|other| other.path != artifact.path);
                artifacts.push(artifact);
            }
            Some((phase.clone(), artifacts))
        };
        Self { phases: phases.filter_map(of_phase).collect() }
    }

    pub fn artifacts(&self, phase: &str) -> &[Artifact] {
        let found = self.phases.iter().find(|(name, _)| name == phase);
        found.map_or(&[], |(_, artifacts)| artifacts)
    }

    /// The only role that owns a document, in any phase.
    pub fn owner(&self, path: &str) -> Option<&str> {
        let artifacts = self.phases.iter().flat_map(|(_, artifacts)| artifacts);
        let of_path = artifacts.filter(|artifact| artifact.path == path);
        let mut owners = of_path.filter_map(|artifact| artifact.owned_by.as_deref());
        // Two owners mean that neither can revise the document alone.
        let owner = owners.next()?;
        owners.all(|other| other == owner).then_some(owner)
    }
}

/// Normalizes a path of the configuration, so that files are found and compared by one spelling. A
/// text that is not a path inside the repository is unchanged; no file is found there.
///
/// Clauses: AX-GATE-SPELLING.
pub(super) fn spelled(path: &str) -> String {
    match RepoPath::parse(path) {
        Ok(sound) => rule!(sound.to_string(); GateFilesBySpelling => path.to_owned()),
        Err(_) => path.to_owned(),
    }
}

impl Artifact {
    fn extract(members: &Object) -> Option<Self> {
        let path = spelled(text(members, "path")?);
        let named = text(members, "semantics").and_then(Semantics::parse);
        let settings = members::object(members, "semantics_config");
        Some(Self {
            semantics: named.or_else(|| Semantics::of_path(&path)),
            required_sections: settings.map_or_else(Vec::new, |s| texts(s, "required_sections")),
            required: members.get("required") != Some(&false.into()),
            owned_by: text(members, "owned_by").map(str::to_owned),
            path,
        })
    }
}

impl Template {
    pub fn artifacts(self) -> Vec<Artifact> {
        let (paths, sections): (&[&str], &[&str]) = match self {
            Self::PlanningDefault => (
                &[".planning/PM_SIGNOFF.md", ".planning/SYSTEM_SPEC.md", ".planning/ROADMAP.md"],
                &[],
            ),
            Self::ImplementationDefault => (&[".planning/IMPLEMENTATION_NOTES.md"], &[]),
            Self::QaDefault => (
                &[
                    ".planning/acceptance-matrix.md",
                    ".planning/ship-verdict.md",
                    ".planning/RELEASE_NOTES.md",
                ],
                &[],
            ),
            Self::ArchitectureReview => (
                &[".planning/ARCHITECTURE.md"],
                &["## Context", "## Proposed Design", "## Trade-offs", "## Risks"],
            ),
            Self::SecurityReview => (
                &[".planning/SECURITY_REVIEW.md"],
                &["## Threat Model", "## Findings", "## Verdict"],
            ),
        };
        let sectioned = (!sections.is_empty()).then_some(Semantics::SectionCheck);
        let artifact = |path: &&str| Artifact {
            path: (*path).to_owned(),
            semantics: sectioned.or_else(|| Semantics::of_path(path)),
            required_sections: sections.iter().map(|name| (*name).to_owned()).collect(),
            required: true,
            owned_by: None,
        };
        paths.iter().map(artifact).collect()
    }
}
