//! Whether a result is that of the turn.

use accord_contract::codes::Code;

use super::{Findings, Problem};
use crate::RunId;
use crate::members::text;
use crate::result::{Situation, TurnResult};
use crate::rule;

pub(super) fn check(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let document = result.document();
    let run = situation.state.run_id().map(RunId::as_str);
    let claimed = text(document, "run_id");
    if rule!(claimed != run; OtherRunsResult => false) {
        let message = format!(
            "run_id {} is not that of the run, {}",
            claimed.unwrap_or("?"),
            run.unwrap_or("which has not begun")
        );
        findings.problem(Problem::new(Code::XchainRunIdMismatch, message).field("run_id"));
    }
    let Some(turn) = situation.turn else {
        let message = match situation.state.turns().len() {
            0 => "no turn is active".to_owned(),
            several => format!("{several} turns are active and none is named"),
        };
        findings.problem(Problem::new(Code::XchainAssignmentError, message));
        return;
    };
    let mut differs = |code, name: &str, own: &str| {
        let claimed = text(document, name).unwrap_or_default();
        if claimed != own {
            let message = format!("{name} {claimed:?} is not that of the turn, {own:?}");
            findings.problem(Problem::new(code, message).field(name));
        }
    };
    rule!(
        differs(Code::XchainTurnIdMismatch, "turn_id", turn.id().as_str());
        OtherTurnsResult => ()
    );
    differs(Code::XchainAssignmentError, "role", turn.role());
    if let Some(runtime) = turn.runtime_id() {
        differs(Code::XchainAssignmentError, "runtime_id", runtime);
    }
}
