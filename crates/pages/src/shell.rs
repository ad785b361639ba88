//! Pages that carry no data.

use accord_contract::Code;
use askama::Template;

use crate::assets;
use crate::html::Html;

/// The page of a live session as a navigation gets it: a form to sign in, and places that the
/// page's modules fill. It is the same for every session and every visitor.
#[derive(Clone, Debug, Template)]
#[template(path = "shell.html")]
pub struct Shell {
    assets: &'static str,
    /// The URL of the first module.
    module: String,
    name: String,
    is_open: bool,
    nonce: Option<String>,
}

impl Shell {
    /// The page of a host. `name` tells hosts on one machine apart. `is_open` says that the host
    /// has no keys, so that nobody has one to enter.
    pub fn new(name: impl Into<String>, is_open: bool) -> Self {
        let assets = assets::path();
        let module = format!("{assets}/live.js");
        Self { assets, module, name: name.into(), is_open, nonce: None }
    }

    /// The page with the nonce of its policy.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Option<&str>) -> Self {
        self.nonce = nonce.map(str::to_owned);
        self
    }

    /// The same page, with its first module from another URL. A conformance control asks for it, to
    /// see what the page shows if the module cannot be loaded.
    #[must_use]
    pub fn module(mut self, url: impl Into<String>) -> Self {
        self.module = url.into();
        self
    }

    /// The page. Its markup has the failure that is shown if no module starts, because then there
    /// is no script to show it.
    ///
    /// Clauses: GGUI-PAGE-BOOTSTRAP-FAILURE.
    pub fn html(&self) -> Html {
        Html::of(self)
    }
}

/// The answer to a navigation that leads nowhere.
#[derive(Clone, Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    assets: &'static str,
    code: &'static str,
    message: String,
    nonce: Option<String>,
}

impl ErrorPage {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { assets: assets::path(), code: code.as_str(), message, nonce: None }
    }

    #[must_use]
    pub fn with_nonce(mut self, nonce: Option<&str>) -> Self {
        self.nonce = nonce.map(str::to_owned);
        self
    }

    pub fn html(&self) -> Html {
        Html::of(self)
    }
}
