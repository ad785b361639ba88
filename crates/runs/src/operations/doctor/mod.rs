//! The check-up: everything that blocks a run or may block it later.

mod declared;
mod mistyped;
mod run;
mod strays;

use accord_contract::Code;
use accord_runs_core::config::{Config, problems};
pub use accord_runs_core::operations::answers::Level;

pub(crate) use mistyped::mistyped_findings;
pub(crate) use strays::stray_findings;

use crate::facts::is_by_hand;
use crate::repository::{FindingKind, RepositoryError};
use crate::{Git, Runs};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub level: Level,
    /// What it is about: a file, a member of the configuration, a runtime.
    pub subject: String,
    pub message: String,
    pub advice: String,
    pub code: Option<Code>,
}

impl Finding {
    fn warning(
        subject: impl Into<String>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let (subject, message, advice) = (subject.into(), message.into(), advice.into());
        Self { level: Level::Warning, subject, message, advice, code: None }
    }
}

impl Runs {
    /// Checks everything and changes nothing; most severe findings first.
    pub fn doctor(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let config = self.check_config(&mut findings);
        self.check_files(&mut findings);
        self.check_repo_decisions(&mut findings);
        self.check_coordinator_config(&mut findings);
        if let Some(config) = &config {
            self.check_runtimes(config, &mut findings);
            self.check_hooks(config, &mut findings);
            self.check_prompts(config, &mut findings);
            let code = Code::XchainInvalidConfig;
            findings.extend(stray_findings("agentxchain.json", code, &config.unknown_members()));
            self.check_types(config, &mut findings);
            if let Ok(state) = self.state() {
                self.check_phase(&state, config, &mut findings);
                self.check_run(&state, &mut findings);
            }
        }
        for path in self.forged_proposals().unwrap_or_default() {
            let message = "a proposal or a decision on one that the records do not have";
            findings.push(Finding::warning(path, message, "look at it, then remove it"));
        }
        self.check_git(&mut findings);
        findings.sort_by_key(|finding| match finding.level {
            Level::Error => 0,
            Level::Warning => 1,
            Level::Note => 2,
        });
        findings
    }

    fn check_config(&self, findings: &mut Vec<Finding>) -> Option<Config> {
        match self.repository().config() {
            Err(error) => {
                let code = error.code();
                findings.push(error_of(code, "agentxchain.json", error.to_string()));
                None
            }
            Ok(document) => {
                for problem in problems(&document) {
                    let subject = match problem.field.as_str() {
                        "" => "agentxchain.json".to_owned(),
                        field => format!("agentxchain.json, {field}"),
                    };
                    findings.push(error_of(problem.code, &subject, problem.message));
                }
                // Check the valid parts of it nevertheless.
                document.as_object().cloned().map(Config::lenient)
            }
        }
    }

    fn check_files(&self, findings: &mut Vec<Finding>) {
        let checked = self.repository().checkup();
        let failed =
            |error: &RepositoryError| error_of(error.code(), "the repository", error.to_string());
        findings.extend(checked.as_ref().err().map(failed));
        let found = checked.unwrap_or_default();
        for file in found {
            let (level, code, advice) = advice_for(file.kind);
            let mut subject = file.path;
            if let Some(line) = file.line {
                subject += &format!(", line {line}");
            }
            if let Some(field) = &file.field {
                subject += &format!(", {field}");
            }
            let (message, advice) = (file.detail, advice.to_owned());
            findings.push(Finding { level, subject, message, advice, code });
        }
    }

    /// Fails if git cannot be used, or if it was changed since a turn of a worker was assigned.
    fn look_at(&self, git: &Git) -> accord_runs_core::Result<()> {
        let (Ok(config), Ok(state)) = (self.config(), self.state()) else {
            return git.changes().map(drop);
        };
        for turn in state.turns() {
            git.observe(turn.baseline().as_ref(), is_by_hand(&config, turn))?;
        }
        if state.turns().len() == 0 { git.changes().map(drop) } else { Ok(()) }
    }

    fn check_git(&self, findings: &mut Vec<Finding>) {
        match self.environment.git(self.repository().root()) {
            Err(failure) => findings.push(error_of(failure.code, "git", failure.message)),
            Ok(None) => {
                let message = "the repository does not use git, so that declared changes cannot \
                               be compared with what changed";
                let note = Finding::warning("git", message, "git init, where that matters");
                findings.push(Finding { level: Level::Note, ..note });
            }
            Ok(Some(git)) => {
                if let Err(failure) = self.look_at(&git) {
                    findings.push(error_of(failure.code, "git", failure.message));
                } else if let Err(failure) = git.check_identity() {
                    // Without it, every checkpoint of a turn fails.
                    let advice = failure.suggestion.clone();
                    let mut finding = error_of(failure.code, "git", failure.message);
                    finding.advice = advice.unwrap_or(finding.advice);
                    findings.push(finding);
                }
            }
        }
    }
}

fn error_of(code: Code, subject: &str, message: String) -> Finding {
    Finding {
        level: Level::Error,
        subject: subject.to_owned(),
        message,
        advice: code.meaning().to_owned(),
        code: Some(code),
    }
}

fn advice_for(kind: FindingKind) -> (Level, Option<Code>, &'static str) {
    use Level::{Error, Note, Warning};
    let restore = "restore the file from version control or a backup";
    let correct = "correct the value, or restore the file from version control or a backup";
    match kind {
        FindingKind::TornLine => {
            (Warning, None, "nothing: the next command that writes truncates the torn line")
        }
        FindingKind::DamagedLine => (Error, Some(Code::XchainRecordInvalid), restore),
        FindingKind::DuplicateDecision => {
            let advice = "nothing must be done; give new decisions ids that the run has not used";
            (Warning, None, advice)
        }
        FindingKind::WaitingJournal => {
            (Warning, None, "nothing: the next command that writes finishes it")
        }
        FindingKind::DamagedJournal => {
            (Error, Some(Code::XchainRecordInvalid), "examine the journal, then move it away")
        }
        FindingKind::ObstructedJournal => {
            let advice = "remove what is in the way, or move it away; the next command that \
                          writes brings the change to its end";
            (Error, Some(Code::XchainCommitUnfinished), advice)
        }
        FindingKind::StaleLock => {
            (Note, None, "nothing: the next command that writes takes the lock over")
        }
        FindingKind::LeftTemporary => (Note, None, "delete it once no command is running"),
        FindingKind::DamagedState => (Error, Some(Code::XchainStateInvalid), restore),
        FindingKind::MistypedState => (Error, None, correct),
        FindingKind::MistypedRecord => (Warning, None, correct),
        FindingKind::Unreadable => {
            let advice = "correct the file's permissions or restore it";
            (Error, Some(Code::XchainFileSystemFailed), advice)
        }
    }
}
