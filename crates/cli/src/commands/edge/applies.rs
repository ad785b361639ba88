//! Decisions that people took on the hub, applied as the commands do that decide here.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use accord_api::operations::edge_decisions::{EdgeDecidable, EdgeDecision};
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

/// Opens work trees as the commands do, to stop runs there.
struct Stops;

impl Applies for Stops {
    fn runs(&self, root: &Path) -> Result<Runs, Failure> {
        AsCommands.runs(root)
    }

    fn caller(&self) -> Result<Caller, Failure> {
        AsCommands.caller()
    }

    fn takes(&self, decided: &EdgeDecision) -> bool {
        decided.type_name == EdgeDecidable::RunStop.as_str()
    }

    fn applied(&self, root: &Path, kind: SourceKind) {
        AsCommands.applied(root, kind);
    }
}

/// How long the hub may take then: the end of the loop waits for the answer.
const SHORT: Duration = Duration::from_secs(10);
/// How often a loop asks whether its run is stopped.
const ASK_FOR_STOP: Duration = Duration::from_secs(2);
/// How often a worker asks for decisions while it works.
const ASK: Duration = Duration::from_secs(5);
/// How often it looks whether it should stop asking.
const STEP: Duration = Duration::from_millis(50);

/// Asks the hub of the task tree in a folder for decisions and applies them, while `work` runs. It
/// does nothing where the tree is not joined.
pub(crate) fn apply_during<T>(folder: &Path, work: impl FnOnce() -> T) -> T {
    ask_during(|| apply_here(folder, SourceKind::Tasks), ASK, work)
}

/// Stops the governed run in a folder if a person on the hub does, while `work` carries its turns
/// out. It does nothing where the join does not allow that.
pub(crate) fn stop_during<T>(folder: &Path, work: impl FnOnce() -> T) -> T {
    let is_allowed = |joined: &Joined| joined.join.lets_decide(EdgeDecidable::RunStop.as_str());
    let ask = || apply_with(folder, SourceKind::Runs, is_allowed, (&Stops, Some(SHORT)));
    ask_during(ask, ASK_FOR_STOP, work)
}

/// Asks again and again while `work` runs, until the answer is no.
fn ask_during<T>(
    ask: impl Fn() -> Result<bool> + Sync,
    pause: Duration,
    work: impl FnOnce() -> T,
) -> T {
    if attempt_socket().is_some() {
        return work();
    }
    let is_over = AtomicBool::new(false);
    let asking = || {
        let mut began = Instant::now();
        while let Ok(true) | Err(_) = ask() {
            let asked = Instant::now();
            // A hub that does not answer is asked less often.
            let pause = pause.max(asked.duration_since(began) * 4);
            while asked.elapsed() < pause {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                std::thread::sleep(STEP);
            }
            began = Instant::now();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(asking);
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
    apply_with(folder, kind, |_| true, (&AsCommands, None))
}

fn apply_with(
    folder: &Path,
    kind: SourceKind,
    is_meant: impl Fn(&Joined) -> bool,
    (applies, limit): (&dyn Applies, Option<Duration>),
) -> Result<bool> {
    let sources = sources_in(folder)?;
    let edges = Edges::of_user()?;
    let joined = joined_of(&edges, sources).inspect_err(note_changed_mark)?;
    let mut is_joined = false;
    let of_kind = joined.iter().filter(|(source, _)| source.kind() == kind);
    for (source, joined) in of_kind.filter(|(_, joined)| is_meant(joined)) {
        is_joined = true;
        let hub = HubClient::within(&joined.join, limit)?;
        // Another process may send now, and the hub need not answer.
        if let Ok(Some(pass)) = joined.pass_and_apply(source, &hub, applies) {
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
