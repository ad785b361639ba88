//! The budget of a run.

use std::fmt;

use accord_base::client_output::ClientCost;
use accord_contract::{Code, Failure, Object, Time, Value};

use crate::config::{Config, OnExceed};
use crate::members::{amount, build};
use crate::run::Change;
use crate::{Block, Emitter, EventType, Ids, Result, State, Turn, TurnId, doc};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exceeded {
    Block(Block),
    Warn(Object),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall {
    /// The remaining budget in dollars; zero when it is overdrawn.
    pub left_usd: f64,
    pub wanted_usd: f64,
}

/// The missing budget, unless another turn is covered.
pub fn shortfall(state: &State, config: &Config) -> Option<Shortfall> {
    let most = config.budget.per_run_max_usd?;
    if config.budget.on_exceed != OnExceed::PauseAndEscalate {
        return None;
    }
    let left = most - state.spent_usd() - pending_usd(state);
    let wanted_usd = config.budget.per_turn_max_usd.unwrap_or(0.0);
    (left <= 0.0 || wanted_usd > left).then_some(Shortfall { left_usd: left.max(0.0), wanted_usd })
}

/// What active turns may cost, or have cost already: the budget of each, or what its clients say if
/// that is more.
fn pending_usd(state: &State) -> f64 {
    let more = state.turns().map(|turn| {
        let reserved = reserved(state, turn.id()).as_f64().unwrap_or(0.0);
        (observed_usd(turn) - reserved).max(0.0)
    });
    state.reserved_usd() + more.sum::<f64>()
}

fn observed_usd(turn: &Turn) -> f64 {
    turn.observed_cost().and_then(|cost| cost.usd).unwrap_or(0.0)
}

/// What the clients of active turns say that they cost so far.
pub fn unaccepted_usd(state: &State) -> f64 {
    state.turns().map(observed_usd).sum()
}

/// Checks that the attempts of active turns have left some of the run's budget for another one.
/// Fails with `budget_exhausted`.
pub fn check_attempt(state: &State, config: &Config) -> Result<()> {
    let budget = &config.budget;
    let most = budget.per_run_max_usd.filter(|_| budget.on_exceed == OnExceed::PauseAndEscalate);
    let attempts = unaccepted_usd(state);
    let left = most.map(|most| most - state.spent_usd() - attempts);
    match left {
        Some(left) if left <= 0.0 && attempts > 0.0 => {
            let message = format!(
                "attempts that were not accepted have cost {attempts:.2} dollars, and nothing is \
                 left of the run's budget"
            );
            let raise = "raise budget.per_run_max_usd in agentxchain.json, and commit it where git \
                         is used";
            let failure = Failure::new(Code::XchainBudgetExhausted, message);
            Err(failure.with("remaining_usd", amount(0.0)).suggesting(raise))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_assignment(state: &State, config: &Config) -> Result<()> {
    let Some(missing) = shortfall(state, config) else { return Ok(()) };
    Err(Failure::new(Code::XchainBudgetExhausted, missing.to_string())
        .with("remaining_usd", amount(missing.left_usd))
        .with("wanted_usd", amount(missing.wanted_usd)))
}

/// The cost of a turn above its reservation: a message, and the payload of the event.
pub(crate) fn overrun(config: &Config, cost_usd: f64) -> Option<(String, Object)> {
    let most = config.budget.per_turn_max_usd?;
    let message = format!(
        "{}: the turn cost {cost_usd:.2} dollars of at most {most:.2} (budget.per_turn_max_usd)",
        EventType::BudgetExceededWarn
    );
    (cost_usd > most).then(|| (message, payload("turn", cost_usd, Some(most))))
}

fn payload(scope: &str, spent: f64, limit: Option<f64>) -> Object {
    let limit = limit.map_or(Value::Null, amount);
    build([("scope", scope.into()), ("spent_usd", amount(spent)), ("limit_usd", limit)])
}

/// Reserves the budget of a turn. Also recomputes the remaining budget: the limit may have been
/// raised since, and other runners rely on the stored value.
pub(crate) fn reserve(state: &mut State, config: &Config, turn: &TurnId) {
    if config.budget.per_run_max_usd.is_some() {
        store_budget(state, config, state.spent_usd());
    }
    let Some(usd) = config.budget.per_turn_max_usd else { return };
    let mut reservations = reservations(state);
    let reservation = build([
        doc::Reservation::TURN_ID.to(turn.as_str()),
        doc::Reservation::RESERVED_USD.to(usd),
    ]);
    reservations.insert(turn.to_string(), reservation.into());
    state.set(doc::State::BUDGET_RESERVATIONS, reservations);
}

pub(crate) fn reserved(state: &State, turn: &TurnId) -> Value {
    let reservations = doc::State::BUDGET_RESERVATIONS.get(state.members());
    let own = reservations.and_then(|all| all.get(turn.as_str()));
    // A reservation may also be a plain number; `State::reserved_usd` reads both forms.
    own.map_or(Value::Null, |own| doc::Reservation::RESERVED_USD.raw(own).unwrap_or(own).clone())
}

pub(crate) fn book(state: &mut State, config: &Config, id: &TurnId, usd: f64) -> Option<Exceeded> {
    release(state, id);
    // A worker reports its own cost. A negative one must not refill the budget.
    let spent = state.spent_usd() + usd.max(0.0);
    let most = config.budget.per_run_max_usd;
    if !store_budget(state, config, spent) {
        return None;
    }
    let detail = format!("{spent:.2} of {:.2} dollars are spent", most.unwrap_or_default());
    Some(match config.budget.on_exceed {
        OnExceed::PauseAndEscalate => Exceeded::Block(Block::budget(&detail)),
        OnExceed::Warn => Exceeded::Warn(payload("run", spent, most)),
    })
}

/// Adds what the client of an attempt says that it cost: to the turn, or to the run if the turn is
/// not active any more. Fails if the change has no event number.
pub fn note_cost(
    state: &State,
    config: &Config,
    turn: &TurnId,
    cost: ClientCost,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let mut next = state.clone();
    match next.turn_mut(turn) {
        Some(active) => {
            let sum = active.observed_cost().unwrap_or_default().plus(cost);
            active.set(doc::Turn::OBSERVED_COST, sum.document());
        }
        None => {
            let spent = state.spent_usd() + cost.usd.unwrap_or(0.0);
            store_budget(&mut next, config, spent);
        }
    }
    let events = Emitter::new(&next, ids, now)?.finish();
    Ok(Change::new(next, events))
}

/// Books what the attempts of a turn cost that is taken back.
pub(crate) fn write_off(state: &mut State, config: &Config, turn: &Turn) {
    release(state, turn.id());
    let usd = observed_usd(turn);
    if usd > 0.0 {
        store_budget(state, config, state.spent_usd() + usd);
    }
}

fn release(state: &mut State, turn: &TurnId) {
    let mut reservations = reservations(state);
    reservations.shift_remove(turn.as_str());
    state.set(doc::State::BUDGET_RESERVATIONS, reservations);
}

/// Stores the spent and remaining budget. Returns whether nothing remains.
fn store_budget(state: &mut State, config: &Config, spent: f64) -> bool {
    let left = config.budget.per_run_max_usd.map(|most| most - spent);
    let mut status = doc::State::BUDGET_STATUS.get(state.members()).cloned().unwrap_or_default();
    doc::Budget::SPENT_USD.set(&mut status, spent);
    doc::Budget::REMAINING_USD.set(&mut status, left.map_or(Value::Null, amount));
    let exhausted = left.is_some_and(|left| left <= 0.0);
    if exhausted {
        doc::Budget::EXHAUSTED.set(&mut status, true);
    } else {
        // The limit may have been raised since the budget was exhausted.
        doc::Budget::EXHAUSTED.remove(&mut status);
    }
    state.set(doc::State::BUDGET_STATUS, status);
    exhausted
}

impl fmt::Display for Shortfall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, wanted) = (self.left_usd, self.wanted_usd);
        write!(formatter, "{left:.2} dollars are left of the run's budget")?;
        if wanted > 0.0 {
            write!(formatter, ", and a turn may cost {wanted:.2}")?;
        }
        Ok(())
    }
}

fn reservations(state: &State) -> Object {
    doc::State::BUDGET_RESERVATIONS.get(state.members()).cloned().unwrap_or_default()
}
