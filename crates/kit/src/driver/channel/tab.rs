//! The tabs of a case: opens pages, and judges what is visible in them. Pages are opened only over
//! HTTP: a server under test must not make the browser read files of this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::stop::Stop;
use crate::browser::{Answer, Browser, BrowserError, Page, Rule};
use crate::case::{Browse, BrowserFault};
use crate::exchange::variables::{Unknown, Variables};
use crate::report::Difference;

/// The tabs of a case, by their names.
pub(super) struct Tabs<'a> {
    browser: &'a Browser,
    /// The base URL of the server under test.
    base: &'a str,
    open: BTreeMap<String, Page<'a>>,
}

/// The texts of a judgement, with the values of variables.
struct Texts {
    shows: Vec<String>,
    shows_one_of: Vec<String>,
    hides: Vec<String>,
    order: Vec<String>,
}

impl<'a> Tabs<'a> {
    pub(super) fn new(browser: &'a Browser, base: &'a str) -> Self {
        Self { browser, base, open: BTreeMap::new() }
    }

    /// Makes a move in the tab of a name. Every wait in it ends after `limit`.
    pub(super) fn make(
        &mut self,
        name: &str,
        browse: &Browse,
        variables: &Variables,
        limit: Duration,
    ) -> Result<(), Stop> {
        self.browser.limit_waits(limit);
        if let Some(url) = &browse.open {
            let page = self.opened(&variables.text(url)?, browse.fault.as_ref())?;
            self.open.insert(name.to_owned(), page);
        }
        // The corpus has no move in a tab that was not opened.
        let Some(page) = self.open.get(name) else {
            return Err(Stop::harness(format!("the tab `{name}` is not open")));
        };
        if let Some(has_sockets) = browse.sockets {
            page.evaluate(&format!("__accordCheck.cutOff({})", !has_sockets))?;
        }
        if browse.judges() {
            let texts = Texts::of(browse, variables)?;
            judge(page, &texts, browse.same_document == Some(true))?;
        }
        Ok(())
    }

    fn opened(&self, url: &str, fault: Option<&BrowserFault>) -> Result<Page<'a>, Stop> {
        let url = self.absolute(url)?;
        let page = self.browser.private_page()?;
        let is_cut_off = fault == Some(&BrowserFault::SocketsFail);
        let script = format!("globalThis.__accordCheck = ({SCRIPT})({is_cut_off})");
        page.run_in_new_documents(&script)?;
        page.intercept(fault.map(rules).unwrap_or_default())?;
        match page.go(&url) {
            Ok(()) => Ok(page),
            Err(error @ (BrowserError::Refused { .. } | BrowserError::TimedOut { .. })) => {
                Err(unmet("/url", json!("a page that can be loaded"), json!(error.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn absolute(&self, url: &str) -> Result<String, Stop> {
        let is_path = url.starts_with('/') && !url.starts_with("//");
        if is_path {
            return Ok(format!("{}{url}", self.base));
        }
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(url.to_owned());
        }
        let expected = json!("a URL that begins with http://, https:// or /");
        Err(unmet("/url", expected, json!(url)))
    }
}

impl Drop for Tabs<'_> {
    fn drop(&mut self) {
        for page in std::mem::take(&mut self.open).into_values() {
            // A tab that cannot be closed ends with the browser.
            let _ = page.close();
        }
    }
}

impl Texts {
    fn of(browse: &Browse, variables: &Variables) -> Result<Self, Unknown> {
        let texts = |list: &Option<Vec<String>>| {
            let texts = list.iter().flatten().map(|text| variables.text(text));
            texts.collect::<Result<Vec<_>, _>>()
        };
        let order = texts(&browse.order)?;
        let mut shows = texts(&browse.shows)?;
        shows.extend(order.last().cloned());
        let (shows_one_of, hides) = (texts(&browse.shows_one_of)?, texts(&browse.hides)?);
        Ok(Self { shows, shows_one_of, hides, order })
    }

    /// Whether texts that were seen one after the other are in order.
    fn allow(&self, seen: &[String]) -> bool {
        let rank = |text: &String| self.order.iter().position(|known| known == text);
        seen.iter().map(rank).is_sorted()
    }
}

fn judge(page: &Page<'_>, texts: &Texts, same_document: bool) -> Result<(), Stop> {
    let Texts { shows, shows_one_of, hides, order } = texts;
    // A document that was loaded since the last judgement is not known.
    let known = "globalThis.__accordCheck?.isKnown";
    let was_known = same_document.then(|| page.evaluate_with_retry(known)).transpose()?;
    let args = format!("{}, {}, {}", json!(shows), json!(shows_one_of), json!(hides));
    match page
        .wait_until("the texts of the case", &format!("globalThis.__accordCheck?.shows({args})"))
    {
        Ok(_) => {}
        Err(BrowserError::TimedOut { .. }) => {
            let expected = json!({"shows": shows, "shows_one_of": shows_one_of, "hides": hides});
            return Err(unmet("/page", expected, shown(page)?));
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(was_known) = was_known {
        let is_known = page.evaluate_with_retry(known)?;
        if was_known != json!(true) || is_known != json!(true) {
            let expected = json!("the document that was judged before");
            return Err(unmet("/document", expected, json!("a document that was loaded later")));
        }
    }
    page.evaluate_with_retry("void (__accordCheck.isKnown = true)")?;
    if !order.is_empty() {
        let seen = page.evaluate_with_retry(&format!("__accordCheck.seen({})", json!(order)))?;
        let seen: Vec<String> = serde_json::from_value(seen).unwrap_or_default();
        if !texts.allow(&seen) {
            return Err(unmet("/page/order", json!(order), json!(seen)));
        }
    }
    Ok(())
}

/// What a report shows of a page. The query and the fragment of its URL can have secrets.
fn shown(page: &Page<'_>) -> Result<Value, BrowserError> {
    let text: String = page.text()?.chars().take(LONGEST_TEXT).collect();
    let url = page.url()?;
    let url = url.split(['?', '#']).next().unwrap_or_default();
    Ok(json!({"text": text, "url": url}))
}

fn unmet(at: &str, expected: Value, actual: Value) -> Stop {
    Stop::unmet(vec![Difference::new(at, expected, actual)])
}

fn rules(fault: &BrowserFault) -> Vec<Rule> {
    match fault {
        BrowserFault::ScriptsFail => vec![Rule::of_kind("Script", Answer::Fail)],
        BrowserFault::EmptyAnswers => {
            let header = ("Content-Type".to_owned(), "application/json".to_owned());
            let answer = Answer::Body { status: 200, headers: vec![header], body: b"{}".to_vec() };
            vec![Rule::of_kind("Fetch", answer.clone()), Rule::of_kind("XHR", answer)]
        }
        // The script of the tab does it: no rule sees sockets.
        BrowserFault::SocketsFail => Vec::new(),
    }
}

const SCRIPT: &str = include_str!("tab.js");
/// How much of the text of a page is in a report.
const LONGEST_TEXT: usize = 2_000;
