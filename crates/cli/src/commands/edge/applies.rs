//! Decisions that people took on the hub, applied as the commands do that decide here.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use accord_base::Caller;
use accord_contract::Failure;
use accord_edge::{Applies, Decided, Edges, Joined, SourceKind, sources_in};
use accord_host::serve::this_process;
use accord_runs::Runs;

use super::hub::HubClient;
use super::{joined_of, note_changed_mark};
use crate::commands::run;
use crate::host::{DataFolder, attempt_socket, settings_of};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// Opens work trees as the commands do.
pub(super) struct AsCommands;

impl Applies for AsCommands {
    fn runs(&self, root: &Path) -> Result<Runs, Failure> {
        Runs::open(root, run::silent_environment().map_err(CliError::into_failure)?)
    }

    fn caller(&self) -> Result<Caller, Failure> {
        accord_process::supervise();
        let data = DataFolder::of(None).map_err(CliError::into_failure)?;
        let rules = settings_of(&data.path)?.decision_rules();
        Ok(Caller::owner().examined_by(this_process).under(rules))
    }

    fn applied(&self, root: &Path, kind: SourceKind) {
        if kind == SourceKind::Runs {
            run::keep_in(root);
        }
    }
}

/// How often a worker asks for decisions while it works.
const ASK: Duration = Duration::from_secs(5);
/// How often it looks whether it should stop asking.
const STEP: Duration = Duration::from_millis(50);

/// Asks the hub of the task tree in a folder for decisions and applies them, while `work` runs. It
/// does nothing where the tree is not joined.
pub(crate) fn apply_during<T>(folder: &Path, work: impl FnOnce() -> T) -> T {
    if attempt_socket().is_some() {
        return work();
    }
    let is_over = AtomicBool::new(false);
    let ask = || {
        while let Ok(true) | Err(_) = apply_here(folder, SourceKind::Tasks) {
            let asked = Instant::now();
            while asked.elapsed() < ASK {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                std::thread::sleep(STEP);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(ask);
        // Also if the work panics: the scope waits for the thread.
        let _ends = Ends(&is_over);
        work()
    })
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Asks the hub of the source in a folder for decisions, and applies them. Returns whether it is
/// joined. What the hub does not answer is asked again later.
pub(crate) fn apply_here(folder: &Path, kind: SourceKind) -> Result<bool> {
    let sources = sources_in(folder)?;
    let edges = Edges::of_user()?;
    let joined = joined_of(&edges, sources).inspect_err(note_changed_mark)?;
    let mut is_joined = false;
    for (source, joined) in joined.iter().filter(|(source, _)| source.kind() == kind) {
        is_joined = true;
        let hub = HubClient::of(&joined.join)?;
        // Another process may send now, and the hub need not answer.
        if let Ok(Some(pass)) = joined.pass_and_apply(source, &hub, &AsCommands) {
            pass.decided.iter().for_each(|it| print_note(line(joined, it)));
        }
    }
    Ok(is_joined)
}

/// What came of a decision.
pub(super) fn line(joined: &Joined, decided: &Decided) -> String {
    let Decided { decision, state, reason } = decided;
    let verb = decision.verb.as_str().replace('_', " ");
    let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let (root, item, actor) = (&joined.join.root, &decision.item, &decision.actor);
    clean(&format!("{root}: {verb} {item}, decided by {actor} on the hub: {state}{reason}"))
}
