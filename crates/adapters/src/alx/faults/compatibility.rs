//! Wrong classes of changes of a contract.

use serde_json::Value;

use super::tools::{Honest, after};
use crate::{Answered, Call};

pub(super) fn removal_is_minor(call: &Call, honest: Honest<'_>) -> Answered {
    overlooking(call, honest, |change| is(change, "changeType", "removed"))
}

pub(super) fn rename_unnoticed(call: &Call, honest: Honest<'_>) -> Answered {
    overlooking(call, honest, |change| is(change, "changeType", "renamed"))
}

pub(super) fn required_unnoticed(call: &Call, honest: Honest<'_>) -> Answered {
    overlooking(call, honest, |change| is(change, "rule", "field-became-required"))
}

pub(super) fn wrong_alias_accepted(call: &Call, honest: Honest<'_>) -> Answered {
    overlooking(call, honest, |change| is(change, "rule", "alias-mirror-wrong"))
}

pub(super) fn tag_kept_for_new_hash(call: &Call, honest: Honest<'_>) -> Answered {
    overlooking(call, honest, |change| {
        is(change, "class", "violation") && is(change, "path", "/identity")
    })
}

pub(super) fn any_version_honest(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["compat"], |outcome| outcome["honest"] = true.into())
}

/// A checker that overlooks some changes.
fn overlooking(call: &Call, honest: Honest<'_>, overlooked: impl Fn(&Value) -> bool) -> Answered {
    after(call, honest, &["compat"], |outcome| {
        let Some(changes) = outcome["changes"].as_array_mut() else { return };
        let before = changes.len();
        changes.retain(|change| !overlooked(change));
        // The rest of the report follows, so that only the overlooked change is wrong.
        if changes.len() < before {
            let worst = ["violation", "needs-review", "major"]
                .into_iter()
                .find(|class| changes.iter().any(|change| change["class"] == *class));
            outcome["overall"] = worst.unwrap_or("minor-safe").into();
            let new_major = major(call, "old") < major(call, "new");
            outcome["honest"] = worst.is_none_or(|class| class == "major" && new_major).into();
        }
    })
}

fn major(call: &Call, snapshot: &str) -> Option<u64> {
    let version = call.args.get(snapshot)?.get("protocolVersion")?.as_str()?;
    version.split('.').next()?.parse().ok()
}

fn is(change: &Value, member: &str, start: &str) -> bool {
    change[member].as_str().is_some_and(|text| text.starts_with(start))
}
