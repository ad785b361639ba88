//! Dispatches a turn to its worker: writes the bundle, runs hooks, writes the manifest.

use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::budget::check_attempt;
use accord_runs_core::coordinator::{CONTEXT_DOCUMENT, CONTEXT_MARKDOWN};
use accord_runs_core::dispatch::{self, Briefing, OutsideChanges};
use accord_runs_core::manifest::{self, Bundle, MANIFEST, ManifestError};
use accord_runs_core::run::stopped_by_hook;
use accord_runs_core::{HookBatch, HookPhase, RepoPath, Result, Runtime, Turn, TurnId, hooks};

use super::RunUpdate;
use super::step::refuse_if_worker_runs;
use crate::acceptance_driver::is_unusable;
use crate::{Notice, Operation, RecordFile, Runs, own_path, runtime};

/// How many turns of the history are in the context of a worker.
const RECENT: usize = 5;
const MAX_PROMPT: u64 = 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Dispatched {
    pub turn: Turn,
    pub runtime: Runtime,
    pub bundle: String,
    pub staging: String,
    pub prompt: String,
    pub context: String,
    pub manifest: Object,
    pub update: RunUpdate,
}

impl Runs {
    /// Dispatches a turn: the named one, or the only one. Fails with `worker_busy` while a worker
    /// has it; `budget_exhausted` if its attempts have used the budget of the run up;
    /// `runtime_not_supported` or `runtime_unavailable` if its runtime cannot be used here.
    /// These leave nothing written. A hook that refuses blocks the run.
    pub fn dispatch(&self, turn: Option<&TurnId>) -> Result<Dispatched> {
        let mut operation = self.begin()?;
        let turn = operation.target(turn)?;
        refuse_if_worker_runs(&turn)?;
        check_attempt(&operation.state, &operation.config)?;
        // Check everything that refuses the dispatch before writing the bundle.
        let now = operation.now();
        // This change only finds refusals and is dropped. The one that is written is made after the
        // hooks, so it gets the ids.
        let mut draft = operation.ids.clone();
        let between = changes_without_worker(&operation, &turn)?;
        let between = between.as_ref();
        let state = &operation.state;
        let change = dispatch::mark_dispatched(state, turn.id(), between, &mut draft, now)?;
        dispatch::check_runtime(&operation.config, &turn, runtime::SUPPORTED)?;
        let runtime = turn.runtime_id().and_then(|id| operation.config.runtime(id));
        let runtime = runtime.cloned().ok_or_else(|| {
            let message = format!("the runtime of the turn {} is not declared", turn.id());
            Failure::new(Code::XchainRoleWithoutRuntime, message)
        })?;
        runtime::check(&runtime, operation.root())?;
        // The bundle describes the turn as it will be after the dispatch.
        let handed = change.state.turn(turn.id()).cloned().unwrap_or(turn);
        let (prompt, mut context) = brief(&operation, &handed)?;
        let initiative = initiative(&operation, handed.id())?;
        if let Some(text) = initiative.get(CONTEXT_MARKDOWN) {
            context += &format!("\n{}", String::from_utf8_lossy(text));
        }
        if let Some(text) = self.environment.memory() {
            context += &dispatch::memory(&text);
        }
        let assignment = dispatch::assignment(&change.state, &operation.config, &handed);
        let mut files = Bundle::from([
            ("ASSIGNMENT.json".to_owned(), pretty(&assignment).into_bytes()),
            ("PROMPT.md".to_owned(), prompt.clone().into_bytes()),
            ("CONTEXT.md".to_owned(), context.clone().into_bytes()),
        ]);
        files.extend(initiative);
        operation.locked.write_bundle(handed.id(), &files)?;
        after_dispatch(&mut operation, &handed, &files)?;
        let now = operation.now();
        let bundle = operation.locked.bundle(handed.id())?;
        // After the hooks, because they may add files to the bundle.
        let (id, run) = (handed.id(), operation.state.run_id());
        let manifest = manifest::finalize(&bundle, run, id, handed.role(), now)?;
        operation.locked.add_to_bundle(id, MANIFEST, pretty(&manifest).as_bytes())?;
        let Operation { state, ids, .. } = &mut operation;
        let change = dispatch::mark_dispatched(state, id, between, ids, now)?;
        // Last: after a crash before this, the turn is dispatched again.
        let update = operation.commit_update(change)?;
        if let Some(between) = between.filter(|between| !between.files.is_empty()) {
            let files = between.files.clone();
            self.environment.notify(&Notice::ChangesExcluded { files });
        }
        operation.save_dispatch_index();
        Ok(Dispatched {
            bundle: dispatch::bundle_folder(handed.id()),
            staging: dispatch::staging_path(handed.id()),
            turn: update.state.turn(handed.id()).cloned().unwrap_or(handed),
            runtime,
            prompt,
            context,
            manifest,
            update,
        })
    }

    /// Compares the bundle of a turn with its manifest; the outer error is a failure of the disk.
    pub fn verify_bundle(&self, turn: &TurnId) -> Result<Result<Object, Vec<ManifestError>>> {
        let (bundle, others) = self.repository().bundle_and_others(turn)?;
        Ok(manifest::verify(&bundle, &others))
    }
}

/// Changes that were made outside the turn since its last worker ended, or since it was assigned.
fn changes_without_worker(
    operation: &Operation<'_>,
    turn: &Turn,
) -> Result<Option<OutsideChanges>> {
    // A person may start before the bundle is written.
    let by_hand = operation.is_by_hand(turn);
    // Changes beside concurrent turns may be theirs.
    let alone = operation.state.turns().len() == 1 && !turn.is_concurrent();
    let noted = turn.member(dispatch::LEFT_BEHIND).is_some_and(Value::is_object);
    if by_hand || !(noted || alone && dispatch::was_never_dispatched(turn)) {
        return Ok(None);
    }
    let Some(git) = operation.git()? else { return Ok(None) };
    let mut baseline = turn.baseline();
    // Later changes of settings are compared with the present ones.
    baseline.iter_mut().for_each(|baseline| baseline.view.clear());
    match git.observe(baseline.as_ref(), by_hand) {
        Ok(seen) => Ok(dispatch::outside_changes(turn, &seen, git.view()?)),
        // Acceptance reports files with invalid paths.
        Err(failure) if is_unusable(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn brief(operation: &Operation<'_>, turn: &Turn) -> Result<(String, String)> {
    let mut recent = operation.locked.last_lines(RecordFile::History, RECENT)?;
    recent.retain(|line| operation.state.owns_line(line));
    let own = role_prompt(operation, turn.role())?;
    let index = operation.locked.index(operation.state.run_id())?;
    let next_decision = index.decisions().continued().take_next();
    let briefing = Briefing {
        config: &operation.config,
        state: &operation.state,
        turn,
        recent: &recent,
        next_decision: &next_decision,
        role_prompt: own.as_deref(),
    };
    Ok((dispatch::prompt(&briefing), dispatch::context(&briefing)))
}

/// The files that a coordinator added to the bundle, which are for every attempt.
pub(super) fn initiative(operation: &Operation<'_>, turn: &TurnId) -> Result<Bundle> {
    let mut bundle = operation.locked.bundle(turn)?;
    bundle.retain(|name, _| name == CONTEXT_DOCUMENT || name == CONTEXT_MARKDOWN);
    Ok(bundle)
}

/// The instructions of a role: the file that the configuration names, or the default one.
fn role_prompt(operation: &Operation<'_>, role: &str) -> Result<Option<String>> {
    let named = operation.config.document().get("prompts");
    let named = named.and_then(|prompts| prompts.get(role)?.as_str());
    let path = match named {
        Some(named) => RepoPath::parse(named).map_err(|error| {
            let message = format!("prompts.{role} is {named:?}: {error}");
            Failure::new(Code::XchainPathOutsideRepository, message)
        })?,
        None => own_path(&format!(".agentxchain/prompts/{role}.md"))?,
    };
    let bytes = operation.locked.read(&path, MAX_PROMPT)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Runs the hooks that may add files to the bundle but change none.
fn after_dispatch(operation: &mut Operation<'_>, turn: &Turn, files: &Bundle) -> Result<()> {
    let phase = HookPhase::AfterDispatch;
    let folder = dispatch::bundle_folder(turn.id());
    let names: Vec<String> = files.keys().cloned().collect();
    let protected: Vec<String> = names.iter().map(|name| format!("{folder}/{name}")).collect();
    let payload = hooks::after_dispatch(turn, &operation.state, &folder, &names);
    let run = operation.state.run_id().map(ToString::to_string);
    let batch = HookBatch::new(phase, operation.config.hooks(phase), payload, run);
    let report = operation.hooks(batch, phase, &protected)?;
    let now = operation.now();
    let refused = stopped_by_hook(&operation.state, &report, &mut operation.ids, now);
    let Some(refused) = refused else { return Ok(()) };
    // A bundle that was refused is removed, except for the files of a coordinator, which are for
    // the next attempt.
    let left = initiative(operation, turn.id())?;
    operation.locked.remove(&own_path(&folder)?)?;
    for (name, bytes) in &left {
        operation.locked.add_to_bundle(turn.id(), name, bytes)?;
    }
    Err(operation.commit_refusal(refused))
}
