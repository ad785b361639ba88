//! The questions that change nothing: about configurations, events, results and gates.

use accord_contract::codes::Code;
use accord_runs::Reading;
use accord_runs_core::config::{narrow_problems, refusal};
use accord_runs_core::fixture::{answer, inflate};
use accord_runs_core::gate::{self, View};
use accord_runs_core::history::RunIndex;
use accord_runs_core::state::State;
use accord_runs_core::{config::Config, dispatch, event, result};
use serde_json::{Map, Value};

use super::site::Site;
use super::workspace::{CONFIG, object, trouble};
use crate::BadCall;

/// Puts the configuration where a runner looks for it, and judges what it finds there.
pub(super) fn validate_config(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let partial = object(site.call.value("config")?, "config")?;
    let whole = Value::Object(inflate::config(partial)).to_string();
    site.workspace.replace(CONFIG, &whole)?;
    let found = narrow_problems(&site.repository().config().map_err(trouble)?);
    match found.is_empty() {
        true => Ok(answer::sound()),
        false => Ok(answer::unsound(&refusal(&found))),
    }
}

pub(super) fn validate_event(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let errors = event::check(site.call.value("event")?);
    match errors.is_empty() {
        true => Ok(answer::sound()),
        false => {
            let failure = event::refusal(Code::XchainInvalidEvent, &errors);
            Ok(answer::unsound(&failure))
        }
    }
}

pub(super) fn validate_order(site: &mut Site<'_>) -> Result<Value, BadCall> {
    match event::check_order(site.call.value("events")?) {
        Ok(()) => Ok(answer::sound()),
        Err(failure) => Ok(answer::unsound(&failure)),
    }
}

/// Judges the staged result.
pub(super) fn judge(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let runs = site.runs(Reading::Lenient);
    match runs.judge_staged(site.leniency) {
        Ok(judged) => Ok(answer::judged(&judged)),
        Err(failure) => Err(trouble(failure.message)),
    }
}

pub(super) fn phase_exit(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let before = site.repository().state_bytes().map_err(trouble)?;
    let scene = Scene::look(site)?;
    let request = scene.result.get("phase_transition_request");
    let request = request.filter(|request| !request.is_null());
    let request = request.or(site.call.args.get("requested_phase"));
    let exit = gate::evaluate_phase_exit(request.and_then(Value::as_str), &scene.view());
    let unchanged = before == site.repository().state_bytes().map_err(trouble)?;
    Ok(answer::phase_exit(&exit, scene.state.phase(), unchanged))
}

pub(super) fn completion(site: &mut Site<'_>) -> Result<Value, BadCall> {
    let before = site.repository().state_bytes().map_err(trouble)?;
    let scene = Scene::look(site)?;
    let asks = scene.result.get("run_completion_request") == Some(&Value::Bool(true));
    let completion = gate::evaluate_completion(asks, &scene.view());
    let unchanged = before == site.repository().state_bytes().map_err(trouble)?;
    let phase = scene.state.phase();
    Ok(answer::completion(&completion, phase, unchanged))
}

/// What a gate looks at, as the repository has it.
struct Scene {
    config: Config,
    state: State,
    index: RunIndex,
    files: std::collections::BTreeMap<String, String>,
    result: Map<String, Value>,
}

impl Scene {
    fn look(site: &Site<'_>) -> Result<Self, BadCall> {
        let repository = site.repository();
        let config = site.config()?;
        let state = site.state()?;
        let needed = gate::needed_files(&config, state.phase());
        let paths = [dispatch::FLAT_STAGING_PATH.to_owned()];
        let staged = repository.staged(&paths).map_err(trouble)?;
        let result = staged.and_then(|(_, bytes)| result::read_staged(&bytes).ok());
        Ok(Self {
            files: repository.texts(&needed).map_err(trouble)?,
            index: repository.index(state.run_id()).map_err(trouble)?,
            config,
            state,
            result: match result {
                Some(Value::Object(result)) => result,
                _ => Map::new(),
            },
        })
    }

    fn view(&self) -> View<'_> {
        let verification = self.result.get("verification");
        View {
            config: &self.config,
            phase: self.state.phase(),
            verification: verification.and_then(|all| all.get("status")?.as_str()),
            files: &self.files,
            index: &self.index,
            asking_role: self.result.get("role").and_then(Value::as_str),
        }
    }
}
