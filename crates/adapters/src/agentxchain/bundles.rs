//! The operations on dispatch bundles: finalise, change what the setup says, verify.

use accord_contract::codes::Failure;
use accord_runs::Reading;
use accord_runs_core::fixture::answer;
use accord_runs_core::manifest::{self, MANIFEST};
use accord_runs_core::{RunId, TurnId};
use serde_json::{Map, Value};

use super::site::Site;
use super::workspace::{bundle_folder, bundle_path, members, object, text_of, trouble};
use crate::BadCall;

/// The operation that looks at a bundle after something happened to it.
pub(super) const VERIFY: &str = "verify_dispatch_manifest";

/// The operations that finalise a bundle.
pub(super) const OPERATIONS: [&str; 2] = [VERIFY, "inspect_dispatch_manifest"];

pub(super) fn verify(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let turn = site.turn()?;
    if let Err(failure) = finalize(site, &turn)? {
        return Ok(answer::unsound(&failure));
    }
    mutate(site)?;
    let verified = site.runs(Reading::Lenient).verify_bundle(&turn);
    Ok(answer::verified(
        verified.map_err(|failure| trouble(failure.message))?,
    ))
}

pub(super) fn inspect(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let turn = site.turn()?;
    if let Err(failure) = finalize(site, &turn)? {
        return Ok(answer::unsound(&failure));
    }
    let bundle = site.repository().bundle(&turn).map_err(trouble)?;
    let written = bundle.get(MANIFEST).map_or(&[][..], Vec::as_slice);
    let manifest = accord_canon::read(written).map_err(trouble)?;
    Ok(answer::inspected(object(&manifest, MANIFEST)?))
}

/// Writes the manifest of what lies in the bundle's folder.
fn finalize(site: &Site<'_>, turn: &TurnId) -> Result<Result<(), Failure>, BadCall> {
    let held = site.hold()?;
    let state = site.state()?;
    let bundle = held.bundle(turn).map_err(trouble)?;
    // A fixture may leave out the run that its bundle is for.
    let run = state.run_id().cloned().or_else(|| RunId::parse("run_001"));
    let role = state.turn(turn).map_or("dev", |turn| turn.role());
    let now = site.world().now();
    let made = match manifest::finalize(&bundle, run.as_ref(), turn, role, now) {
        Ok(made) => Value::Object(made).to_string(),
        Err(failure) => return Ok(Err(failure)),
    };
    held.add_to_bundle(turn, MANIFEST, made.as_bytes())
        .map_err(trouble)?;
    Ok(Ok(()))
}

/// Injected, tampered with, deleted, then the manifest itself.
fn mutate(site: &mut Site<'_>) -> Result<(), BadCall> {
    let setup: &Map<String, Value> = &site.call.setup;
    for part in ["post_finalize_inject", "post_finalize_tamper"] {
        for (turn, files) in members(setup, part)? {
            for (name, text) in object(files, part)? {
                let path = bundle_path(turn, name)?;
                site.workspace.replace(&path, text_of(text, name)?)?;
            }
        }
    }
    for (turn, names) in members(setup, "post_finalize_delete")? {
        let names = names
            .as_array()
            .ok_or_else(|| BadCall::kind(turn, "a list"))?;
        for name in names {
            let name = text_of(name, turn)?;
            site.workspace.delete(&bundle_path(turn, name)?)?;
        }
    }
    delete_manifests(site)?;
    for (turn, content) in members(setup, "post_finalize_corrupt_manifest")? {
        let path = format!("{}/{MANIFEST}", bundle_folder(turn)?);
        match content {
            Value::String(text) => site.workspace.replace(&path, text)?,
            other => site.workspace.replace(&path, &other.to_string())?,
        }
    }
    Ok(())
}

/// Either every turn's, or those of the turns that are named.
fn delete_manifests(site: &Site<'_>) -> Result<(), BadCall> {
    let turns: Vec<String> = match site.call.setup.get("post_finalize_delete_manifest") {
        None | Some(Value::Null | Value::Bool(false)) => Vec::new(),
        Some(Value::Bool(true)) => vec![site.turn()?.to_string()],
        Some(Value::Object(turns)) => {
            if let Some((turn, _)) = turns.iter().find(|(_, yes)| !yes.is_boolean()) {
                return Err(BadCall::kind(turn, "true or false"));
            }
            let named = turns.iter().filter(|(_, yes)| **yes == Value::Bool(true));
            named.map(|(turn, _)| turn.clone()).collect()
        }
        Some(_) => {
            let name = "post_finalize_delete_manifest";
            return Err(BadCall::kind(name, "true, false or an object"));
        }
    };
    for turn in turns {
        let path = format!("{}/{MANIFEST}", bundle_folder(&turn)?);
        site.workspace.delete(&path)?;
    }
    Ok(())
}
