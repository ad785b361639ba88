//! What is printed, in colours where there are any.

use std::io::IsTerminal as _;

use accord_contract::wire::Value;

use super::text::{clean, one_line};
use crate::host::setting;

/// How wide the labels before texts are.
const LABEL: usize = 9;

/// The longest text on a line that stands for more.
pub(crate) const LINE: usize = 110;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ink {
    /// A heading.
    Title,
    /// Of less weight.
    Faint,
    /// A state that is as it should be.
    Good,
    /// A state that waits for somebody.
    Waiting,
    /// A state that is not as it should be.
    Bad,
}

/// Lines for people.
#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
    has_colours: bool,
}

/// Whether standard output takes colours.
pub(crate) fn colours() -> bool {
    let is_dumb = setting("TERM").is_some_and(|terminal| terminal == "dumb");
    std::io::stdout().is_terminal() && setting("NO_COLOR").is_none() && !is_dumb
}

impl Page {
    /// A page for standard output.
    pub(crate) fn new() -> Self {
        Self {
            text: String::new(),
            has_colours: colours(),
        }
    }

    /// A page without colours.
    pub(crate) fn plain() -> Self {
        Self::default()
    }

    /// The lines so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// A line that is ready to be printed.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// An empty line, unless the page is empty.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// A heading on a line of its own.
    pub(crate) fn heading(&mut self, text: &str) {
        let heading = self.ink(Ink::Title, &one_line(text, usize::MAX));
        self.line(heading);
    }

    /// Ready-made pieces on an indented line, those that are empty left out.
    pub(crate) fn pieces(&mut self, pieces: &[String]) {
        let pieces: Vec<_> = pieces
            .iter()
            .filter(|piece| !piece.is_empty())
            .map(String::as_str)
            .collect();
        if !pieces.is_empty() {
            self.line(format!("  {}", pieces.join("  ")));
        }
    }

    /// A text behind its label, on one line.
    pub(crate) fn labelled(&mut self, label: &str, text: &str) {
        self.labelled_up_to(label, text, LINE);
    }

    /// A text behind its label, with all its lines.
    pub(crate) fn labelled_whole(&mut self, label: &str, text: &str) {
        let mut label = label;
        for line in text.trim_end().lines() {
            self.labelled_up_to(label, line, usize::MAX);
            label = "";
        }
    }

    /// Texts behind one label, each on a line, and how many more there are.
    pub(crate) fn labelled_list(&mut self, label: &str, texts: &Value, most: usize) {
        let texts: Vec<&str> = list(texts).iter().filter_map(Value::as_str).collect();
        for text in texts.iter().take(most) {
            match most {
                usize::MAX => self.labelled_whole(label, text),
                _ => self.labelled(label, text),
            }
        }
        if texts.len() > most {
            let more = format!("and {} more", texts.len() - most);
            let more = self.ink(Ink::Faint, &more);
            self.line(format!("  {:LABEL$}{more}", ""));
        }
    }

    /// A piece of text in its colour.
    pub(crate) fn ink(&self, ink: Ink, text: &str) -> String {
        if !self.has_colours || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Title => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Waiting => "33",
            Ink::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    fn labelled_up_to(&mut self, label: &str, text: &str, most: usize) {
        let label = self.ink(Ink::Faint, &format!("{label:LABEL$}"));
        let text = match most {
            usize::MAX => clean(text),
            _ => one_line(text, most),
        };
        self.line(format!("  {label}{text}").trim_end());
    }
}

/// The items of a list; none where there is no list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
