//! axe-core, which finds what makes a page hard to use for people with a disability.

use std::fmt::Write as _;
use std::path::PathBuf;

use accord_kit::browser::{ColorScheme, Page, Viewport};

/// axe-core, as a script.
pub(super) struct Axe(String);

impl Axe {
    /// The script that `ACCORD_AXE` names; none, with a message, if it names none. With CI set it
    /// must.
    pub(super) fn find() -> Option<Self> {
        let named = std::env::var_os("ACCORD_AXE").filter(|path| !path.is_empty());
        let Some(file) = named.map(PathBuf::from) else {
            super::skipped("ACCORD_AXE does not name axe.min.js of the npm package axe-core");
            return None;
        };
        let script = std::fs::read_to_string(&file);
        Some(Self(script.unwrap_or_else(|error| panic!("{}: {error}", file.display()))))
    }

    /// Judges what a page shows, on a phone and on a desk, in both themes. `about` names the page.
    pub(super) fn judge(&self, page: &Page<'_>, about: &str) {
        let mut found = String::new();
        for viewport in [Viewport::PHONE, Viewport::DESKTOP] {
            page.set_viewport(viewport).unwrap();
            for scheme in [ColorScheme::Light, ColorScheme::Dark] {
                page.set_color_scheme(scheme).unwrap();
                let width = viewport.width;
                for violation in self.violations(page) {
                    let _ = writeln!(found, "{width} px, {}: {violation}", scheme.name());
                }
                // A page that is wider than the screen has to be moved from side to side.
                let widest = page.evaluate("document.documentElement.scrollWidth");
                let widest = widest.unwrap().as_u64().unwrap();
                if widest > u64::from(width) {
                    let _ = writeln!(found, "{width} px, {}: {widest} px wide", scheme.name());
                }
            }
        }
        assert!(found.is_empty(), "{about}:\n{found}");
    }

    fn violations(&self, page: &Page<'_>) -> Vec<String> {
        if page.evaluate("'axe' in globalThis").unwrap() == false {
            page.evaluate(&format!("{};0", self.0)).unwrap();
        }
        let found = page.evaluate(RUN).unwrap();
        // A page that axe-core could not judge has no violations either.
        assert!(found["passes"].as_u64() > Some(0), "{found}");
        let violations = found["violations"].as_array().unwrap();
        violations.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }
}

const RUN: &str = "axe.run(document, {resultTypes: ['violations']}).then(result => ({
    passes: result.passes.length,
    violations: result.violations.flatMap(violation => violation.nodes.map(node =>
        `${violation.id}: ${violation.help}: ${node.html.slice(0, 200)} ${node.failureSummary}`)),
}))";
