//! What a refusal leaves, and what becomes of the next try.

use accord_contract::{Code, Failure};
use accord_runs_core::accept::{
    Acceptance, Answer, Conclusion, Inputs, Options, Record, Want, Write,
};
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::run::{Rejection, reject};

use crate::support::{Script, accept, assign, config, ids, now, result, stage, world};

#[test]
fn a_try_that_knows_what_the_others_did_is_in_nobodys_way() {
    let mut world = world(config(), "implementation");
    let dev = assign(&mut world, "dev", 2);
    let pm = assign(&mut world, "pm", 3);
    for turn in [&dev, &pm] {
        let staged = result(&world, turn);
        stage(&mut world, turn, &staged);
    }
    let script = |seed| Script { seed, ..Script::default() };
    accept(&mut world, &dev, &script(60)).accepted();
    let conflict = accept(&mut world, &pm, &script(61));
    assert_eq!(conflict.refused().code, Code::XchainConflict);
    let rejection = Rejection {
        reason: "conflict".into(),
        errors: Vec::new(),
        failed_stage: None,
        baseline: world.state.turn(&pm).unwrap().baseline().unwrap(),
        left_behind: serde_json::Value::Null,
    };
    let rejected =
        reject(&world.state, &world.config, Some(&pm), &rejection, &mut ids(62), now()).unwrap();
    world.state = rejected.state;
    let again = world.state.turn(&pm).unwrap();
    assert!(again.conflict().is_none());
    assert_eq!(again.conflicts(), 1, "it is remembered");
    accept(&mut world, &pm, &script(63)).accepted();
}

#[test]
fn a_result_that_cannot_be_looked_at_is_refused_and_recorded() {
    let world = {
        let mut world = world(config(), "implementation");
        assign(&mut world, "dev", 2);
        world
    };
    let turn = world.state.only_turn().unwrap().id().clone();
    let inputs = Inputs {
        config: world.config.clone(),
        state: world.state.clone(),
        index: world.index(),
        repo_decisions: RepoDecisions::new(Vec::new()),
    };
    let options = Options::default();
    let mut machine = Acceptance::begin(inputs, Some(&turn), options, ids(50), now()).unwrap();
    let large = Failure::new(Code::XchainFileTooLarge, "it is large");
    machine.answer(Answer::Unusable(large), now()).unwrap();
    let Want::Commit(commit) = machine.want().clone() else {
        panic!("{:?}", machine.want());
    };
    let reported = commit.writes.iter().any(|write| {
        matches!(write, Write::Append { record: Record::Events, line }
            if line["event_type"] == "acceptance_failed"
                && line["payload"]["error_code"] == "file_too_large")
    });
    assert!(reported, "{commit:?}");
    machine.answer(Answer::Committed, now()).unwrap();
    let Want::Done(outcome) = machine.want() else {
        panic!("{:?}", machine.want());
    };
    let Conclusion::Refused { failure, state } = &**outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, Code::XchainFileTooLarge);
    assert_eq!(state.turn(&turn).unwrap().document()["status"], "failed_acceptance");
}
