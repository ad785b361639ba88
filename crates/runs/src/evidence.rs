//! Gathers the evidence of a person's decision.

use std::path::Path;

use accord_process::Cancel;
use accord_runs_core::evidence::{EvidenceDigest, Facts, Subject};
use accord_runs_core::{Approval, Config, Consent, Result, State};

use crate::{Git, Operation, Repository, Runs};

impl Runs {
    /// The evidence of a decision at this moment. Fails if configuration, state or git cannot be
    /// read.
    pub fn evidence(&self, subject: &Subject<'_>) -> Result<EvidenceDigest> {
        self.evidence_in(&self.config()?, &self.state()?, subject)
    }

    pub(crate) fn evidence_in(
        &self,
        config: &Config,
        state: &State,
        subject: &Subject<'_>,
    ) -> Result<EvidenceDigest> {
        digest(self.repository(), self.environment.cancel_token(), config, state, subject)
    }
}

impl Operation<'_> {
    /// The decision of a person about the evidence at this moment. Fails with `evidence_changed` if
    /// the person saw other evidence.
    pub(crate) fn approval(&self, subject: &Subject<'_>, consent: &Consent) -> Result<Approval> {
        let cancel = self.environment.cancel_token();
        consent.about(digest(&self.locked, cancel, &self.config, &self.state, subject)?)
    }
}

fn digest(
    repository: &Repository,
    cancel: Option<&Cancel>,
    config: &Config,
    state: &State,
    subject: &Subject<'_>,
) -> Result<EvidenceDigest> {
    let files = subject.files(state, config);
    let facts = Facts {
        head: head(repository.root(), cancel)?,
        files: files.iter().map(|path| (path.to_string(), repository.file_digest(path))).collect(),
    };
    subject.digest(state, config, &facts)
}

/// The commit of a repository; `None` without version control or before the first commit.
pub(crate) fn head(root: &Path, cancel: Option<&Cancel>) -> Result<Option<String>> {
    Git::find(root, cancel)?.map_or(Ok(None), |git| git.head())
}
