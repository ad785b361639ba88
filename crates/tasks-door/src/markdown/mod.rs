//! Lists and boards of tasks for agents, in Markdown within a budget of tokens.
//!
//! Invariants:
//! - a text has at most as many tokens as its budget;
//! - what does not fit is counted, and the text says where to read it;
//! - every task has its id;
//! - a title, a name or a reason takes one line, so that it can add no heading.

mod board;
mod list;

use accord_base::tokens;

pub(crate) use self::board::board;
pub(crate) use self::list::list;

/// The longest title that is shown, in characters.
const TITLE: usize = 120;

/// Lines that fit into a budget.
struct Lines {
    text: String,
    left: usize,
}

impl Lines {
    /// No lines yet.
    fn new(budget: usize) -> Self {
        Self { text: String::new(), left: budget }
    }

    /// Adds a line, if it fits and `reserved` tokens stay.
    fn add(&mut self, line: &str, reserved: usize) -> bool {
        let line = format!("{line}\n");
        match self.left.checked_sub(tokens(&line)).filter(|left| *left >= reserved) {
            Some(left) => {
                self.left = left;
                self.text.push_str(&line);
                true
            }
            None => false,
        }
    }
}
