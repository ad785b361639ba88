//! The audit log of hooks: one entry for each hook that ran or was skipped.

use accord_contract::{Object, Time, Value, wire_enum};

use super::{Execution, Hook, HookMode, Verdict, VerdictDocument};
use crate::{build, rule};

const MAX_ERROR_CHARS: usize = 4096;

wire_enum! {
    pub enum Action("OrchestratorAction", closed) {
        Continued = "continued",
        Warned = "warned",
        /// It refused, but is advisory.
        DowngradedBlockToWarn = "downgraded_block_to_warn",
        WarnedFailure = "warned_failure",
        WarnedTimeout = "warned_timeout",
        /// Its output is invalid, but it is advisory.
        WarnedInvalidOutput = "warned_invalid_output",
        Blocked = "blocked",
        BlockedFailure = "blocked_failure",
        BlockedTimeout = "blocked_timeout",
        BlockedInvalidOutput = "blocked_invalid_output",
        /// It changed a protected file.
        AbortedTamper = "aborted_tamper",
        /// An earlier hook refused.
        Skipped = "skipped",
    }
}

impl Action {
    pub fn continues(self) -> bool {
        !self.is_block() && self != Self::AbortedTamper
    }

    pub(crate) fn is_block(self) -> bool {
        use Action::{Blocked, BlockedFailure, BlockedInvalidOutput, BlockedTimeout};
        matches!(self, Blocked | BlockedFailure | BlockedTimeout | BlockedInvalidOutput)
    }

    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Continued => Some(Verdict::Allow),
            Self::AbortedTamper | Self::Skipped => None,
            _ if self.is_block() => Some(Verdict::Block),
            _ => Some(Verdict::Warn),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub hook: String,
    pub action: Action,
    pub message: Option<String>,
    pub annotations: Vec<Value>,
    line: Object,
}

/// The members that all entries of a chain share.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) run_id: Value,
    pub(super) turn_id: Value,
}

impl AuditEntry {
    pub(super) fn ran(hook: &Hook, ran: &Execution, about: &About, at: Time) -> Self {
        let (action, message, annotations) = judge(hook.mode, ran);
        let transport = Some(hook.transport.as_str());
        let line = line(hook, transport, about, at, action, &message, &annotations, ran);
        Self { hook: hook.name.clone(), action, message, annotations, line }
    }

    /// The entry of a hook that was skipped after a refusal.
    pub(super) fn skipped(hook: &Hook, about: &About, at: Time) -> Self {
        let action = Action::Skipped;
        let line = line(hook, None, about, at, action, &None, &[], &Execution::default());
        let hook = hook.name.clone();
        Self { hook, action, message: None, annotations: Vec::new(), line }
    }

    pub fn line(&self) -> &Object {
        &self.line
    }
}

/// Tampering has precedence, then a timeout, a failure, invalid output, and the verdict.
///
/// Clauses: AX-HK-DOWNGRADE, AX-HK-FAILURE, AX-HK-BLOCK, AX-HK-OUTPUT, AX-HK-ADVISORY-OUTPUT,
/// AX-HK-TIMEOUT, AX-HK-ADVISORY-TIMEOUT, AX-HK-ADVISORY-FAILURE, AX-HK-WARN.
fn judge(mode: HookMode, ran: &Execution) -> (Action, Option<String>, Vec<Value>) {
    let pick = |advisory, blocking| match mode {
        HookMode::Advisory => advisory,
        HookMode::Blocking => blocking,
    };
    if !ran.tampered.is_empty() {
        let message = format!("the hook changed {}", ran.tampered.join(", "));
        return (Action::AbortedTamper, Some(message), Vec::new());
    }
    if rule!(ran.timed_out; TimeoutAsFailure => false) {
        let action = pick(Action::WarnedTimeout, Action::BlockedTimeout);
        return (action, Some("the hook timed out".to_owned()), Vec::new());
    }
    let said_no = rule!(ran.exit_code != Some(0); ExitCodeIgnored => false);
    if ran.failure.is_some() || said_no {
        let message = ran.failure.clone().unwrap_or_else(|| match ran.exit_code {
            Some(code) => format!("the hook ended with {code}"),
            None => "the hook was ended by a signal".into(),
        });
        let action = pick(Action::WarnedFailure, Action::BlockedFailure);
        return (action, Some(message), Vec::new());
    }
    match VerdictDocument::read(&ran.output) {
        Err(why) => {
            let action = pick(Action::WarnedInvalidOutput, Action::BlockedInvalidOutput);
            (action, Some(why), Vec::new())
        }
        Ok(said) => {
            let action = match said.verdict {
                Verdict::Allow => Action::Continued,
                Verdict::Warn => Action::Warned,
                Verdict::Block => rule!(
                    pick(Action::DowngradedBlockToWarn, Action::Blocked);
                    AdvisoryBlocks => Action::Blocked
                ),
            };
            (action, said.message, said.annotations)
        }
    }
}

/// Clauses: AX-HK-AUDIT, AX-HK-HOOK-ID, AX-HK-HTTP.
#[expect(clippy::too_many_arguments, reason = "the one place where an audit line gets its members")]
fn line(
    hook: &Hook,
    transport: Option<&str>,
    about: &About,
    at: Time,
    action: Action,
    message: &Option<String>,
    annotations: &[Value],
    ran: &Execution,
) -> Object {
    let kept = rule!(MAX_ERROR_CHARS; ErrorsUnrecorded => 0);
    let errors: String = ran.errors.chars().take(kept).collect();
    let mut line = build([
        ("timestamp", at.to_string().into()),
        ("hook_phase", hook.phase.as_str().into()),
        ("hook_name", hook.name.as_str().into()),
        // The protocol text and its cases use different names for the hook.
        ("hook_id", hook.name.as_str().into()),
    ]);
    if let Some(transport) = transport {
        line.insert("transport".into(), transport.into());
    }
    line.extend(build([
        ("run_id", about.run_id.clone()),
        ("turn_id", about.turn_id.clone()),
        ("duration_ms", ran.duration_ms.into()),
        ("verdict", action.verdict().map(Verdict::as_str).into()),
        ("message", message.clone().into()),
        ("annotations", annotations.to_vec().into()),
        ("exit_code", ran.exit_code.into()),
        ("timed_out", ran.timed_out.into()),
        ("stderr_excerpt", errors.into()),
        ("orchestrator_action", action.as_str().into()),
    ]));
    line
}
