//! Which files a hook around an acceptance must not change.

use crate::manifest::Bundle;
use crate::{HookPhase, TurnId, dispatch};

/// The files that are guarded while a hook of a phase runs: the bundle of the turn and, once it
/// was judged, its staged result. Before it is judged, a hook may correct it.
pub fn guarded_files(
    phase: HookPhase,
    turn: &TurnId,
    bundle: &Bundle,
    staged: Option<&str>,
) -> Vec<String> {
    // The commit has removed the bundle and the staged result by then.
    if phase == HookPhase::AfterAcceptance {
        return Vec::new();
    }
    let judged = phase != HookPhase::BeforeValidation;
    let staged = staged.filter(|_| judged).map(str::to_owned);
    let folder = dispatch::bundle_folder(turn);
    let bundle = bundle.keys().map(|name| format!("{folder}/{name}"));
    staged.into_iter().chain(bundle).collect()
}
