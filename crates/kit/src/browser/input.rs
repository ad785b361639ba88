//! What a person does with a page: pointer and keyboard.

use serde_json::{Value, json};

use super::error::BrowserError;
use super::keys;
use super::page::Page;

/// Taps on a field until it has the focus, and how often the focus is looked at after each.
const MOST_TAPS: usize = 20;
const POLLS_PER_TAP: usize = 40;
/// Clicks on an element until one reaches it.
const MOST_CLICKS: usize = 20;

impl Page<'_> {
    /// Clicks on the middle of an element, which must be visible and not covered.
    pub fn click(&self, selector: &str) -> Result<(), BrowserError> {
        for _ in 0..MOST_CLICKS {
            let (x, y) = self.middle_of(selector)?;
            self.evaluate(&format!("({NOTICE_CLICK})({})", json!(selector)))?;
            for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
                let button = if kind == "mouseMoved" { "none" } else { "left" };
                let params = json!({"type": kind, "x": x, "y": y, "button": button,
                    "buttons": buttons, "clickCount": 1});
                self.call("Input.dispatchMouseEvent", params)?;
            }
            // A page that the click replaces does not have the mark, or cannot be asked.
            match self.evaluate("globalThis.accordClick?.arrived") {
                Ok(Value::Bool(false)) => self.pause()?,
                Ok(_) | Err(BrowserError::Refused { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Err(self.timed_out(format!("a click to reach {selector}")))
    }

    /// Taps on the middle of an element, again if it moved away. A field has the focus afterwards:
    /// the browser recognises a tap some time after the touch.
    pub fn tap(&self, selector: &str) -> Result<(), BrowserError> {
        let is_done = format!(
            "(field => !field?.matches('input, select, textarea') \
               || field === document.activeElement)(document.querySelector({}))",
            json!(selector)
        );
        for _ in 0..MOST_TAPS {
            self.touch(selector)?;
            for _ in 0..POLLS_PER_TAP {
                if self.evaluate_with_retry(&is_done)? == Value::Bool(true) {
                    return Ok(());
                }
                self.pause()?;
            }
        }
        Err(self.timed_out(format!("a tap on {selector} to give it the focus")))
    }

    fn touch(&self, selector: &str) -> Result<(), BrowserError> {
        let (x, y) = self.middle_of(selector)?;
        let touch = json!([{"x": x, "y": y}]);
        for (kind, points) in [("touchStart", touch), ("touchEnd", json!([]))] {
            let params = json!({"type": kind, "touchPoints": points});
            self.call("Input.dispatchTouchEvent", params)?;
        }
        Ok(())
    }

    /// Presses a key, such as `Tab`, `Enter`, `Space` or `a`, after modifiers: `Shift+Tab`.
    pub fn press(&self, key: &str) -> Result<(), BrowserError> {
        let (down, up) = keys::events(key).ok_or_else(|| BrowserError::Refused {
            method: format!("the key {key:?}"),
            message: "it has no entry in the table of keys".to_owned(),
        })?;
        self.call("Input.dispatchKeyEvent", down)?;
        self.call("Input.dispatchKeyEvent", up).map(|_| ())
    }

    /// Types a text into the element that has the focus, key by key.
    pub fn type_text(&self, text: &str) -> Result<(), BrowserError> {
        for character in text.chars() {
            match keys::events(character.encode_utf8(&mut [0; 4])) {
                Some((down, up)) => {
                    self.call("Input.dispatchKeyEvent", down)?;
                    self.call("Input.dispatchKeyEvent", up)?;
                }
                // What no key has is inserted, as an input method does.
                None => {
                    self.call("Input.insertText", json!({"text": character.to_string()}))?;
                }
            }
        }
        Ok(())
    }

    /// Presses Tab until the element that has the focus matches a selector.
    pub fn tab_to(&self, selector: &str) -> Result<(), BrowserError> {
        let there = format!("document.activeElement?.matches({}) ?? false", json!(selector));
        for _ in 0..MOST_TABS {
            if self.evaluate_with_retry(&there)? == Value::Bool(true) {
                return Ok(());
            }
            self.press("Tab")?;
        }
        Err(BrowserError::Element {
            selector: selector.to_owned(),
            why: format!("{MOST_TABS} presses of Tab do not reach it"),
        })
    }

    fn middle_of(&self, selector: &str) -> Result<(f64, f64), BrowserError> {
        self.bring_to_front()?;
        let expression = format!("({MIDDLE})({})", json!(selector));
        let found = self.evaluate_with_retry(&expression)?;
        match (found["x"].as_f64(), found["y"].as_f64()) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(BrowserError::Element {
                selector: selector.to_owned(),
                why: found["why"].as_str().unwrap_or("it is not there").to_owned(),
            }),
        }
    }
}

/// Notes whether a click reaches an element: the page may move meanwhile.
const NOTICE_CLICK: &str = "selector => {
    const mark = {arrived: false};
    globalThis.accordClick = mark;
    addEventListener('click', event => {
        mark.arrived ||= event.composedPath().some(place => place.matches?.(selector));
    }, {capture: true});
}";

/// The middle of an element in the viewport, or why it cannot be clicked.
const MIDDLE: &str = "selector => {
    const element = document.querySelector(selector);
    if (!element) return {why: 'no element matches'};
    element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return {why: 'it is not visible'};
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const top = document.elementFromPoint(x, y);
    const label = element.closest('label');
    if (top !== element && !element.contains(top) && !(label && label.contains(top)))
        return {why: 'it is covered by ' + (top ? top.outerHTML.slice(0, 120) : 'nothing')};
    return {x, y};
}";

/// More than any page has stops.
const MOST_TABS: usize = 200;
