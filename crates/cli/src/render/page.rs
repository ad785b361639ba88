//! Lines of output, with colours on a terminal.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

use super::text::{clean, one_line, shown_width, wrapped};
use crate::host::setting;

const LABEL: usize = 9;

/// The maximum length of a text that is shortened to one line.
pub(crate) const LINE: usize = 110;

/// The narrowest space beside a term for its text.
const ENOUGH: usize = 30;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Style {
    Title,
    /// Less important text.
    Faint,
    Good,
    /// A state that needs an action.
    Waiting,
    Bad,
}

#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
    has_colours: bool,
    width: Option<usize>,
}

/// The narrowest terminal for which lines are wrapped.
const NARROWEST: usize = 20;

/// Whether standard output takes colours.
pub(crate) fn colours() -> bool {
    let is_dumb = setting("TERM").is_some_and(|terminal| terminal == "dumb");
    std::io::stdout().is_terminal() && setting("NO_COLOR").is_none() && !is_dumb
}

/// The width of the terminal: COLUMNS, or what the terminal says. A file has none.
fn width() -> Option<usize> {
    let named = setting("COLUMNS").and_then(|columns| columns.parse().ok());
    named.or_else(|| width_of(std::io::stdout())).map(|width: usize| width.max(NARROWEST))
}

fn width_of(terminal: impl AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(terminal).map(|(width, _)| width.0.into())
}

impl Page {
    pub(crate) fn new() -> Self {
        Self { text: String::new(), has_colours: colours(), width: width() }
    }

    /// A page for standard error, without colours.
    pub(crate) fn for_stderr() -> Self {
        let width = width_of(std::io::stderr());
        Self { width: width.map(|width| width.max(NARROWEST)), ..Self::default() }
    }

    /// A page without colours, for a terminal of this width.
    #[cfg(test)]
    pub(super) fn within(width: usize) -> Self {
        Self { width: Some(width), ..Self::default() }
    }

    /// A page without colours.
    pub(crate) fn plain() -> Self {
        Self::default()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The width of the terminal, if the page is for one.
    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

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

    pub(crate) fn heading(&mut self, text: &str) {
        for line in self.wrapped(&one_line(text, usize::MAX), 0) {
            self.line(self.styled(Style::Title, &line));
        }
    }

    /// Adds an indented line of pieces, without the empty ones.
    pub(crate) fn pieces(&mut self, pieces: &[String]) {
        let mut line = String::new();
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            // A piece is not broken: it may be an id.
            let width = shown_width(&line) + 2 + shown_width(piece);
            if !line.is_empty() && self.width.is_some_and(|most| width > most) {
                self.line(std::mem::replace(&mut line, "  ".to_owned()));
            }
            line.push_str("  ");
            line.push_str(piece);
        }
        if !line.is_empty() {
            self.line(line);
        }
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        for line in self.wrapped(&one_line(text, usize::MAX), 2) {
            self.line(format!("  {line}"));
        }
    }

    /// Adds terms, each with its text beside or, where that is too narrow, below it.
    pub(crate) fn terms(&mut self, terms: &[(&str, String)]) {
        let widest = terms.iter().map(|(term, _)| shown_width(term)).max().unwrap_or(0);
        let beside = widest + 2;
        let is_narrow = self.width.is_some_and(|most| most < beside + ENOUGH);
        for (term, text) in terms {
            let mut shown = format!("{term:beside$}");
            let indent = if is_narrow { 4 } else { beside };
            if is_narrow {
                self.line(*term);
                shown = " ".repeat(indent);
            }
            for line in self.wrapped(text, indent) {
                self.line(format!("{shown}{line}"));
                shown = " ".repeat(indent);
            }
        }
    }

    /// Adds a label and a text, shortened to one line.
    pub(crate) fn labelled(&mut self, label: &str, text: &str) {
        self.labelled_up_to(label, text, LINE);
    }

    /// Adds a label and a text with all its lines.
    pub(crate) fn labelled_whole(&mut self, mut label: &str, text: &str) {
        for line in text.trim_end().lines() {
            self.labelled_up_to(label, line, usize::MAX);
            label = "";
        }
    }

    /// Adds a label and a text, if there is one.
    pub(crate) fn labelled_some(&mut self, label: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.labelled(label, text);
        }
    }

    /// Adds a label and a text with all its lines, if there is one.
    pub(crate) fn labelled_some_whole(&mut self, label: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.labelled_whole(label, text);
        }
    }

    /// Adds texts with all their lines, each with the label.
    pub(crate) fn labelled_each(&mut self, label: &str, texts: &[String]) {
        texts.iter().for_each(|text| self.labelled_whole(label, text));
    }

    /// Adds a label and up to `most` texts, one per line, and the number of the rest.
    pub(crate) fn labelled_texts(&mut self, label: &str, texts: &[&str], most: usize) {
        for text in texts.iter().take(most) {
            match most {
                usize::MAX => self.labelled_whole(label, text),
                _ => self.labelled(label, text),
            }
        }
        if texts.len() > most {
            let more = self.styled(Style::Faint, &format!("and {} more", texts.len() - most));
            self.line(format!("  {:LABEL$}{more}", ""));
        }
    }

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
        // A label that fills its column still needs a space after it.
        let space = if label.chars().count() < LABEL { "" } else { " " };
        let mut label = self.styled(Style::Faint, &format!("{label:LABEL$}{space}"));
        let text = if most == usize::MAX { clean(text) } else { one_line(text, most) };
        for line in self.wrapped(&text, LABEL + 2) {
            self.line(format!("  {label}{line}").trim_end());
            label = " ".repeat(LABEL);
        }
    }

    /// The lines of a text below an indent, within the width of the terminal.
    fn wrapped(&self, text: &str, indent: usize) -> Vec<String> {
        match self.width {
            None => vec![text.to_owned()],
            Some(most) => wrapped(text, most.saturating_sub(indent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_never_touches_its_text() {
        let mut page = Page::plain();
        page.labelled("kept", "a");
        page.labelled("sent back", "b");
        page.labelled("a_long_workstream", "c");
        assert_eq!(page.as_str(), "  kept     a\n  sent back b\n  a_long_workstream c\n");
    }
}
