//! No text of an agent becomes markup, wherever it stands.

use serde_json::{Value, json};

use crate::support::{view, whole};

/// Texts that become markup or a script where they are written without care.
const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "\"><script>alert(1)</script>",
    "' onfocus='alert(1)' autofocus='",
    "\" onmouseover=\"alert(1)",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</option></select><img src=x onerror=alert(1)>",
    "</template><img src=x onerror=alert(1)>",
    "--><script>alert(1)</script>",
    "<!--<script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<a href=\"javascript:alert(1)\">x</a>",
    "[x](javascript:alert(1))",
    "[x](JAVASCRIPT&colon;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "![x](javascript:alert(1))",
    "[x](https://a.example/\" onclick=\"alert(1))",
    "<javascript:alert(1)>",
    "<https://a.example/><script>alert(1)</script>",
    "`</code><script>alert(1)</script>`",
    "```\n</pre><script>alert(1)</script>\n```",
    "<details open ontoggle=alert(1)>",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<math><mtext></p><style><img src=x onerror=alert(1)>",
    "<style>*{background:url(https://t.example/)}</style>",
    "<base href=https://t.example/>",
    "<meta http-equiv=refresh content=\"0;url=https://t.example/\">",
    "<form action=https://t.example/><button>x",
    "{{constructor.constructor('alert(1)')()}}",
    "\u{202e}<script>\u{2066}alert(1)\u{0}</script>",
];

/// Every place of a session that an agent writes, with a text.
fn session(text: &str) -> Value {
    let scalar = json!({"type": "string", "title": text, "description": text, "default": text,
        "example": text, "pattern": text});
    let members = json!({
        (text): scalar,
        "line": {"type": "string", "maxLength": 20, "default": text},
        "lines": {"type": "string", "default": text},
        "format": {"type": "string", "format": text},
        "choice": {"enum": [text, 1, null], "default": text},
        "titled": {"oneOf": [{"const": text, "title": text}]},
        "several": {"type": "array", "uniqueItems": true, "items": {"enum": [text]}},
        "list": {"type": "array", "items": scalar, "default": [text]},
        "group": {"type": "object", "properties": {(text): scalar}},
        "fixed": {"const": text},
        "json": {"anyOf": [{"type": "object", "description": text}], "default": text},
        "number": {"type": "number", "minimum": text, "default": text},
    });
    json!({
        "id": text, "appId": text, "prompt": text, "description": text, "message": text,
        "propsSpec": {
            "description": text,
            "properties": {
                (text): {"schema": {"type": "string", "title": text}, "description": text},
                "markdown": {"schema": {"type": "string", "contentMediaType": "text/markdown"}},
                "link": {"schema": {"type": "string", "format": "uri"}},
            },
        },
        "props": {
            (text): text, "markdown": text, "link": text,
            "undeclared": {(text): [text, {"a": text}]},
        },
        "actionSpec": {
            (text): {"label": text, "description": text, "icon": text, "schema":
                {"type": "object", "required": [text], "properties": members}},
            "value": {"label": text, "schema": scalar},
            "void": {"label": text, "confirm": true},
        },
        "streamSpec": {
            (text): {"schema": scalar, "description": text, "mode": text},
        },
    })
}

/// The elements of the markup, with their attributes.
fn tags(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let mut quote = None;
        let end = rest.find(|letter: char| {
            match quote {
                Some(open) if open == letter => quote = None,
                None if letter == '"' || letter == '\'' => quote = Some(letter),
                _ => {}
            }
            quote.is_none() && letter == '>'
        });
        let end = end.expect("every element ends");
        tags.push(rest[..end].to_owned());
        rest = &rest[end + 1..];
    }
    tags
}

/// The names of elements and attributes that the templates and the Markdown use.
const ELEMENTS: &[&str] = &[
    "a",
    "blockquote",
    "br",
    "button",
    "bdi",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "form",
    "h1",
    "h2",
    "h3",
    "hr",
    "input",
    "label",
    "legend",
    "li",
    "ol",
    "option",
    "p",
    "pre",
    "s",
    "section",
    "select",
    "span",
    "strong",
    "summary",
    "template",
    "textarea",
    "time",
    "ul",
];

fn attributes(tag: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut quote = None;
    let mut name = String::new();
    for letter in tag.chars().skip_while(|letter| !letter.is_whitespace()) {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, letter) if letter.is_whitespace() || letter == '=' => {
                names.extend((!name.is_empty()).then(|| std::mem::take(&mut name)));
            }
            (None, letter) => name.push(letter),
        }
    }
    names.extend((!name.is_empty()).then_some(name));
    names
}

#[test]
fn no_text_becomes_markup_in_any_place() {
    let plain = whole(&view(session("plain")));
    let known: std::collections::BTreeSet<String> =
        tags(&plain).iter().flat_map(|tag| attributes(tag)).collect();
    for text in CORPUS {
        let html = whole(&view(session(text)));
        for tag in tags(&html) {
            let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric());
            let name = name.into_iter().next().unwrap_or_default().to_owned();
            assert!(ELEMENTS.contains(&name.as_str()), "{text:?} became <{tag}>");
            for attribute in attributes(&tag) {
                let is_known = known.contains(&attribute)
                    || ["href", "rel", "target", "start", "tabindex"].contains(&attribute.as_str());
                assert!(is_known, "{text:?} became the attribute {attribute} of <{tag}>");
            }
            if let Some(target) = tag.split("href=\"").nth(1) {
                let is_safe = ["http://", "https://", "mailto:"];
                assert!(is_safe.iter().any(|scheme| target.starts_with(scheme)), "{tag}");
            }
        }
        assert_eq!(tags(&html).iter().filter(|tag| tag.starts_with("form")).count(), 3, "{text:?}");
    }
}

#[test]
fn the_corpus_is_shown_as_it_was_written() {
    for text in CORPUS.iter().filter(|text| text.is_ascii()) {
        let html = whole(&view(json!({"props": {"said": text}})));
        let shown = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let shown = shown.replace('"', "&quot;").replace('\'', "&#39;");
        assert!(html.contains(&format!("<span class=\"text\">{shown}</span>")), "{html}");
    }
}

#[test]
fn hidden_characters_are_shown_in_every_text() {
    let html = whole(&view(session("pay\u{202e}now")));
    // Where the value is sent back, or names a place, it stays exactly as it is.
    let outside: String = html.split('"').step_by(2).collect();
    let shown = outside.split("<textarea").map(|part| match part.split_once("</textarea>") {
        Some((_, after)) => after,
        None => part,
    });
    for part in shown {
        assert!(!part.contains('\u{202e}'), "{part}");
    }
    assert!(html.matches("U+202E").count() > 20);
}
