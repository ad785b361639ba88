//! Stage `assignment`: whether a result belongs to the turn.

use accord_contract::Code;

use super::{Findings, Problem};
use crate::doc::{self, Member, Text};
use crate::{RunId, Situation, TurnResult, rule};

/// Clauses: AX-TR-RUN-ID, AX-TR-TURN-ID, AX-TR-ASSIGNEE, AX-STRICT-RUN-ID.
pub(super) fn check(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let document = result.document();
    let run = situation.state.run_id().map(RunId::as_str);
    let claimed = doc::Result::RUN_ID.get(document);
    if rule!(claimed != run; OtherRunsResult => false) {
        let (claimed, run) = (claimed.unwrap_or("?"), run.unwrap_or("which has not begun"));
        let message = format!("run_id {claimed} is not that of the run, {run}");
        let problem = Problem::new(Code::XchainRunIdMismatch, message);
        findings.problem(problem.field(doc::Result::RUN_ID));
    }
    let Some(turn) = situation.turn else {
        let message = match situation.state.turns().len() {
            0 => "no turn is active".to_owned(),
            several => format!("{several} turns are active and none is named"),
        };
        findings.problem(Problem::new(Code::XchainAssignmentError, message));
        return;
    };
    let mut differs = |code, member: Member<Text>, own: &str| {
        let claimed = member.get(document).unwrap_or_default();
        if claimed != own {
            let name = member.name();
            let message = format!("{name} {claimed:?} is not that of the turn, {own:?}");
            findings.problem(Problem::new(code, message).field(name));
        }
    };
    rule!(
        differs(Code::XchainTurnIdMismatch, doc::Result::TURN_ID, turn.id().as_str());
        OtherTurnsResult => ()
    );
    differs(Code::XchainAssignmentError, doc::Result::ROLE, turn.role());
    if let Some(runtime) = turn.runtime_id() {
        differs(Code::XchainAssignmentError, doc::Result::RUNTIME_ID, runtime);
    }
}
