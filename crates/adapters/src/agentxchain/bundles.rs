//! The operations on dispatch bundles: finalize, apply the changes of the setup, verify.

use accord_contract::{Failure, Object};
use accord_runs::Reading;
use accord_runs_core::manifest::{self, MANIFEST};
use accord_runs_core::{RunId, TurnId};
use serde_json::Value;

use super::answer;
use super::context::{CaseContext, of_machine};
use super::workspace::{bundle_folder, bundle_path, members, object, text_of};
use crate::BadCall;

/// The operation that verifies a bundle after the changes of the setup.
pub(super) const VERIFY: &str = "verify_dispatch_manifest";

pub(super) const OPERATIONS: [&str; 2] = [VERIFY, "inspect_dispatch_manifest"];

pub(super) fn verify(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let turn = case.turn()?;
    if let Err(failure) = finalize(case, &turn)? {
        return Ok(answer::invalid(&failure));
    }
    apply_changes(case)?;
    let verified = case.runs(Reading::Lenient).verify_bundle(&turn);
    Ok(answer::verified(verified.map_err(of_machine)?))
}

pub(super) fn inspect(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let turn = case.turn()?;
    if let Err(failure) = finalize(case, &turn)? {
        return Ok(answer::invalid(&failure));
    }
    let bundle = case.repository().bundle(&turn)?;
    let written = bundle.get(MANIFEST).map_or(&[][..], Vec::as_slice);
    let manifest = accord_canon::read(written).map_err(BadCall::from_error)?;
    Ok(answer::inspected(object(&manifest, MANIFEST)?))
}

/// Writes the manifest of the files in the bundle's folder.
fn finalize(case: &CaseContext<'_>, turn: &TurnId) -> Result<Result<(), Failure>, BadCall> {
    let locked = case.lock()?;
    let state = case.state()?;
    let bundle = locked.bundle(turn)?;
    // A fixture may omit the run of its bundle.
    let run = state.run_id().cloned().or_else(|| RunId::parse("run_001"));
    let role = state.turn(turn).map_or("dev", |turn| turn.role());
    let now = case.environment().now();
    let made = match manifest::finalize(&bundle, run.as_ref(), turn, role, now) {
        Ok(made) => Value::Object(made).to_string(),
        Err(failure) => return Ok(Err(failure)),
    };
    locked.add_to_bundle(turn, MANIFEST, made.as_bytes())?;
    Ok(Ok(()))
}

/// Applies the changes of the setup: files first, then the manifest itself.
fn apply_changes(case: &mut CaseContext<'_>) -> Result<(), BadCall> {
    let setup: &Object = &case.call.setup;
    for part in ["post_finalize_inject", "post_finalize_tamper"] {
        for (turn, files) in members(setup, part)? {
            for (name, text) in object(files, part)? {
                case.workspace.replace(&bundle_path(turn, name)?, text_of(text, name)?)?;
            }
        }
    }
    for (turn, names) in members(setup, "post_finalize_delete")? {
        for name in names.as_array().ok_or_else(|| BadCall::kind(turn, "a list"))? {
            case.workspace.delete(&bundle_path(turn, text_of(name, turn)?)?)?;
        }
    }
    delete_manifests(case)?;
    for (turn, content) in members(setup, "post_finalize_corrupt_manifest")? {
        let path = format!("{}/{MANIFEST}", bundle_folder(turn)?);
        match content {
            Value::String(text) => case.workspace.replace(&path, text)?,
            other => case.workspace.replace(&path, &other.to_string())?,
        }
    }
    Ok(())
}

const DELETE_MANIFEST: &str = "post_finalize_delete_manifest";

/// Deletes the manifest of the call's turn, or those of the named turns.
fn delete_manifests(case: &CaseContext<'_>) -> Result<(), BadCall> {
    let turns: Vec<String> = match case.call.setup.get(DELETE_MANIFEST) {
        None | Some(Value::Null | Value::Bool(false)) => Vec::new(),
        Some(Value::Bool(true)) => vec![case.turn()?.to_string()],
        Some(Value::Object(turns)) => {
            if let Some((turn, _)) = turns.iter().find(|(_, yes)| !yes.is_boolean()) {
                return Err(BadCall::kind(turn, "true or false"));
            }
            let named = turns.iter().filter(|(_, yes)| **yes == Value::Bool(true));
            named.map(|(turn, _)| turn.clone()).collect()
        }
        Some(_) => return Err(BadCall::kind(DELETE_MANIFEST, "true, false or an object")),
    };
    for turn in turns {
        case.workspace.delete(&format!("{}/{MANIFEST}", bundle_folder(&turn)?))?;
    }
    Ok(())
}
