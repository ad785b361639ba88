//! Lines of output, with colours on a terminal.

use std::io::IsTerminal as _;

use accord_contract::wire::Value;

use super::text::{clean, one_line};
use crate::host::setting;

/// The width of the labels.
const LABEL: usize = 9;

/// The maximum length of a text that is shortened to one line.
pub(crate) const LINE: usize = 110;

/// The style of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Style {
    /// A heading.
    Title,
    /// Less important text.
    Faint,
    /// A good state.
    Good,
    /// A state that needs an action.
    Waiting,
    /// A bad state.
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
        Self { text: String::new(), has_colours: colours() }
    }

    /// A page without colours.
    pub(crate) fn plain() -> Self {
        Self::default()
    }

    /// The lines so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Adds an empty line, unless the page is empty.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Adds a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        let heading = self.styled(Style::Title, &one_line(text, usize::MAX));
        self.line(heading);
    }

    /// Adds an indented line of pieces, without the empty ones.
    pub(crate) fn pieces(&mut self, pieces: &[String]) {
        let pieces: Vec<_> =
            pieces.iter().filter(|piece| !piece.is_empty()).map(String::as_str).collect();
        if !pieces.is_empty() {
            self.line(format!("  {}", pieces.join("  ")));
        }
    }

    /// Adds a label and a text, shortened to one line.
    pub(crate) fn labelled(&mut self, label: &str, text: &str) {
        self.labelled_up_to(label, text, LINE);
    }

    /// Adds a label and a text with all its lines.
    pub(crate) fn labelled_whole(&mut self, label: &str, text: &str) {
        let mut label = label;
        for line in text.trim_end().lines() {
            self.labelled_up_to(label, line, usize::MAX);
            label = "";
        }
    }

    /// Adds a label and up to `most` texts, one per line, and the number of the rest.
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
            let more = self.styled(Style::Faint, &more);
            self.line(format!("  {:LABEL$}{more}", ""));
        }
    }

    /// A text in its colour.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if !self.has_colours || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Title => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Waiting => "33",
            Style::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    fn labelled_up_to(&mut self, label: &str, text: &str, most: usize) {
        let label = self.styled(Style::Faint, &format!("{label:LABEL$}"));
        let text = match most {
            usize::MAX => clean(text),
            _ => one_line(text, most),
        };
        self.line(format!("  {label}{text}").trim_end());
    }
}

/// The items of an array; empty for anything else.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
