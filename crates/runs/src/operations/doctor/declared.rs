//! Programs, variables and files that a configuration names and that may be missing here.

use accord_contract::{Code, Failure};
use accord_process::Invocation;
use accord_runs_core::hooks::{Hook, HookMode, HookPhase, Transport};
use accord_runs_core::{Config, RepoPath, Role};

use super::{Finding, Level, error_of};
use crate::{Runs, runtime, web};

impl Runs {
    pub(super) fn check_runtimes(&self, config: &Config, findings: &mut Vec<Finding>) {
        for declared in config.runtimes() {
            let usable = runtime::check_all(declared, self.repository().root());
            let Err(failure) = usable else { continue };
            let is_own = |role: &&Role| role.runtime.as_deref() == Some(&declared.id);
            let roles = config.roles().iter().filter(is_own);
            let roles: Vec<&str> = roles.map(|role| role.id.as_str()).collect();
            let subject = format!("agentxchain.json, runtimes.{}", declared.id);
            let mut finding = error_of(failure.code, &subject, failure.message);
            if let Some(suggestion) = failure.suggestion {
                finding.advice = suggestion;
            }
            if roles.is_empty() {
                finding.level = Level::Warning;
            } else {
                finding.message += &format!("; it runs the turns of {}", roles.join(", "));
            }
            findings.push(finding);
        }
    }

    pub(super) fn check_hooks(&self, config: &Config, findings: &mut Vec<Finding>) {
        for phase in HookPhase::ALL {
            for hook in config.hooks(*phase) {
                let Err(message) = self.check_hook(&hook) else { continue };
                let stops = hook.mode == HookMode::Blocking;
                findings.push(Finding {
                    level: if stops { Level::Error } else { Level::Warning },
                    subject: format!("agentxchain.json, hooks.{}, {}", phase.as_str(), hook.name),
                    message,
                    advice: "install what the hook needs, or correct it in agentxchain.json".into(),
                    code: stops.then_some(Code::XchainHookBlocked),
                });
            }
        }
    }

    fn check_hook(&self, hook: &Hook) -> Result<(), String> {
        match &hook.transport {
            Transport::Process { command } => {
                let words = command.split_first().ok_or("the hook names no program")?;
                let invocation = Invocation::new(words.0, words.1).cwd(self.repository().root());
                invocation.locate().map(drop).map_err(|error| error.to_string())
            }
            Transport::Http { headers, .. } => {
                headers.iter().try_for_each(|(_, value)| web::expand(value, &hook.env).map(drop))
            }
        }
    }

    /// Prompt files that the configuration names. The default file of a role may be missing.
    pub(super) fn check_prompts(&self, config: &Config, findings: &mut Vec<Finding>) {
        let named = config.document().get("prompts");
        let named = named.and_then(|prompts| prompts.as_object());
        for (role, path) in named.into_iter().flatten() {
            let Some(path) = path.as_str() else { continue };
            let subject = format!("agentxchain.json, prompts.{role}");
            let found = match RepoPath::parse(path) {
                Ok(inside) => self.repository().stat(&inside).map_err(Failure::from),
                Err(error) => {
                    let message = format!("{path:?}: {error}");
                    Err(Failure::new(Code::XchainPathOutsideRepository, message))
                }
            };
            match found {
                Ok(Some(_)) => {}
                Ok(None) => findings.push(Finding::warning(
                    subject,
                    format!("{path} does not exist, so the role gets no instructions from it"),
                    "write the file, or correct its path",
                )),
                Err(failure) => findings.push(error_of(failure.code, &subject, failure.message)),
            }
        }
    }
}
