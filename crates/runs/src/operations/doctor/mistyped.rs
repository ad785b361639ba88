//! Findings about members of a configuration that have another type than the declared one.

use accord_contract::{Code, Value};
use accord_runs_core::MistypedMember;
use accord_runs_core::config::{Config, problems};
use accord_runs_core::coordinator::CoordinatorConfig;

use super::{Finding, Level};
use crate::coordinator::COORDINATOR_CONFIG;
use crate::repository::limits;
use crate::{Runs, own_path};

impl Runs {
    /// The members of `agentxchain.json` whose types no rule of the configuration checks.
    pub(super) fn check_types(&self, config: &Config, findings: &mut Vec<Finding>) {
        let problems = problems(&Value::Object(config.document().clone()));
        let is_reported = |member: &MistypedMember| {
            problems.iter().any(|problem| {
                let rest = member.field.strip_prefix(&problem.field);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let mut mistyped = config.mistyped_members();
        mistyped.retain(|member| !is_reported(member));
        let code = Code::XchainInvalidConfig;
        findings.extend(mistyped_findings("agentxchain.json", code, &mistyped));
    }

    /// The configuration of an initiative, if the repository is its workspace.
    pub(super) fn check_coordinator_config(&self, findings: &mut Vec<Finding>) {
        let Ok(path) = own_path(COORDINATOR_CONFIG) else { return };
        // The commands of the coordinator report a file that cannot be read or breaks a rule.
        let Ok(Some(bytes)) = self.repository().read(&path, limits::DOCUMENT) else { return };
        let Ok(document) = accord_canon::read(&bytes) else { return };
        let Ok(config) = CoordinatorConfig::read(document) else { return };
        let code = Code::XchainInvalidCoordinatorConfig;
        let mistyped = config.mistyped_members();
        findings.extend(mistyped_findings(COORDINATOR_CONFIG, code, &mistyped));
    }
}

/// A finding for each mistyped member of a file. If the member would have closed a gate, the
/// finding is an error with the code of an invalid file.
pub(crate) fn mistyped_findings(
    file: &str,
    code: Code,
    mistyped: &[MistypedMember],
) -> Vec<Finding> {
    let finding = |member: &MistypedMember| Finding {
        level: if member.leaves_open { Level::Error } else { Level::Warning },
        subject: format!("{file}, {}", member.field),
        message: member.to_string(),
        advice: format!("write {}, or remove it", member.expected),
        code: member.leaves_open.then_some(code),
    };
    mistyped.iter().map(finding).collect()
}
