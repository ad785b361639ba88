//! What decides which changes git shows: settings, and files outside the tree with ignore rules or
//! filters. A turn is measured by what git showed when it was assigned, so these must not change.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure};

use super::{Git, marker};
use accord_runs_core::Result;

/// Settings that hide changes, or show files that did not change.
const SETTINGS: [&str; 14] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.bare",
    "core.checkstat",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.ignorestat",
    "core.sparsecheckout",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "core.worktree",
];

/// Files of git with the same effect.
pub(super) const FILES: [&str; 2] = ["info/attributes", "info/exclude"];

impl Git {
    /// Markers of what decides which changes are shown, by name. Only settings of the repository
    /// count: a run may continue on another machine, under another user.
    pub(crate) fn view(&self) -> Result<BTreeMap<String, String>> {
        let mut settings: BTreeMap<String, String> = BTreeMap::new();
        let output = self.ask(&["config", "--list", "--show-scope", "-z"], Vec::new())?;
        let output = String::from_utf8_lossy(&output);
        let mut fields = output.split('\0');
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            // A setting without a value means true.
            let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            let own = matches!(scope, "local" | "worktree");
            if own && (SETTINGS.contains(&name) || name.starts_with("filter.")) {
                *settings.entry(name.to_owned()).or_default() += &format!("{value}\n");
            }
        }
        // The state may be published; settings of this machine are not, so only a marker is kept.
        let marked = settings.into_iter().map(|(name, value)| (name, marker::of_text(&value)));
        let mut view: BTreeMap<String, String> = marked.collect();
        for (name, place) in FILES.iter().zip(&self.own_files) {
            if let Some(mark) = marker::of_rules(&self.root, place)? {
                view.insert((*name).to_owned(), mark);
            }
        }
        Ok(view)
    }
}

/// Fails if git no longer shows what it showed when a turn was assigned. A turn that another runner
/// assigned has no view to compare with.
pub(super) fn check(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Result<()> {
    if before.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differing = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
    let names: Vec<&str> = differing.map(String::as_str).collect();
    if names.is_empty() {
        return Ok(());
    }
    let (names, what) = (names.join(", "), "which decides what git shows");
    let message = format!("{names} of git changed since the turn was assigned, {what}");
    Err(changed(message))
}

pub(crate) fn changed(message: String) -> Failure {
    Failure::new(Code::XchainVersionControlChanged, message)
}
