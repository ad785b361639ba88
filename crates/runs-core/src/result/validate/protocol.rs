//! Stage `protocol`: whether the rules of the run allow the requests.

use accord_contract::Code;

use super::{Findings, Problem, delegations};
use crate::result::{Situation, TurnResult, TurnStatusClaim};
use crate::{WriteAuthority, doc, rule};

const CHALLENGE: &str = "review_only role must raise at least one objection";
const EXCLUSIVE: &str =
    "phase_transition_request and run_completion_request cannot both be present";

/// Clauses: AX-TR-CHALLENGE, AX-TR-CHALLENGE-WAIVED, AX-TR-ONE-REQUEST, AX-TR-NEEDS-HUMAN,
/// AX-STRICT-NEEDS-HUMAN, AX-STRICT-ROUTING.
pub(super) fn check(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let (config, phase) = (situation.config, situation.state.phase());
    if situation.authority() == Some(WriteAuthority::ReviewOnly)
        && rule!(config.rules.challenge_required; ChallengeWaived => false)
        && result.objections().is_empty()
    {
        let problem = Problem::new(Code::XchainChallengeRequirementViolated, CHALLENGE);
        findings.problem(problem.field(doc::Result::OBJECTIONS).detail(CHALLENGE));
    }
    let next = result.proposed_next_role().unwrap_or_default();
    let allowed = config.route(phase).and_then(|route| route.allowed_next_roles.as_deref());
    // A person may always go next, whether or not the routing lists `human`.
    if next != "human" && allowed.is_some_and(|roles| !roles.iter().any(|role| role == next)) {
        let message = format!("{next} may not go next in the phase {phase}");
        wrong(findings, doc::Result::PROPOSED_NEXT_ROLE, message);
    }
    if let Some(request) = result.phase_request() {
        phase_request(request, situation, findings);
        if rule!(
            result.wants_completion();
            DenialAsRequest => doc::Result::RUN_COMPLETION_REQUEST.is_in(result.document());
            BothRequests => false
        ) {
            let code = Code::XchainMutuallyExclusiveRequests;
            let problem = Problem::new(code, EXCLUSIVE).detail(EXCLUSIVE);
            findings.problem(problem.field(doc::Result::RUN_COMPLETION_REQUEST));
        }
    }
    delegations::rules(result, situation, findings);
    // The protocol's text requires a reason. The reference runner and the lenient mode only warn.
    if result.status() == TurnStatusClaim::NeedsHuman && result.needs_human_reason().is_none() {
        let message = "the turn needs a person but gives no reason";
        if rule!(findings.strict; ReasonNotAsked => false) {
            wrong(findings, doc::Result::NEEDS_HUMAN_REASON, message.into());
        } else {
            findings.warn(message);
        }
    }
}

/// Clauses: AX-TR-NEXT-PHASE, AX-STRICT-ROUTING.
fn phase_request(request: &str, situation: &Situation<'_>, findings: &mut Findings) {
    let (config, phase) = (situation.config, situation.state.phase());
    let message = match config.next_phase(phase) {
        _ if !config.has_phase(request) => format!("there is no phase {request}"),
        Some(next) if next == request => return,
        Some(next) => format!("the phase after {phase} is {next}, not {request}"),
        None => format!("{phase} is the last phase; ask for the end of the run"),
    };
    wrong(findings, doc::Result::PHASE_TRANSITION_REQUEST, message);
}

fn wrong(findings: &mut Findings, field: impl Into<String>, message: String) {
    findings.problem(Problem::new(Code::XchainProtocolError, message).field(field));
}
