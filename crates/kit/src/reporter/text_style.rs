//! Colours for terminals, or none.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Colour {
    Dim,
    Green,
    Magenta,
    Red,
    Yellow,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Style(pub(crate) bool);

impl Style {
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Dim => "2",
            Colour::Green => "32",
            Colour::Magenta => "35",
            Colour::Red => "31",
            Colour::Yellow => "33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
