//! The Chromium of the kit, with pages that are a few lines of HTML.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use accord_kit::browser::{
    Answer, Browser, BrowserError, ColorScheme, Page, Rule, SharedChromium, Viewport, find,
};

/// Much longer than any step needs on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
const ORIGIN: &str = "http://page.test";

#[test]
fn a_page_is_used_as_a_person_uses_it() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    show(
        &page,
        "<label>Name <input id=name></label><button id=greet>Greet</button><p id=out></p>
         <script>greet.onclick = event => {
             out.textContent = `Hello ${document.querySelector('#name').value}`
                 + (event.isTrusted ? '' : ' (a script)');
         }</script>",
    );
    page.click("#name").unwrap();
    page.type_text("Ana Ž+1").unwrap();
    page.click("#greet").unwrap();
    page.wait_for_text("Hello Ana Ž+1").unwrap();
    assert!(!page.text().unwrap().contains("a script"));

    page.click("#name").unwrap();
    page.press("End").unwrap();
    page.press("Backspace").unwrap();
    page.press("Tab").unwrap();
    page.press("Space").unwrap();
    page.wait_for_text("Hello Ana Ž+").unwrap();
    page.press("Shift+Tab").unwrap();
    assert_eq!(page.evaluate("document.activeElement.id").unwrap(), "name");
    page.tab_to("#greet").unwrap();
    page.press("Enter").unwrap();
    assert_eq!(
        page.evaluate("Promise.resolve([1, 'two'])").unwrap(),
        serde_json::json!([1, "two"])
    );

    let missing = page.click("#nothing").unwrap_err();
    assert!(matches!(missing, BrowserError::Element { .. }), "{missing}");
    page.evaluate("document.body.insertAdjacentHTML('beforeend', `<div id=lid></div>`)").unwrap();
    page.evaluate("lid.style = 'position:fixed;inset:0'").unwrap();
    let covered = page.click("#greet").unwrap_err();
    assert!(covered.to_string().contains("covered by <div id=\"lid\""), "{covered}");
}

#[test]
fn what_a_page_reports_is_kept() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    let policy = ("Content-Security-Policy", "img-src 'none'");
    show_with(
        &page,
        &[policy],
        "<script>
             console.error('out of', {a: 1}, 'milk');
             setTimeout(() => { throw new Error('spilt') });
             alert('look');
             document.write('<img src=/cow.png><iframe src=/inner></iframe>');
             fetch('/fetched');
             document.title = 'done';
         </script>",
    );
    page.wait_until("the script to end", "document.title === 'done'").unwrap();
    let observed = wait_for_report(&page, |seen| {
        !seen.refused_content.is_empty()
            && !seen.exceptions.is_empty()
            && seen.requests.iter().any(|request| request.url.ends_with("/fetched"))
            && !seen.frames.is_empty()
    });
    assert!(observed.console.iter().any(|line| line.contains("out of")), "{observed:?}");
    assert!(observed.console.iter().any(|line| line.contains("milk")), "{observed:?}");
    assert!(observed.exceptions.iter().any(|text| text.contains("spilt")), "{observed:?}");
    let refused = &observed.refused_content;
    assert!(refused.iter().any(|content| content.starts_with("img-src")), "{observed:?}");
    assert_eq!(observed.dialogs, ["look"]);
    assert_eq!(observed.navigations, [format!("{ORIGIN}/")]);
    assert!(observed.frames.iter().any(|url| url.ends_with("/inner")), "{observed:?}");

    assert_ne!(page.take_observed().unwrap(), Default::default());
    assert_eq!(page.take_observed().unwrap(), Default::default());
}

#[test]
fn screen_and_theme_are_those_of_the_test() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    for (viewport, width) in [(Viewport::PHONE, 320), (Viewport::DESKTOP, 1280)] {
        page.set_viewport(viewport).unwrap();
        show(&page, "<meta name=viewport content='width=device-width'><p>seen</p>");
        assert_eq!(page.evaluate("innerWidth").unwrap(), width);
        let picture = page.screenshot().unwrap();
        // The header of a PNG has the width in its bytes 16 to 19.
        assert!(picture.starts_with(b"\x89PNG"));
        assert_eq!(u32::from_be_bytes(picture[16..20].try_into().unwrap()), width);
        for scheme in [ColorScheme::Light, ColorScheme::Dark] {
            page.set_color_scheme(scheme).unwrap();
            let query = format!("matchMedia('(prefers-color-scheme: {})').matches", scheme.name());
            assert_eq!(page.evaluate(&query).unwrap(), true);
        }
    }
    page.set_viewport(Viewport::PHONE).unwrap();
    show(&page, "<button id=b onclick='b.textContent = event.pointerType'>tap</button>");
    page.tap("#b").unwrap();
    page.wait_for_text("touch").unwrap();
}

#[test]
fn requests_are_answered_by_rules_until_they_are_removed() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    show(&page, "<p>here</p>");
    let fetched = "fetch('/data').then(answer => answer.text(), () => 'failed')";
    page.intercept(vec![rule("*/data", &[], "from the rule")]).unwrap();
    assert_eq!(page.evaluate(fetched).unwrap(), "from the rule");
    page.intercept(vec![Rule::new("*/data", Answer::Fail)]).unwrap();
    assert_eq!(page.evaluate(fetched).unwrap(), "failed");
    page.intercept(vec![Rule::of_kind("Script", Answer::Fail)]).unwrap();
    assert_eq!(page.evaluate("import('/data').catch(() => 'failed')").unwrap(), "failed");
    page.intercept(vec![Rule::of_kind("Script", Answer::Fail), rule("*/data", &[], "all")])
        .unwrap();
    assert_eq!(page.evaluate(fetched).unwrap(), "all");
    page.intercept(Vec::new()).unwrap();
    // There is no such host.
    assert_eq!(page.evaluate(fetched).unwrap(), "failed");

    show(&page, "<p>here</p>");
    page.set_offline(true).unwrap();
    assert_eq!(page.evaluate("navigator.onLine").unwrap(), false);
    page.set_offline(false).unwrap();
    assert_eq!(page.evaluate("navigator.onLine").unwrap(), true);
}

#[test]
fn tabs_share_storage_and_private_tabs_do_not() {
    let Some(browser) = browser() else { return };
    let (one, two) = (browser.page().unwrap(), browser.page().unwrap());
    let private = browser.private_page().unwrap();
    for page in [&one, &two, &private] {
        show(page, "<p>here</p>");
    }
    one.evaluate("void localStorage.setItem('who', 'ana')").unwrap();
    let stored = "localStorage.getItem('who')";
    two.wait_until("the other tab to see it", stored).unwrap();
    assert_eq!(private.evaluate(stored).unwrap(), serde_json::Value::Null);
    two.run_in_new_documents("globalThis.early = true").unwrap();
    two.reload().unwrap();
    assert_eq!(two.evaluate("early").unwrap(), true);
    assert_eq!(two.url().unwrap(), format!("{ORIGIN}/"));
    two.close().unwrap();
}

#[test]
fn a_page_that_is_replaced_while_it_is_asked_is_asked_again() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    show(&page, "<p>here</p>");
    // The first document is replaced before it answers.
    let asked = "sessionStorage.asked
        ? `the next ${sessionStorage.asked}`
        : new Promise(() => { sessionStorage.asked = 'document'; location.reload(); })";
    assert_eq!(page.evaluate_with_retry(asked).unwrap(), "the next document");
    page.evaluate("void sessionStorage.clear()").unwrap();
    let error = page.evaluate(asked).unwrap_err();
    assert!(matches!(error, BrowserError::Refused { .. }), "{error}");
}

#[test]
fn a_wait_that_fails_names_what_it_waited_for() {
    let Some(browser) = browser() else { return };
    let page = browser.page().unwrap();
    show(&page, "<p>no milk</p>");
    let error = page.evaluate("(() => { throw new Error('spilt') })()").unwrap_err();
    assert!(error.to_string().contains("spilt"), "{error}");
    browser.limit_waits(Duration::from_millis(100));
    let error = page.wait_for_text("milk and honey").unwrap_err();
    let expected = "waited 100ms for the text \"milk and honey\"; the page shows \"no milk\"";
    assert_eq!(error.to_string(), expected);
    let error = page.go("http://127.0.0.1:1/").unwrap_err();
    assert!(error.to_string().contains("http://127.0.0.1:1/"), "{error}");
}

#[test]
fn nothing_of_a_browser_is_left() {
    let Some(program) = program() else { return };
    let noted = Noted::new(&program);
    let browser = Browser::start(&find(Some(&noted.program)).unwrap(), LIMIT).unwrap();
    show(&browser.page().unwrap(), "<p>here</p>");
    let (group, folder) = noted.only_start();
    assert!(members(&group) > 1 && folder.is_dir());
    drop(browser);
    wait_for_end(&group);
    assert!(!folder.exists(), "{} is left", folder.display());
}

#[test]
fn browsers_of_one_chromium_share_only_the_process() {
    let Some(program) = program() else { return };
    let noted = Noted::new(&program);
    let shared = SharedChromium::new();
    let [one, other] = [0, 1].map(|_| shared.browser(&noted.program, LIMIT).unwrap());
    let (mine, theirs) = (one.page().unwrap(), other.page().unwrap());
    for page in [&mine, &theirs] {
        show(page, "<p>here</p>");
    }
    mine.evaluate("void (localStorage.who = document.cookie = 'ana')").unwrap();
    let second = one.page().unwrap();
    show(&second, "<p>here</p>");
    let stored = "[localStorage.who ?? '', document.cookie]";
    assert_eq!(second.evaluate(stored).unwrap(), serde_json::json!(["ana", "ana"]));
    assert_eq!(theirs.evaluate(stored).unwrap(), serde_json::json!(["", ""]));
    let (group, _) = noted.only_start();
    drop(one);
    assert_eq!(theirs.text().unwrap(), "here");
    drop(other);
    wait_for_end(&group);
    // The next one starts another process.
    show(&shared.browser(&program, LIMIT).unwrap().page().unwrap(), "<p>again</p>");
}

/// A program that notes its process and its arguments, and becomes a browser.
struct Noted {
    program: PathBuf,
    notes: PathBuf,
    _place: tempfile::TempDir,
}

impl Noted {
    fn new(browser: &Path) -> Self {
        let place = tempfile::tempdir().unwrap();
        let (program, notes) = (place.path().join("browser"), place.path().join("notes"));
        // The process group has the id of this script, which becomes the browser.
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' $$ \"$@\" >> '{}'\nexec '{}' \"$@\"\n",
            notes.display(),
            browser.display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        Self { program, notes, _place: place }
    }

    /// The process group and the folder of the one browser that was started.
    fn only_start(&self) -> (String, PathBuf) {
        let notes = std::fs::read_to_string(&self.notes).unwrap();
        let profiles = notes.lines().filter_map(|line| line.strip_prefix("--user-data-dir="));
        let [profile] = profiles.collect::<Vec<_>>()[..] else { panic!("{notes}") };
        let folder = Path::new(profile).parent().unwrap().to_owned();
        (notes.lines().next().unwrap().to_owned(), folder)
    }
}

fn wait_for_end(group: &str) {
    let deadline = Instant::now() + LIMIT;
    while members(group) > 0 {
        assert!(Instant::now() < deadline, "waited {LIMIT:?} for the end of group {group}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_that_is_no_browser_is_named() {
    let missing = find(Some(Path::new("/nowhere/chromium"))).unwrap_err();
    assert!(missing.to_string().contains("/nowhere/chromium"), "{missing}");
    let ended = Browser::start(Path::new("false"), LIMIT).unwrap_err();
    assert!(ended.to_string().contains("exit code 1"), "{ended}");
    let silent = find(Some(Path::new("cat"))).unwrap();
    let error = Browser::start(&silent, Duration::from_millis(50)).unwrap_err();
    // It refuses the arguments, or says nothing.
    assert!(matches!(error, BrowserError::Unusable(_) | BrowserError::TimedOut { .. }), "{error}");
}

/// One process for all tests but those about the process.
static CHROMIUM: SharedChromium = SharedChromium::new();

/// A browser; none, with a message, where no Chromium is installed. With CI set there must be one.
fn browser() -> Option<Browser> {
    Some(CHROMIUM.browser(&program()?, LIMIT).unwrap())
}

pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("ACCORD_BROWSER").filter(|path| !path.is_empty());
    match find(named.as_deref().map(Path::new)) {
        Ok(program) => Some(program),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            // Not by a macro: the output of a test that passes would be hidden.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            None
        }
    }
}

fn show(page: &Page<'_>, body: &str) {
    show_with(page, &[], body);
}

/// Shows a document that no server has.
fn show_with(page: &Page<'_>, headers: &[(&str, &str)], body: &str) {
    let document = format!("<!doctype html><title>A page</title>{body}");
    page.intercept(vec![
        rule(&format!("{ORIGIN}/"), headers, &document),
        rule("*/inner", &[], "inside"),
        rule("*/fetched", &[], "fetched"),
    ])
    .unwrap();
    page.go(&format!("{ORIGIN}/")).unwrap();
}

fn rule(url: &str, headers: &[(&str, &str)], body: &str) -> Rule {
    let headers = headers.iter().chain(&[("Content-Type", "text/html; charset=utf-8")]);
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let answer =
        Answer::Body { status: 200, headers: headers.collect(), body: body.as_bytes().to_vec() };
    Rule::new(url, answer)
}

fn wait_for_report(
    page: &Page<'_>,
    complete: impl Fn(&accord_kit::browser::Observed) -> bool,
) -> accord_kit::browser::Observed {
    let deadline = Instant::now() + LIMIT;
    loop {
        let observed = page.observed().unwrap();
        if complete(&observed) {
            return observed;
        }
        assert!(Instant::now() < deadline, "waited {LIMIT:?} for a report, got {observed:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many processes a group has that have not ended.
fn members(group: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap();
    let stats =
        processes.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    stats.filter(|stat| is_member(stat, group)).count()
}

fn is_member(stat: &str, group: &str) -> bool {
    // The name in parentheses may contain anything; state, parent and group follow it.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let state = fields.next().unwrap_or_default();
    !matches!(state, "Z" | "X") && fields.nth(1) == Some(group)
}
