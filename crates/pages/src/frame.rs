//! The document of a live session for the frame of an MCP Apps host.

use accord_contract::{Object, Value};
use askama::Template;

use crate::assets::{ASSETS, bundle};
use crate::html::Html;

#[derive(Template)]
#[template(path = "frame.html")]
struct Frame<'a> {
    title: &'a str,
    style: Html,
    slice: Option<Html>,
    script: Html,
}

/// The document of a session, or without a slice that of any session: the host tells it which.
/// Style and script stand in it, because the policy of a host may let it load nothing.
pub fn frame(title: &str, slice: Option<&Object>) -> Html {
    let style = ASSETS.iter().find(|asset| asset.name == "page.css");
    let style = style.map_or("", |asset| asset.text);
    let meta = slice.map(|slice| {
        let slice = Value::Object(slice.clone());
        Value::Object(Object::from_iter([("ai.ggui/render".to_owned(), slice)]))
    });
    Html::of(&Frame {
        title: if title.is_empty() { "Live session" } else { title },
        style: Html::trusted(style.to_owned()),
        slice: meta.map(|meta| Html::trusted(in_script(&meta.to_string()))),
        script: Html::trusted(bundle("frame.js")),
    })
}

/// JSON as a value in a script: nothing in it can end the script, or a line of it.
fn in_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_wrote_cannot_end_the_script() {
        let slice = json!({"propsJson": "</script><script>alert(1)</script>\u{2028}"});
        let html = frame("<b>", slice.as_object()).into_string();
        assert!(!html.contains("<script>alert"), "{html}");
        assert!(html.contains("\\u003c/script\\u003e"), "{html}");
        assert!(html.contains("<title>&#60;b&#62;</title>"), "{html}");
        // ggui's hosts find the slice by this mark.
        assert!(html.contains("<script>globalThis.__GGUI_META__ = {\"ai.ggui/render\":"), "{html}");
        assert!(!frame("", None).as_str().contains("globalThis.__GGUI_META__ = "));
    }

    #[test]
    fn a_frame_loads_nothing() {
        let html = frame("", None).into_string();
        for attribute in [" src=", " href=", "@import", "url("] {
            assert!(!html.contains(attribute), "{attribute}");
        }
    }
}
