//! The operations that change nothing: checks of configurations, events, results and gates.

use accord_contract::{Code, Object};
use accord_runs::Reading;
use accord_runs_core::config::{narrow_problems, refusal};
use accord_runs_core::gate::{self, View};
use accord_runs_core::history::RunIndex;
use accord_runs_core::state::State;
use accord_runs_core::{config::Config, dispatch, event, result};
use serde_json::Value;

use super::context::{CaseContext, of_machine};
use super::workspace::{CONFIG, object};
use super::{answer, expand};
use crate::BadCall;

/// Writes the configuration to its file, and validates what is read from there.
pub(super) fn validate_config(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let partial = object(case.call.value("config")?, "config")?;
    let whole = Value::Object(expand::config(partial)).to_string();
    // Through the file, so that the case also tests how a repository reads its configuration.
    case.workspace.replace(CONFIG, &whole)?;
    let found = narrow_problems(&case.repository().config()?);
    Ok(if found.is_empty() { answer::valid() } else { answer::invalid(&refusal(&found)) })
}

pub(super) fn validate_event(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let errors = event::check(case.call.value("event")?);
    if errors.is_empty() {
        return Ok(answer::valid());
    }
    let failure = event::refusal(Code::XchainInvalidEvent, &errors);
    Ok(answer::invalid(&failure))
}

pub(super) fn validate_order(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let checked = event::check_order(case.call.value("events")?);
    Ok(checked.map_or_else(|failure| answer::invalid(&failure), |()| answer::valid()))
}

pub(super) fn judge(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let judged = case.runs(Reading::Lenient).judge_staged(case.leniency).map_err(of_machine)?;
    Ok(answer::judged(&judged))
}

pub(super) fn phase_exit(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let before = case.repository().state_bytes()?;
    let inputs = GateInputs::read(case)?;
    let request = requested_phase(&case.call.args, &inputs.result);
    let exit = gate::evaluate_phase_exit(request, &inputs.view());
    let unchanged = before == case.repository().state_bytes()?;
    Ok(answer::phase_exit(&exit, inputs.state.phase(), unchanged))
}

pub(super) fn completion(case: &mut CaseContext<'_>) -> Result<Value, BadCall> {
    let before = case.repository().state_bytes()?;
    let inputs = GateInputs::read(case)?;
    let asks = requests_completion(&inputs.result);
    let completion = gate::evaluate_completion(asks, &inputs.view());
    let unchanged = before == case.repository().state_bytes()?;
    Ok(answer::completion(&completion, inputs.state.phase(), unchanged))
}

/// The phase in the arguments of a fixture, or else in its staged result. Clauses: AX-GATE-REQUEST.
pub fn requested_phase<'a>(args: &'a Object, result: &'a Object) -> Option<&'a str> {
    let given = |of: &'a Object, name: &str| of.get(name).filter(|value| !value.is_null());
    let staged = || given(result, "phase_transition_request");
    given(args, "requested_phase").or_else(staged).and_then(Value::as_str)
}

/// Whether a fixture requests the completion of the run, as its operation does by itself.
pub fn requests_completion(result: &Object) -> bool {
    match result.get("run_completion_request") {
        None | Some(Value::Null) => true,
        Some(request) => *request == true,
    }
}

struct GateInputs {
    config: Config,
    state: State,
    index: RunIndex,
    files: std::collections::BTreeMap<String, String>,
    result: Object,
}

impl GateInputs {
    fn read(case: &CaseContext<'_>) -> Result<Self, BadCall> {
        let repository = case.repository();
        let config = case.config()?;
        let state = case.state()?;
        let needed = gate::needed_files(&config, state.phase());
        // All fixtures stage their result in the flat path; it names no turn.
        let paths = [dispatch::FLAT_STAGING_PATH.to_owned()];
        let staged = repository.staged(&paths)?;
        let result = staged.and_then(|(_, bytes)| result::read_staged(&bytes).ok());
        Ok(Self {
            files: repository.texts(&needed)?,
            index: repository.index(state.run_id())?,
            config,
            state,
            result: result.as_ref().and_then(Value::as_object).cloned().unwrap_or_default(),
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
