//! Texts of an agent that try to be more than a text, in every field that an agent writes.
//!
//! Each session is shown twice: with hostile texts, and with plain words in the same places. A text
//! that stays a text changes nothing of the document but its texts.

use accord_kit::browser::{Browser, Observed, Page};
use serde_json::{Map, Value, json};

use super::browser;
use super::hostile_texts::{CONCEALED, HOSTILE};
use super::stub::{Host, ORIGIN, URL, emit, wait_until_live};

/// The name of the stream of a text. HTML has no way to write U+0000 into an attribute.
fn stream_of(text: &str) -> String {
    format!("{} stream", text.replace('\0', "NUL"))
}

/// A session in which every text of the agent is hostile: those of `texts`, one after the other.
fn session(texts: &[&str]) -> Value {
    let (mut properties, mut props) = (Map::new(), Map::new());
    let (mut actions, mut streams, mut slots) = (Map::new(), Map::new(), Map::new());
    for (at, text) in texts.iter().enumerate() {
        let name = format!("{text} prop");
        let schema = json!({"type": ["string", "array", "object"], "title": text,
            "description": text, "items": {"type": "string"},
            "properties": {*text: {"type": "string"}}, "additionalProperties": true});
        properties.insert(
            name.clone(),
            json!({"schema": schema, "description": text,
            "example": text}),
        );
        let value = match at % 3 {
            0 => json!(text),
            1 => json!([text, text]),
            _ => json!({*text: text}),
        };
        props.insert(name, value);
        let fields = json!({
            *text: {"type": "string", "title": text, "description": text, "default": text},
            "choice": {"type": "string", "enum": [text, "b"], "description": text},
            "several": {"type": "array", "items": {"enum": [text, "b"], "type": "string"}},
            "list": {"type": "array", "items": {"type": "string", "default": text}},
            "group": {"type": "object", "title": text,
                "properties": {*text: {"type": "boolean", "description": text}}},
            "free": {"oneOf": [{"type": "string"}, {"type": "number"}], "default": text,
                "description": text},
            "fixed": {"const": text, "type": "string"},
        });
        actions.insert(
            format!("{text} action"),
            json!({"label": text, "description": text,
            "icon": text, "confirm": true, "example": text,
            "schema": {"type": "object", "title": text, "properties": fields}}),
        );
        streams.insert(
            stream_of(text),
            json!({"description": text, "example": text,
            "replay": "all", "mode": if at % 2 == 0 { "append" } else { "replace" },
            "schema": {"type": ["string", "array", "object"], "items": {"type": "string"},
                "additionalProperties": true}}),
        );
        slots.insert(
            format!("slot_{at}"),
            json!({"description": text, "example": text,
            "default": text, "schema": {"type": "string", "description": text}}),
        );
    }
    streams.insert("last".to_owned(), json!({"schema": {"type": "string"}, "replay": "all"}));
    let all = texts.join("\n\n");
    json!({
        // A text of several lines is no heading.
        "prompt": texts[0].replace('\n', " "), "description": all, "message": all,
        "propsSpec": {"description": all, "properties": properties}, "props": props,
        "actionSpec": actions, "streamSpec": streams, "contextSpec": slots,
    })
}

#[test]
fn a_hostile_text_stays_a_text() {
    let Some(browser) = browser() else { return };
    for texts in HOSTILE.chunks(13) {
        let page = open(&browser, texts);
        let plain: Vec<String> = (0..texts.len()).map(|at| format!("plain {at}")).collect();
        let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
        let expected = open(&browser, &plain).evaluate(STRUCTURE).unwrap();
        let expected = expected.as_array().unwrap().clone();
        assert!(expected.len() > 100, "{}", expected.len());
        let found = page.evaluate(STRUCTURE).unwrap();
        for (at, element) in found.as_array().unwrap().iter().enumerate() {
            let other = expected.get(at);
            assert_eq!(Some(element), other, "element {at} with {texts:?}");
        }
        assert_eq!(found.as_array().unwrap().len(), expected.len(), "{texts:?}");
        assert_eq!(page.evaluate(FOREIGN).unwrap(), json!([]), "{texts:?}");
        // The dialog of an action shows the texts, too.
        page.click("#action-0 button[type=submit]").unwrap();
        let is_open = "document.querySelector('#confirm').open";
        page.wait_until("the dialog", is_open).unwrap();
        use_everything(&page);
        assert_eq!(page.evaluate(FOREIGN).unwrap(), json!([]), "{texts:?}");
        assert_eq!(page.evaluate(CONCEALED_LEFT).unwrap(), json!([]), "{texts:?}");
        assert_harmless(&page, texts);
        page.close().unwrap();
    }
}

#[test]
fn what_cannot_be_seen_is_shown_wherever_an_agent_wrote_it() {
    let Some(browser) = browser() else { return };
    let texts: Vec<String> =
        CONCEALED.iter().map(|(letter, _)| format!("pay{letter}100")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let page = open(&browser, &texts);
    assert_eq!(page.evaluate(CONCEALED_LEFT).unwrap(), json!([]));
    for (at, (letter, shown)) in CONCEALED.iter().enumerate() {
        // In the name of the prop, its description and its value; in the form; in the stream.
        for place in ["#props", "#actions", "#streams"] {
            let count = format!(
                "[...document.querySelectorAll('{place} .codepoint')]
                    .filter(box => box.textContent === '{shown}' && box.offsetWidth > 0).length"
            );
            let count = page.evaluate(&count).unwrap().as_u64().unwrap();
            assert!(count >= 1, "{shown} is not shown in {place}");
        }
        // A list of choices takes no markup, and a proposed text is in an input.
        let form = format!("document.querySelector('#action-{at}')");
        let options = page.evaluate(&format!(
            "[...{form}.querySelectorAll('option')].map(option => option.textContent).join(' ')"
        ));
        let options = options.unwrap();
        assert!(options.as_str().unwrap().contains(&format!("[{shown}]")), "{shown}: {options}");
        let hints = page.evaluate(&format!(
            "[...{form}.querySelectorAll('.hint')].map(hint => hint.textContent).join(' ')"
        ));
        let hints = hints.unwrap();
        let warned = format!("cannot be seen: {shown}");
        assert!(hints.as_str().unwrap().contains(&warned), "{letter:?}: {hints}");
    }
}

/// A test that never finds anything is no test: each check sees what it is for.
#[test]
fn markup_and_scripts_would_be_noticed() {
    let Some(browser) = browser() else { return };
    let page = open(&browser, &["plain"]);
    assert_eq!(page.evaluate(FOREIGN).unwrap(), json!([]));
    let before = page.evaluate(STRUCTURE).unwrap();
    page.evaluate("document.querySelector('#props').append(document.createElement('img'))")
        .unwrap();
    assert_ne!(page.evaluate(STRUCTURE).unwrap(), before);
    assert_eq!(page.evaluate(FOREIGN).unwrap(), json!(["<img>"]));
    page.evaluate("document.querySelector('#props').append('pay\\u202e100')").unwrap();
    assert_eq!(page.evaluate(CONCEALED_LEFT).unwrap(), json!(["pay\u{202e}100"]));
    // The policy refuses it, and that is noticed.
    let script = "(() => { const script = document.createElement('script');
        script.append('globalThis.hacked = 1'); document.head.append(script); })()";
    let _ = page.evaluate(script);
    page.wait_until("the event of the refused script", "globalThis.refused").unwrap();
    assert!(page.evaluate("globalThis.hacked ?? null").unwrap().is_null());
}

/// Opens a session with these texts, with a message on each of its streams.
fn open<'b>(browser: &'b Browser, texts: &[&str]) -> Page<'b> {
    let page = browser.private_page().unwrap();
    page.run_in_new_documents(
        "addEventListener('securitypolicyviolation', event => {
            (globalThis.refused ??= []).push(event.violatedDirective);
        });",
    )
    .unwrap();
    Host::with(session(texts)).open(&page);
    wait_until_live(&page);
    for (at, text) in texts.iter().enumerate() {
        let payload = match at % 3 {
            0 => json!(text),
            1 => json!([text]),
            _ => json!({*text: text}),
        };
        emit(&page, &stream_of(text), &payload);
    }
    emit(&page, "last", &json!("the last message"));
    page.wait_for_text("the last message").unwrap();
    page
}

/// Every element outside of Markdown, with the names of its attributes. A hint names what cannot be
/// seen in a proposed value.
const STRUCTURE: &str = "[...document.querySelectorAll('body *')]
    .filter(element => !element.closest('.markdown > *, .codepoint, .hint'))
    .map(element => [element.localName, ...[...element.attributes].map(({name}) => name).sort()]
        .join(' '))";

/// What neither the page nor its Markdown has: elements and attributes that do something.
const FOREIGN: &str = r"(() => {
    const words = text => new Set(text.trim().split(/\s+/));
    const names = words(`a b bdi blockquote br button code dd details dialog div dl dt em fieldset
        form h1 h2 h3 header hr input label legend li main noscript ol option p pre s section select
        span strong summary template textarea time ul`);
    const attributes = words(`autocomplete checked class datetime dir disabled for hidden href
        id inputmode max min novalidate open rel role rows selected spellcheck start step tabindex
        target type value`);
    const isKnown = name => attributes.has(name) || /^(aria|data)-/.test(name);
    return [...document.querySelectorAll('body *')].flatMap(element => {
        const found = names.has(element.localName) ? [] : [element.outerHTML];
        for (const {name, value} of element.attributes) {
            const isOdd = !isKnown(name)
                || name === 'dir' && value !== 'auto'
                || name === 'href' && !/^(https?:|mailto:|#)/.test(value)
                || element.closest('.markdown') && name === 'id' && !element.matches('.markdown');
            if (isOdd) found.push(`${name} of ${element.outerHTML}`);
        }
        return found;
    }).slice(0, 3);
})()";

/// Texts that a person reads and that have a character that cannot be seen. What an input proposes
/// is as it will be sent; a hint beside it says what it has.
const CONCEALED_LEFT: &str = r"(() => {
    const concealed = new RegExp('[' + [
        '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f',
        '\\u2028-\\u202e\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}',
    ].join('') + ']', 'u');
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const {parentElement, data} = walker.currentNode;
        if (parentElement.localName !== 'textarea') texts.push(data);
    }
    return texts.filter(text => concealed.test(text)).slice(0, 3);
})()";

/// Focuses, points at and opens everything that a page has; follows no link.
fn use_everything(page: &Page<'_>) {
    page.evaluate(
        "(() => {
            for (const element of document.querySelectorAll('*')) {
                element.focus?.();
                if (element.localName === 'details') element.open = true;
                for (const kind of ['pointerover', 'mouseover', 'focus', 'toggle'])
                    element.dispatchEvent(new Event(kind, {bubbles: true}));
            }
        })()",
    )
    .unwrap();
}

fn assert_harmless(page: &Page<'_>, texts: &[&str]) {
    let context = format!("{texts:?}");
    assert!(page.evaluate("globalThis.hacked ?? null").unwrap().is_null(), "{context}");
    assert!(page.evaluate("globalThis.refused ?? null").unwrap().is_null(), "{context}");
    assert_eq!(page.url().unwrap(), URL, "{context}");
    let Observed {
        refused_content, exceptions, console, dialogs, frames, windows, requests, ..
    } = page.observed().unwrap();
    let none: [String; 0] = [];
    assert_eq!(refused_content, none, "{context}");
    assert_eq!(exceptions, none, "{context}");
    assert_eq!(console, none, "{context}");
    assert_eq!(dialogs, none, "{context}");
    assert_eq!(frames, none, "{context}");
    assert_eq!(windows, none, "{context}");
    for request in requests {
        assert!(request.url.starts_with(ORIGIN), "{request:?} {context}");
    }
}
