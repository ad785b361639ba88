//! Why a move ends the case.

use crate::browser::BrowserError;
use crate::exchange::variables::Unknown;
use crate::exchange::{End, ExchangeError};
use crate::report::Difference;

/// Why a move ends the case.
pub(super) enum Stop {
    End(End),
    Unknown(Unknown),
}

impl From<ExchangeError> for Stop {
    fn from(trouble: ExchangeError) -> Self {
        Self::End(End::Failed(trouble))
    }
}

impl From<Unknown> for Stop {
    fn from(unknown: Unknown) -> Self {
        Self::Unknown(unknown)
    }
}

// What a browser cannot do says nothing about the server.
impl From<BrowserError> for Stop {
    fn from(error: BrowserError) -> Self {
        Self::harness(error.to_string())
    }
}

impl Stop {
    pub(super) fn unmet(differences: Vec<Difference>) -> Self {
        Self::End(End::Unmet { differences, prepares: false })
    }

    pub(super) fn harness(why: impl Into<String>) -> Self {
        Self::End(End::Harness(why.into()))
    }
}
