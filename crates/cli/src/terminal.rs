//! The terminal of a person.

use std::io::{self, IsTerminal as _};

/// Whether a person can be asked: what they type is read, and what they must see is shown.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
