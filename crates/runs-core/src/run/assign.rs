//! Assignment of a turn to a role.

use accord_contract::text::counted;
use accord_contract::{Code, Failure, Time};

use super::{Change, Refused, illegal};
use crate::{
    Baseline, Config, HookBatch, HookPhase, HookReport, Ids, Result, Role, State, Status, Turn,
    WriteAuthority, array, budget, build, delegation, doc, hooks, name_files, rule,
};

pub(crate) const DEFAULT_TURN_MINUTES: u64 = 120;

/// The repository before an assignment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BaselineCheck {
    /// There are no changes that could be attributed to the turn.
    Clean(Baseline),
    /// These files are changed and belong to no turn.
    Dirty(Baseline, Vec<String>),
    /// The changes belong to this accepted turn, which has no checkpoint yet.
    Uncheckpointed(Baseline, String),
}

/// A checked assignment. Only its hooks can still refuse it.
#[derive(Clone, Debug)]
pub struct Assignable {
    state: State,
    config: Config,
    role: String,
    runtime: String,
    baseline: Baseline,
    history_length: u64,
}

/// Checks whether a role can be assigned a turn. The first guard that fails decides. Fails with the
/// code of that guard.
///
/// Clauses: AX-SM-ASSIGN, AX-SM-ASSIGN-ROLE, AX-SM-TERMINAL.
pub fn check_assignment(
    state: &State,
    config: &Config,
    role: &str,
    baseline: BaselineCheck,
    history_length: u64,
) -> Result<Assignable> {
    let legal = rule!(
        state.status() == Status::Active;
        PausedRunAssigns => matches!(state.status(), Status::Active | Status::Paused)
    );
    if !legal {
        return Err(illegal(state, "take a turn"));
    }
    let (found, runtime) = runtime_of(config, role)?;
    // The order of the guards is that of the reference runner, which decides on the reported code.
    capacity(state, config, role)?;
    budget::check_assignment(state, config)?;
    let baseline = clean(found.authority, baseline)?;
    Ok(Assignable {
        state: state.clone(),
        config: config.clone(),
        role: role.to_owned(),
        runtime: runtime.to_owned(),
        baseline,
        history_length,
    })
}

/// A declared role and its runtime. Fails with `unknown_role` or `role_without_runtime`.
pub(super) fn runtime_of<'a>(config: &'a Config, role: &str) -> Result<(&'a Role, &'a str)> {
    let found = config.role(role).ok_or_else(|| {
        let known: Vec<&str> = config.roles().iter().map(|role| role.id.as_str()).collect();
        let message = format!("there is no role {role}; there are {}", known.join(", "));
        Failure::new(Code::XchainUnknownRole, message)
    })?;
    let runtime = found.runtime.as_deref().filter(|id| config.runtime(id).is_some());
    let message = || format!("role {role} has no runtime");
    let runtime = runtime.ok_or_else(|| Failure::new(Code::XchainRoleWithoutRuntime, message()))?;
    Ok((found, runtime))
}

/// Clauses: AX-PT-CAPACITY.
fn capacity(state: &State, config: &Config, role: &str) -> Result<()> {
    let most = config.max_concurrent_turns(state.phase());
    let full = |limit: &str| {
        let names: Vec<&str> = state.turns().map(|turn| turn.id().as_str()).collect();
        let holder = |turn: &Turn| format!("{} of {}", turn.id(), turn.role());
        let holders: Vec<String> = state.turns().map(holder).collect();
        let are = if holders.len() == 1 { "is" } else { "are" };
        let message = format!("{} {are} active, and the phase {limit}", holders.join(", "));
        Failure::new(Code::XchainTurnCapacityReached, message).with("active_turns", array(&names))
    };
    // The protocol reports a full phase before a role that is already active.
    if most == 1 && state.turns().len() > 0 {
        return Err(full("takes one turn at a time"));
    }
    let own = state.turns().find(|turn| turn.role() == role);
    if let Some(turn) = rule!(own; RoleTwice => None) {
        let message = format!("role {role} already has the active turn {}", turn.id());
        return Err(Failure::new(Code::XchainRoleAlreadyActive, message));
    }
    if rule!(state.turns().len() >= most; CapacityIgnored => false) {
        return Err(full(&format!("takes {most} at a time")));
    }
    Ok(())
}

fn clean(authority: WriteAuthority, check: BaselineCheck) -> Result<Baseline> {
    match check {
        BaselineCheck::Clean(baseline) => Ok(baseline),
        // No change can be attributed to a role that only reviews.
        BaselineCheck::Dirty(baseline, _) | BaselineCheck::Uncheckpointed(baseline, _)
            if authority == WriteAuthority::ReviewOnly =>
        {
            Ok(baseline)
        }
        BaselineCheck::Dirty(_, files) => {
            let count = counted(files.len() as u64, "file");
            let belong = if files.len() == 1 { "belongs" } else { "belong" };
            let message =
                format!("{count} changed and {belong} to no turn: {}", name_files(&files));
            Err(Failure::new(Code::XchainBaselineDirty, message).with("files", array(&files)))
        }
        BaselineCheck::Uncheckpointed(_, turn) => {
            let message = format!("the files of the accepted turn {turn} are not committed");
            Err(Failure::new(Code::XchainCheckpointRequired, message).with("turn_id", turn))
        }
    }
}

impl Assignable {
    pub fn hooks(&self) -> Option<HookBatch> {
        let Self { config, state, role, history_length, .. } = self;
        let phase = HookPhase::BeforeAssignment;
        let payload = hooks::before_assignment(config, state, role, *history_length);
        let run = state.run_id().map(ToString::to_string);
        HookBatch::new(phase, config.hooks(phase), payload, run)
    }

    /// Assigns the turn after its hooks ran. Fails with `hook_blocked`, or with the code of the
    /// tampering, and blocks the run.
    pub fn confirm(
        self,
        report: &HookReport,
        ids: &mut Ids,
        now: Time,
    ) -> Result<(Change, Turn), Refused> {
        if let Some(refused) = super::stopped_by_hook(&self.state, report, ids, now) {
            return Err(refused);
        }
        let mut next = self.state.clone();
        let sequence = next.tick();
        let id = ids.turn();
        let siblings: Vec<&str> = self.state.turns().map(|turn| turn.id().as_str()).collect();
        let members = build([
            doc::Turn::TURN_ID.to(id.as_str()),
            doc::Turn::RUN_ID.to(next.run_id()),
            doc::Turn::ASSIGNED_ROLE.to(self.role.as_str()),
            doc::Turn::STATUS.to("assigned"),
            doc::Turn::ATTEMPT.to(1_u64),
            doc::Turn::ASSIGNED_AT.to(now),
            doc::Turn::STARTED_AT.to(now),
            doc::Turn::DEADLINE_AT.to(deadline(&self.config, now)),
            doc::Turn::RUNTIME_ID.to(self.runtime.as_str()),
            doc::Turn::BASELINE.to(self.baseline.document(now)),
            doc::Turn::ASSIGNED_SEQUENCE.to(sequence),
            doc::Turn::CONCURRENT_WITH.to(&siblings),
        ]);
        let mut turn = Turn::assign(id, &self.role, sequence, members);
        // The delegation must be in the turn before the state gets its copy.
        delegation::attach(&mut next, &mut turn);
        budget::reserve(&mut next, &self.config, turn.id());
        next.add_turn(turn.clone());
        Ok((Change::new(next, Vec::new()), turn))
    }
}

pub(super) fn deadline(config: &Config, now: Time) -> Time {
    now.minutes_later(config.timeouts.per_turn.unwrap_or(DEFAULT_TURN_MINUTES))
}
