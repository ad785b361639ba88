//! What turns may cost and have cost.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};

use crate::TurnId;
use crate::config::{Config, OnExceed};
use crate::members::{self, amount, build};
use crate::state::{Block, State};

/// What a spent budget leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exceeded {
    /// The run stops.
    Block(Block),
    /// The run goes on, and an event says so.
    Warn(Object),
}

/// Refuses a turn that the budget does not cover.
pub(crate) fn check_assignment(state: &State, config: &Config) -> Result<(), Failure> {
    let (Some(most), OnExceed::PauseAndEscalate) =
        (config.budget.per_run_max_usd, config.budget.on_exceed)
    else {
        return Ok(());
    };
    let left = most - state.spent_usd() - state.reserved_usd();
    let wanted = config.budget.per_turn_max_usd.unwrap_or(0.0);
    if left <= 0.0 || wanted > left {
        let message = format!("{left:.2} dollars are left and a turn may cost {wanted:.2}");
        return Err(Failure::new(Code::XchainBudgetExhausted, message)
            .with("remaining_usd", amount(left.max(0.0))));
    }
    Ok(())
}

/// Sets aside what a turn may cost.
pub(crate) fn reserve(state: &mut State, config: &Config, turn: &TurnId) {
    let Some(usd) = config.budget.per_turn_max_usd else {
        return;
    };
    let mut reservations = reservations(state);
    let reservation = build([
        ("turn_id", turn.as_str().into()),
        ("reserved_usd", amount(usd)),
    ]);
    reservations.insert(turn.to_string(), reservation.into());
    state.set("budget_reservations", reservations);
}

/// What is set aside for a turn.
pub(crate) fn reserved(state: &State, turn: &TurnId) -> Value {
    let reservations = members::object(state.members(), "budget_reservations");
    let own = reservations.and_then(|all| all.get(turn.as_str()));
    own.map_or(Value::Null, |own| {
        own.get("reserved_usd").unwrap_or(own).clone()
    })
}

/// Books what a turn cost and gives back what was set aside for it.
pub(crate) fn book(
    state: &mut State,
    config: &Config,
    turn: &TurnId,
    cost_usd: f64,
) -> Option<Exceeded> {
    let mut reservations = reservations(state);
    reservations.shift_remove(turn.as_str());
    state.set("budget_reservations", reservations);
    let spent = state.spent_usd() + cost_usd.max(0.0);
    let most = config.budget.per_run_max_usd;
    let left = most.map(|most| most - spent);
    let mut status = members::object(state.members(), "budget_status")
        .cloned()
        .unwrap_or_default();
    status.insert("spent_usd".into(), amount(spent));
    status.insert("remaining_usd".into(), left.map_or(Value::Null, amount));
    let exhausted = left.is_some_and(|left| left <= 0.0);
    if exhausted {
        status.insert("exhausted".into(), true.into());
    }
    state.set("budget_status", status);
    if !exhausted {
        return None;
    }
    let detail = format!(
        "{spent:.2} of {:.2} dollars are spent",
        most.unwrap_or_default()
    );
    Some(match config.budget.on_exceed {
        OnExceed::PauseAndEscalate => Exceeded::Block(Block::budget(&detail)),
        OnExceed::Warn => Exceeded::Warn(build([
            ("spent_usd", amount(spent)),
            ("limit_usd", most.map_or(Value::Null, amount)),
        ])),
    })
}

fn reservations(state: &State) -> Object {
    members::object(state.members(), "budget_reservations")
        .cloned()
        .unwrap_or_default()
}
