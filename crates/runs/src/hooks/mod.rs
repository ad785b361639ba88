//! Runs hooks: programs and addresses that can warn, block or annotate at fixed points.
//!
//! Invariants:
//! - a hook's command is a list of words and is never passed to a shell;
//! - output, answer and run time of a hook are limited, and no process of its group survives it;
//! - protected files are restored after each hook;
//! - the audit line of a hook is written before the next hook starts.

mod http;
mod program;

use std::path::Path;

use accord_contract::{Object, Time, Value};
use accord_runs_core::hooks::{self, Execution, Hook, HookChain, Transport};
use accord_runs_core::{HookBatch, HookPhase, HookReport, Result, TurnId};

use crate::{Environment, LockedRepository, Notice, RecordFile};

const MAX_OUTPUT: usize = 1024 * 1024;

/// Runs the hooks of a batch, one after the other, and writes the audit. `extra` names files that
/// are protected in addition to the usual ones. Fails if the audit cannot be written or a protected
/// file cannot be restored; `given_up` if the command was cancelled, after protected files were
/// restored.
pub fn run(
    batch: HookBatch,
    locked: &LockedRepository,
    environment: &Environment,
    extra: &[String],
) -> Result<HookReport> {
    let scope = HookScope { locked, extra, others: &[], audit: RecordFile::HookAudit };
    run_in_scope(batch, &scope, environment)
}

pub(crate) struct HookScope<'a> {
    pub(crate) locked: &'a LockedRepository,
    /// Files in it that are protected in addition to the usual ones.
    pub(crate) extra: &'a [String],
    /// Other repositories that hooks must not change, by their name in the audit, with the files
    /// there that are protected in addition to the usual ones.
    pub(crate) others: &'a [(String, LockedRepository, Vec<String>)],
    pub(crate) audit: RecordFile,
}

/// Runs the hooks of a batch in a scope, as [`run`] does.
pub(crate) fn run_in_scope(
    batch: HookBatch,
    scope: &HookScope<'_>,
    environment: &Environment,
) -> Result<HookReport> {
    let locked = scope.locked;
    let phase = batch.phase;
    let run_id = batch.run_id.clone();
    let root = locked.root().to_string_lossy().into_owned();
    let mut chain = HookChain::new(batch);
    let mut written = 0;
    while let Some(hook) = chain.next().cloned() {
        let name = hook.name.clone();
        environment.notify(&Notice::HookStarted { phase, name: name.clone() });
        let payload = &chain.batch().payload;
        let envelope = hooks::envelope(&hook, run_id.as_deref(), &root, payload, environment.now());
        let variables = hooks::environment(&hook, run_id.as_deref(), &root);
        // For each hook again: the audit of the hook before is part of the records by now.
        let protected = locked.protect(scope.extra)?;
        let mut elsewhere = Vec::new();
        for (other, locked, extra) in scope.others {
            elsewhere.push((other, locked, locked.protect(extra)?));
        }
        let mut ran = execute(&hook, &envelope, locked.root(), &variables, environment);
        ran.tampered = locked.restore(&protected)?;
        for (other, locked, protected) in elsewhere {
            let names = locked.restore(&protected)?;
            ran.tampered.extend(names.iter().map(|name| format!("{other}/{name}")));
        }
        // Changes of a cancelled hook are undone first: it may have written before it ended.
        environment.check_cancelled()?;
        let at = environment.now();
        chain.record(&ran, at);
        let entries = &chain.entries()[written..];
        written += entries.len();
        let lines: Vec<Object> = entries.iter().map(|entry| entry.line().clone()).collect();
        locked.append(scope.audit, &lines)?;
        if let Some(entry) = entries.first() {
            environment.notify(&Notice::HookEnded { phase, name, action: entry.action });
        }
    }
    Ok(chain.finish().unwrap_or_else(|| HookReport::none(phase)))
}

pub fn run_any(
    batch: Option<HookBatch>,
    phase: HookPhase,
    locked: &LockedRepository,
    environment: &Environment,
    extra: &[String],
) -> Result<HookReport> {
    batch.map_or(Ok(HookReport::none(phase)), |batch| run(batch, locked, environment, extra))
}

pub fn keep_annotations(
    outcome: &HookReport,
    turn: &TurnId,
    locked: &LockedRepository,
    at: Time,
) -> Result<()> {
    let lines = outcome.annotation_lines(turn.as_str(), at);
    if !lines.is_empty() {
        locked.append(RecordFile::HookAnnotations, &lines)?;
    }
    Ok(())
}

fn failed(why: String) -> Execution {
    Execution { failure: Some(why), ..Execution::default() }
}

/// Runs one hook. The caller checks the protected files.
fn execute(
    hook: &Hook,
    envelope: &Object,
    root: &Path,
    variables: &[(String, String)],
    environment: &Environment,
) -> Execution {
    let input = Value::Object(envelope.clone()).to_string();
    match &hook.transport {
        Transport::Process { command } => {
            program::run(command, hook.timeout_ms, input + "\n", root, variables, environment)
        }
        Transport::Http { url, headers } => {
            http::post(hook, url, headers, &input, environment.cancel_token())
        }
    }
}
