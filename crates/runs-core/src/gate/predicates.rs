//! The conditions of a gate: files, their content, their owners, a verification.

use std::collections::BTreeSet;

use super::{View, semantics};
use crate::config::{Artifact, Config, Gate, Semantics};
use crate::{RepoPath, rule};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Failures {
    pub missing_files: Vec<String>,
    pub missing_verification: bool,
    /// Every unmet condition, for people, in order.
    pub reasons: Vec<String>,
    pub files: Vec<String>,
    /// The unmet conditions other than missing files and verification.
    others: Vec<String>,
}

impl Failures {
    pub(crate) fn other(reason: String) -> Self {
        Self { reasons: vec![reason.clone()], others: vec![reason], ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The reported reason: missing files, else the verification, else the first of the others.
    ///
    /// Clauses: AX-GATE-REASON-ORDER.
    pub fn reason(&self) -> &str {
        let files_missing = !self.missing_files.is_empty();
        if rule!(
            files_missing;
            VerificationNamedFirst => files_missing && !self.missing_verification
        ) {
            "requires_files predicate failed"
        } else if self.missing_verification {
            "requires_verification_pass predicate failed"
        } else {
            self.others.first().map_or("", String::as_str)
        }
    }

    /// Which conditions are unmet, without what was found: an agent chooses the content of files.
    pub(crate) fn unmet(&self) -> String {
        let content = self.files.iter().filter(|file| !self.missing_files.contains(file));
        let verification = self.missing_verification.then(|| "verification".to_owned());
        let missing = self.missing_files.iter().map(|file| format!("{file} missing"));
        missing.chain(content.cloned()).chain(verification).collect::<Vec<_>>().join("|")
    }

    fn add(&mut self, path: &str, reason: String) {
        self.reasons.push(reason.clone());
        self.files.push(path.to_owned());
        self.others.push(reason);
    }
}

/// The files that a phase's gate reads, in the order of their evaluation.
pub fn needed_files(config: &Config, phase: &str) -> Vec<RepoPath> {
    let Some(gate) = config.exit_gate(phase) else { return Vec::new() };
    let artifacts = config.workflow().artifacts(phase).iter();
    let paths = gate.requires_files.iter().chain(artifacts.map(|artifact| &artifact.path));
    let mut seen = BTreeSet::new();
    let paths = paths.filter_map(|path| RepoPath::parse(path).ok());
    paths.filter(|path| seen.insert(path.clone())).collect()
}

/// The requirement on the content of a file, where the phase's gate checks more than its existence.
pub(crate) fn requirement(config: &Config, phase: &str, path: &RepoPath) -> Option<String> {
    let artifact = artifact(config, phase, path.as_str());
    let semantics = semantics_of(artifact, path.as_str())?;
    let sections = artifact.map_or(&[][..], |artifact| &artifact.required_sections);
    Some(semantics::requirement(semantics, sections))
}

fn artifact<'a>(config: &'a Config, phase: &str, path: &str) -> Option<&'a Artifact> {
    config.workflow().artifacts(phase).iter().find(|artifact| artifact.path == path)
}

fn semantics_of(artifact: Option<&Artifact>, path: &str) -> Option<Semantics> {
    artifact.and_then(|artifact| artifact.semantics).or_else(|| Semantics::of_path(path))
}

/// Evaluates a gate.
///
/// Clauses: AX-GATE-FILES, AX-GATE-VERIFICATION.
pub(super) fn failures(gate: &Gate, view: &View<'_>) -> Failures {
    let mut failures = Failures::default();
    let artifacts = view.config.workflow().artifacts(view.phase);
    // A path that is also an artifact is evaluated once, as a file of the gate. Its owner is still
    // checked below.
    let mut judged = BTreeSet::new();
    let required = gate.requires_files.iter();
    for path in required.take(rule!(usize::MAX; FirstFileOnly => 1)) {
        let artifact = artifact(view.config, view.phase, path);
        let sections = artifact.map_or(&[][..], |artifact| &artifact.required_sections);
        judged.insert(path.clone());
        file((path, true), (semantics_of(artifact, path), sections), view, &mut failures);
    }
    for artifact in artifacts {
        if !judged.contains(&artifact.path) {
            let content = (artifact.semantics, artifact.required_sections.as_slice());
            file((&artifact.path, artifact.required), content, view, &mut failures);
        }
        if let Some(owner) = &artifact.owned_by {
            let present = artifact.required || read(&artifact.path, view).is_some();
            let had_turn = view.index.participated(view.phase, owner)
                || view.asking_role == Some(owner.as_str());
            if present && !had_turn {
                let reason = format!(
                    "{} is owned by {owner}, who has had no accepted turn in the phase {}",
                    artifact.path, view.phase
                );
                failures.add(&artifact.path, reason);
            }
        }
    }
    // The raw status counts here, as in the reference runner. The normalized one is for policies.
    if rule!(gate.requires_verification_pass; VerificationNotAsked => false)
        && !matches!(view.verification, Some("pass" | "attested_pass"))
    {
        let found = view.verification.unwrap_or("missing");
        // The reason is not in `others`: `reason` has a fixed text for it.
        failures.missing_verification = true;
        failures.reasons.push(format!("the verification must pass; it is {found}"));
    }
    failures
}

fn file(
    (path, required): (&str, bool),
    (semantics, sections): (Option<Semantics>, &[String]),
    view: &View<'_>,
    failures: &mut Failures,
) {
    let Some(content) = read(path, view) else {
        if rule!(required; MissingFilePasses => false) {
            failures.missing_files.push(path.to_owned());
            failures.reasons.push(format!("{path} is missing"));
            failures.files.push(path.to_owned());
        }
        return;
    };
    if let Some(reason) = semantics.and_then(|it| semantics::evaluate(it, path, content, sections))
    {
        failures.add(path, reason);
    }
}

fn read<'a>(path: &str, view: &View<'a>) -> Option<&'a str> {
    let path = RepoPath::parse(path).ok()?;
    view.files.get(path.as_str()).map(String::as_str)
}
