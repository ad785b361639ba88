//! Markup that this crate made.

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;

/// HTML. Only this crate makes it, so a template inserts it as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Html(String);

impl Html {
    /// Markup whose texts are escaped already.
    pub(crate) fn trusted(markup: String) -> Self {
        Self(markup)
    }

    pub(crate) fn of(template: &impl Template) -> Self {
        // A template fails only if a value of it does, and those of this crate write to strings.
        Self(template.render().expect("templates of this crate always render"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub(crate) fn push(&mut self, markup: &str) {
        self.0.push_str(markup);
    }
}

impl fmt::Display for Html {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}
