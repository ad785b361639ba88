//! The conditions under which a page is shown: screen, theme, network.

use serde_json::{Value, json};

use super::connection::Rule;
use super::error::BrowserError;
use super::page::Page;

/// The size of a screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Viewport {
    /// The width in CSS pixels.
    pub width: u32,
    /// The height in CSS pixels.
    pub height: u32,
    /// Whether it is a touch screen of a phone.
    pub phone: bool,
}

impl Viewport {
    /// A small phone: 320 by 640 pixels.
    pub const PHONE: Self = Self { width: 320, height: 640, phone: true };
    /// A window on a desk: 1280 by 800 pixels.
    pub const DESKTOP: Self = Self { width: 1280, height: 800, phone: false };
}

/// The value of `prefers-color-scheme`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ColorScheme {
    /// `light`
    Light,
    /// `dark`
    Dark,
}

impl ColorScheme {
    /// The name that style sheets use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl Page<'_> {
    /// Shows the page on a screen of this size.
    pub fn set_viewport(&self, viewport: Viewport) -> Result<(), BrowserError> {
        let Viewport { width, height, phone } = viewport;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": phone});
        self.call("Emulation.setDeviceMetricsOverride", metrics)?;
        let touch = json!({"enabled": phone, "maxTouchPoints": 1});
        self.call("Emulation.setTouchEmulationEnabled", touch).map(|_| ())
    }

    /// Shows the page to a person who prefers this color scheme, and no animations.
    pub fn set_color_scheme(&self, scheme: ColorScheme) -> Result<(), BrowserError> {
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme.name()},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features})).map(|_| ())
    }

    /// Takes the network from the page, or gives it back. Open sockets stay open.
    pub fn set_offline(&self, offline: bool) -> Result<(), BrowserError> {
        let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1,
            "uploadThroughput": -1});
        self.call("Network.emulateNetworkConditions", conditions).map(|_| ())
    }

    /// Answers requests of the page by rules from now on. No rules: the network answers again.
    pub fn intercept(&self, rules: Vec<Rule>) -> Result<(), BrowserError> {
        let pattern = |rule: &Rule| match &rule.kind {
            Some(kind) => json!({"urlPattern": rule.url, "resourceType": kind}),
            None => json!({"urlPattern": rule.url}),
        };
        let patterns: Vec<Value> = rules.iter().map(pattern).collect();
        let is_empty = rules.is_empty();
        self.browser.connection().set_rules(self.session(), rules);
        match is_empty {
            true => self.call("Fetch.disable", json!({})).map(|_| ()),
            false => self.call("Fetch.enable", json!({"patterns": patterns})).map(|_| ()),
        }
    }
}
