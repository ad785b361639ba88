//! The prompt of an active turn.

use accord_contract::{Code, Failure};
use accord_runs_core::{Result, Turn, TurnId, dispatch};

use crate::{Runs, own_path};

/// A longer prompt is not read.
const LARGEST: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub turn: Turn,
    /// In Markdown.
    pub text: String,
}

impl Runs {
    /// The prompt of a turn, or of the only active one. It takes no lock. Fails with
    /// `turn_not_active` or `target_required`, and with `turn_not_active` for a turn that is not
    /// dispatched.
    pub fn prompt(&self, turn: Option<&TurnId>) -> Result<Prompt> {
        let state = self.state()?;
        let turn = state.target(turn)?.clone();
        let path = own_path(&format!("{}/PROMPT.md", dispatch::bundle_folder(turn.id())))?;
        let bytes = self.repository().read(&path, LARGEST)?.ok_or_else(|| {
            let message = format!("{} has no prompt: it is not dispatched", turn.id());
            Failure::new(Code::XchainTurnNotActive, message).suggesting("accord run dispatch")
        })?;
        Ok(Prompt { turn, text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}
