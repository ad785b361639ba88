//! The pictures of the documentation: `docs/images/live-*.png`.
//!
//! `ACCORD_BLESS=1 cargo test -p accord-pages pictures` makes them again. Fonts differ between
//! machines, so that a test compares no pixels: it holds that every picture is there, small, and of
//! the size that its name says.

use std::path::{Path, PathBuf};

use accord_kit::browser::{ColorScheme, Page, Viewport};
use serde_json::{Value, json};

use super::browser;
use super::stub::{Host, emit, field, release, wait_until_live};

/// The largest picture in bytes.
const LARGEST: usize = 100 * 1024;

#[test]
fn the_pictures_of_the_documentation_are_there() {
    if std::env::var_os("ACCORD_BLESS").is_some() {
        make();
    }
    for (width, theme) in all() {
        let file = file(width.width, theme);
        let picture = std::fs::read(&file);
        let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(picture.starts_with(b"\x89PNG"), "{}", file.display());
        // The header of a PNG has the width in its bytes 16 to 19.
        let wide = u32::from_be_bytes(picture[16..20].try_into().unwrap());
        assert_eq!(wide, width.width, "{}", file.display());
        assert!(picture.len() < LARGEST, "{} has {} bytes", file.display(), picture.len());
    }
}

fn make() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    Host::with(pictured()).open(&page);
    wait_until_live(&page);
    emit(&page, "progress", &json!({"step": "Built the packages"}));
    emit(&page, "progress", &json!({"step": "All tests passed"}));
    page.wait_for_text("All tests passed").unwrap();
    page.click(&field("approve", "note")).unwrap();
    page.type_text("Ship it").unwrap();
    // A browser scrolls to the focused field when the viewport changes.
    page.evaluate("document.activeElement.blur()").unwrap();
    for (viewport, theme) in all() {
        page.set_viewport(viewport).unwrap();
        page.set_color_scheme(theme).unwrap();
        steady(&page);
        let picture = page.screenshot().unwrap();
        let file = file(viewport.width, theme);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, picture).unwrap();
    }
}

/// The release, with a table.
fn pictured() -> Value {
    let mut session = release();
    session["props"]["checks"] = json!([
        {"check": "Unit tests", "passed": 412, "failed": 0},
        {"check": "Browser", "passed": 38, "failed": 1},
    ]);
    session
}

/// Puts fixed texts where ids and times are, so that a picture changes only with the page.
fn steady(page: &Page<'_>) {
    page.evaluate(
        "(() => {
            scrollTo(0, 0);
            const put = (selector, text) => {
                for (const element of document.querySelectorAll(selector))
                    element.textContent = text;
            };
            put('[data-session]', 'live_7f3a');
            put('time', '2026-01-31 12:00');
        })()",
    )
    .unwrap();
}

fn all() -> impl Iterator<Item = (Viewport, ColorScheme)> {
    let mut phone = Viewport::PHONE;
    phone.width = 360;
    let screens = [phone, Viewport::DESKTOP].into_iter();
    screens.flat_map(|screen| [(screen, ColorScheme::Light), (screen, ColorScheme::Dark)])
}

fn file(width: u32, theme: ColorScheme) -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    docs.join(format!("live-{width}-{}.png", theme.name()))
}
