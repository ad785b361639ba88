//! The door of governed runs: every command of `accord run` passes it.
//!
//! Invariant: a refusal whose code its operation does not declare is one `error` line in the log,
//! and reaches the user unchanged.

use accord_api::LocalDeclaration;
use accord_contract::Code;
use accord_host::log;
use accord_host::settings::Settings;
use accord_runs::operations::PendingApproval;
use accord_runs_core::operations::{
    AssignTurn, CheckpointTurns, DispatchTurn, InitRepository, LocalOperation as _, ReissueTurn,
    RejectTurn, ResolveBlock, RunDecisions, RunDoctor, RunEvents, RunHistory, RunStatus,
    SendBackRun, StageResult, StepRun,
};

use super::RunCommand;
use crate::{CliError, Exit, Result};

/// The failure codes of every command: its arguments, the settings, the files that it is given, and
/// its output.
const COMMON: [Code; 7] = [
    Code::Usage,
    Code::SettingUnknown,
    Code::SettingInvalid,
    Code::InputUnreadable,
    Code::InputTooLarge,
    Code::OutputFailed,
    Code::OutputClosed,
];

/// What a command does.
pub(super) fn operation(command: &RunCommand) -> LocalDeclaration {
    match command {
        RunCommand::Init(_) => InitRepository::declared(),
        RunCommand::Start(args) => args.operation(),
        RunCommand::Status(_) => RunStatus::declared(),
        RunCommand::Assign(_) => AssignTurn::declared(),
        RunCommand::Dispatch(_) => DispatchTurn::declared(),
        RunCommand::Stage(_) => StageResult::declared(),
        RunCommand::Accept(args) => args.operation(),
        RunCommand::Reject(_) => RejectTurn::declared(),
        RunCommand::Reissue(_) => ReissueTurn::declared(),
        RunCommand::Checkpoint(_) => CheckpointTurns::declared(),
        RunCommand::ApproveTransition(args) => args.operation(PendingApproval::Transition),
        RunCommand::ApproveCompletion(args) => args.operation(PendingApproval::Completion),
        RunCommand::SendBack(_) => SendBackRun::declared(),
        RunCommand::Proposal(args) => args.operation(),
        RunCommand::Escalate(args) => args.operation(),
        RunCommand::Resolve(_) => ResolveBlock::declared(),
        RunCommand::Adopt(args) => args.operation(),
        RunCommand::History(_) => RunHistory::declared(),
        RunCommand::Decisions(_) => RunDecisions::declared(),
        RunCommand::Events(_) => RunEvents::declared(),
        RunCommand::Doctor(_) => RunDoctor::declared(),
        RunCommand::Step(_) => StepRun::declared(),
        RunCommand::Loop(args) => args.operation(),
        RunCommand::Coordinator(args) => args.operation(),
    }
}

/// Logs a refusal whose code is not in the list of the operation.
pub(super) fn check(operation: &LocalDeclaration, ran: &Result<Exit>) {
    let Some(code) = ran.as_ref().err().and_then(CliError::code) else { return };
    if COMMON.contains(&code) || operation.codes.contains(&code) {
        return;
    }
    let mut quiet = Settings::default().log;
    quiet.level = "error".to_owned();
    // Begun for this line only. If there is no log, the user has the refusal all the same.
    if log::begin(&quiet).is_ok() {
        let operation = operation.name;
        tracing::error!(operation, %code, "a code that the operation does not declare");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use accord_runs_core::operations::operations;
    use clap::Parser as _;

    use super::*;
    use crate::commands::run::RunArgs;

    #[derive(Debug, clap::Parser)]
    struct Typed {
        #[command(flatten)]
        args: RunArgs,
    }

    #[test]
    fn every_operation_has_its_command() {
        let typed = [
            "init",
            "start",
            "start --restart",
            "status",
            "assign",
            "dispatch",
            "stage --summary s",
            "accept",
            "accept --human-merge",
            "reject --reason r",
            "reissue --reason r",
            "checkpoint",
            "approve-transition",
            "approve-transition --dry-run",
            "approve-completion",
            "approve-completion --dry-run",
            "send-back --reason r",
            "proposal list",
            "proposal show t",
            "proposal apply t",
            "proposal drop t",
            "escalate --reason r",
            "escalate --reason r --end-workers",
            "resolve",
            "adopt",
            "adopt --yes",
            "history",
            "decisions",
            "events",
            "doctor",
            "step",
            "loop",
            "loop --auto-approve",
            "coordinator init",
            "coordinator status",
            "coordinator step",
            "coordinator approve-gate",
            "coordinator send-back --reason r",
            "coordinator resync",
        ];
        let of = |words: &str| {
            let words = std::iter::once("run").chain(words.split(' '));
            let typed = Typed::try_parse_from(words).expect("arguments");
            operation(&typed.args.command).name
        };
        let found: BTreeSet<&str> = typed.into_iter().map(of).collect();
        let declared: BTreeSet<&str> = operations().iter().map(|it| it.name).collect();
        assert_eq!(found, declared);
        assert_eq!(of("start --restart"), "run_restart");
        assert_eq!(of("accept --human-merge"), "run_accept_merge");
        assert_eq!(of("approve-completion"), "run_approve_completion");
        assert_eq!(of("approve-completion --dry-run"), "run_plan_approval");
        assert_eq!(of("adopt"), "run_changes");
        assert_eq!(of("loop --auto-approve"), "run_loop_approving");
    }
    /// Refuses the check-up with a code, in a process of its own, and gives what it logged.
    fn logged(code: Code) -> String {
        const NAME: &str = "commands::run::door::tests::a_refusal_is_checked";
        let mut test = Command::new(std::env::current_exe().expect("this program"));
        test.args(["--exact", NAME, "--nocapture"]).env(REFUSE, code.as_str());
        let output = test.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }

    const REFUSE: &str = "ACCORD_TEST_REFUSE";

    #[test]
    fn a_refusal_is_checked() {
        if let Ok(code) = std::env::var(REFUSE) {
            let code = Code::parse(&code).expect("a code");
            check(&RunDoctor::declared(), &Err(CliError::new(code, "refused")));
            return;
        }
        assert_eq!(logged(Code::XchainNotGoverned), "", "it is declared");
        assert_eq!(logged(Code::OutputFailed), "", "every command has it");
        let log = logged(Code::XchainConflict);
        assert_eq!(log.lines().count(), 1, "{log}");
        for part in ["ERROR", "does not declare", "run_doctor", Code::XchainConflict.as_str()] {
            assert!(log.contains(part), "{part}: {log}");
        }
    }
}
