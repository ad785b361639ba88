//! The operations on dispatch bundles.

use accord_adapters::agentxchain::answer;
use accord_contract::{Object, Time};
use accord_runs_core::manifest::{self, Bundle, MANIFEST};
use accord_runs_core::{RunId, TurnId};
use serde_json::Value;

use super::{Fixture, World, object, text};

pub(super) fn run(fixture: &Fixture, now: Time) -> Result<Value, String> {
    let state = World::set_up(fixture)?.repository.state;
    let turn = text(&fixture.args, "turn_id")
        .and_then(TurnId::parse)
        .ok_or("the operation names no turn")?;
    let mut bundle = files(&fixture.setup, "dispatch_bundle", &turn);
    let run = state.run_id().cloned().or_else(|| RunId::parse("run_001"));
    let role = state.turn(&turn).map_or("dev", |turn| turn.role());
    let made = match manifest::finalize(&bundle, run.as_ref(), &turn, role, now) {
        Ok(made) => made,
        Err(failure) => return Ok(answer::invalid(&failure)),
    };
    let written = Value::Object(made.clone()).to_string();
    bundle.insert(MANIFEST.into(), written.into_bytes());
    if fixture.operation == "inspect_dispatch_manifest" {
        return Ok(answer::inspected(&made));
    }
    apply_changes(&fixture.setup, &turn, &mut bundle);
    Ok(answer::verified(manifest::verify(&bundle, &[])))
}

/// Applies the changes of the setup: files first, then the manifest itself.
fn apply_changes(setup: &Object, turn: &TurnId, bundle: &mut Bundle) {
    bundle.extend(files(setup, "post_finalize_inject", turn));
    bundle.extend(files(setup, "post_finalize_tamper", turn));
    let deleted = object(setup, "post_finalize_delete");
    let names = deleted.get(turn.as_str()).and_then(Value::as_array);
    for name in names.into_iter().flatten() {
        bundle.remove(name.as_str().unwrap_or_default());
    }
    let deletes = match setup.get("post_finalize_delete_manifest") {
        Some(Value::Object(by_turn)) => by_turn.get(turn.as_str()) == Some(&Value::Bool(true)),
        Some(value) => !matches!(value, Value::Null | Value::Bool(false)),
        None => false,
    };
    if deletes {
        bundle.remove(MANIFEST);
    }
    match object(setup, "post_finalize_corrupt_manifest").get(turn.as_str()) {
        Some(Value::String(text)) => {
            bundle.insert(MANIFEST.into(), text.clone().into_bytes());
        }
        Some(value) => {
            bundle.insert(MANIFEST.into(), value.to_string().into_bytes());
        }
        None => {}
    }
}

fn files(setup: &Object, part: &str, turn: &TurnId) -> Bundle {
    object(&object(setup, part), turn.as_str())
        .into_iter()
        .filter_map(|(name, text)| Some((name, text.as_str()?.as_bytes().to_vec())))
        .collect()
}
