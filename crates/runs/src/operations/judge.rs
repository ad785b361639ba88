//! Validates a staged result without changing anything.

use accord_runs_core::result::{self, Judged, Leniency, Situation};
use accord_runs_core::{Result, State, Turn, TurnId, dispatch};

use crate::Runs;

impl Runs {
    /// What acceptance would find in the staged result of a turn, without hooks, git and policies.
    /// Fails with `turn_not_active` or `target_required`, or a failure to read a file.
    pub fn judge(&self, turn: Option<&TurnId>, leniency: Leniency) -> Result<Judged> {
        let state = self.state()?;
        let turn = state.target(turn)?;
        self.judge_for(&state, Some(turn), leniency)
    }

    /// The findings of each validation stage for the staged result of the only active turn. With no
    /// turn or several, the assignment stage reports that.
    pub fn judge_staged(&self, leniency: Leniency) -> Result<Judged> {
        let state = self.state()?;
        self.judge_for(&state, state.only_turn(), leniency)
    }

    fn judge_for(&self, state: &State, turn: Option<&Turn>, leniency: Leniency) -> Result<Judged> {
        let config = self.config()?;
        let index = self.repository().index(state.run_id())?;
        let mut places = vec![dispatch::FLAT_STAGING_PATH.to_owned()];
        if let Some(turn) = turn {
            // The own path first. The flat path is that of older runners and of public fixtures.
            places.insert(0, dispatch::staging_path(turn.id()));
        }
        let staged = match self.repository().staged(&places)? {
            Some((_, bytes)) => result::read_staged(&bytes),
            None => Err("there is no staged result".to_owned()),
        };
        let situation = Situation { config: &config, state, turn, index: &index };
        Ok(result::judge(staged, &situation, leniency))
    }
}
