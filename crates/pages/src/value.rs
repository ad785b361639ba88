//! JSON values as people read them: lists as lists, objects as names with values.

use accord_contract::{Object, Time, Value};

use crate::html::Html;
use crate::markdown::{link_start, markdown, safe_target};
use crate::text::visible;

/// How deep lists and objects are shown as such. What is deeper is shown as JSON.
const MOST_DEPTH: usize = 6;

/// The most values of one list or object that are shown.
const MOST_ITEMS: usize = 200;

/// A value, as its schema describes it.
pub(crate) fn shown(value: &Value, schema: Option<&Value>) -> Html {
    let mut out = Html::default();
    write(value, schema, 0, &mut out);
    out
}

fn write(value: &Value, schema: Option<&Value>, depth: usize, out: &mut Html) {
    match value {
        Value::Null => out.push("<span class=\"none\">none</span>"),
        Value::Bool(yes) => out.push(if *yes { "yes" } else { "no" }),
        Value::Number(number) => out.push(&visible(&number.to_string())),
        Value::String(text) => write_text(text, schema, out),
        Value::Array(items) if items.is_empty() => out.push("<span class=\"none\">empty</span>"),
        Value::Object(members) if members.is_empty() => {
            out.push("<span class=\"none\">empty</span>");
        }
        Value::Array(_) | Value::Object(_) if depth >= MOST_DEPTH => {
            out.push(&format!("<code class=\"json\">{}</code>", visible(&value.to_string())));
        }
        Value::Array(items) => write_list(items, schema, depth, out),
        Value::Object(members) => write_members(members, schema, depth, out),
    }
}

fn write_text(text: &str, schema: Option<&Value>, out: &mut Html) {
    let says = |name: &str| schema.and_then(|schema| schema.get(name)).and_then(Value::as_str);
    let is_link = matches!(says("format"), Some("uri" | "url"));
    let time = Time::parse_rfc3339(text).filter(|_| says("format") == Some("date-time"));
    if says("contentMediaType") == Some("text/markdown") {
        out.push(&format!("<div class=\"markdown\">{}</div>", markdown(text)));
    } else if let Some(target) = safe_target(text).filter(|_| is_link) {
        out.push(&format!("{}{}</a>", link_start(target), visible(text)));
    } else if let Some(time) = time {
        // The page shows it in the time of its device.
        let time = time.to_seconds_text();
        out.push(&format!("<time datetime=\"{time}\">{}</time>", visible(text)));
    } else if text.is_empty() {
        out.push("<span class=\"none\">empty</span>");
    } else {
        out.push(&format!("<span class=\"text\">{}</span>", visible(text)));
    }
}

/// The most columns of a table.
const MOST_COLUMNS: usize = 8;

/// The columns of a list of objects with the same members, whose values are no lists or objects.
fn columns(items: &[Value]) -> Option<Vec<&str>> {
    let first = items.first()?.as_object()?;
    let is_same = |item: &Value| {
        let members = item.as_object();
        members.is_some_and(|members| {
            members.len() == first.len()
                && members.iter().all(|(name, value)| {
                    first.contains_key(name) && !value.is_object() && !value.is_array()
                })
        })
    };
    let is_table = items.len() > 1 && (1..=MOST_COLUMNS).contains(&first.len());
    (is_table && items.iter().all(is_same)).then(|| first.keys().map(String::as_str).collect())
}

/// The most letters of a column that takes one line, and the least of one that takes several.
const SHORT: usize = 16;
const LONG: usize = 32;

/// The number of letters of the longest text in a column.
fn longest(items: &[Value], name: &str) -> usize {
    let texts = items.iter().filter_map(|item| item[name].as_str());
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn write_table(
    items: &[Value],
    columns: &[&str],
    schema: Option<&Value>,
    depth: usize,
    out: &mut Html,
) {
    let properties = schema.and_then(|schema| schema.get("properties"));
    let of = |name: &str| properties.and_then(|all| all.get(name));
    // A short column takes one line, and a long one keeps room to be read.
    let class = |name: &str| match longest(items, name) {
        _ if items.iter().all(|item| item[name].is_number()) => " class=\"number\"",
        0..=SHORT => " class=\"short\"",
        LONG.. => " class=\"long\"",
        _ => "",
    };
    let title = |name: &str| {
        let title = of(name).and_then(|schema| schema.get("title")).and_then(Value::as_str);
        title.map_or_else(|| label(name), str::to_owned)
    };
    out.push("<div class=\"table\" dir=\"auto\" tabindex=\"0\"><table class=\"rows\"><thead><tr>");
    for name in columns {
        let (class, title) = (class(name), visible(&title(name)));
        out.push(&format!("<th scope=\"col\"{class}>{title}</th>"));
    }
    out.push("</tr></thead><tbody>");
    for item in items.iter().take(MOST_ITEMS) {
        out.push("<tr>");
        for name in columns {
            out.push(&format!("<td{}>", class(name)));
            write(&item[*name], of(name), depth + 2, out);
            out.push("</td>");
        }
        out.push("</tr>");
    }
    let cell = format!("<tr><td colspan=\"{}\">", columns.len());
    write_rest(items.len(), (&cell, "</td></tr>"), out);
    out.push("</tbody></table></div>");
}

fn write_list(items: &[Value], schema: Option<&Value>, depth: usize, out: &mut Html) {
    let schema = schema.and_then(|schema| schema.get("items"));
    if let Some(columns) = columns(items) {
        return write_table(items, &columns, schema, depth, out);
    }
    out.push("<ul class=\"values\" dir=\"auto\">");
    for item in items.iter().take(MOST_ITEMS) {
        out.push("<li>");
        write(item, schema, depth + 1, out);
        out.push("</li>");
    }
    write_rest(items.len(), ("<li>", "</li>"), out);
    out.push("</ul>");
}

fn write_members(members: &Object, schema: Option<&Value>, depth: usize, out: &mut Html) {
    let properties = schema.and_then(|schema| schema.get("properties"));
    out.push("<dl class=\"values\" dir=\"auto\">");
    for (name, member) in members.iter().take(MOST_ITEMS) {
        out.push(&format!("<div><dt>{}</dt><dd>", visible(&label(name))));
        write(member, properties.and_then(|all| all.get(name)), depth + 1, out);
        out.push("</dd></div>");
    }
    write_rest(members.len(), ("<div><dt>…</dt><dd>", "</dd></div>"), out);
    out.push("</dl>");
}

/// Says how many values are not shown.
fn write_rest(count: usize, (before, after): (&str, &str), out: &mut Html) {
    let rest = count.saturating_sub(MOST_ITEMS);
    if rest > 0 {
        out.push(&format!("{before}<span class=\"none\">and {rest} more</span>{after}"));
    }
}

/// A name of a program as words: `taxRate` and `tax_rate` as `Tax rate`. Other names stay as they
/// are.
pub(crate) fn label(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        return name.to_owned();
    }
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        let is_break = matches!(letter, '_' | '-');
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if (is_break || begins) && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if !is_break {
            // A capital inside an abbreviation stays one.
            let lower = if begins { letter.to_ascii_lowercase() } else { letter };
            words.push(lower);
        }
        before = letter;
    }
    let words = words.trim();
    match words.chars().next() {
        None => name.to_owned(),
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), &words[first.len_utf8()..]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_words() {
        for (name, words) in [
            ("taxRate", "Tax rate"),
            ("tax_rate", "Tax rate"),
            ("due-date", "Due date"),
            ("URL", "URL"),
            ("total", "Total"),
            ("größe", "größe"),
            ("a b", "a b"),
            ("__", "__"),
        ] {
            assert_eq!(label(name), words);
        }
    }

    #[test]
    fn values_are_readable() {
        let value = json!({"ok": true, "items": [1, "a<b"], "none": null, "deep": {}});
        assert_eq!(
            shown(&value, None).as_str(),
            "<dl class=\"values\" dir=\"auto\"><div><dt>Ok</dt><dd>yes</dd></div>\
             <div><dt>Items</dt><dd><ul class=\"values\" dir=\"auto\">\
             <li>1</li>\
             <li><span class=\"text\">a&lt;b</span></li></ul></dd></div>\
             <div><dt>None</dt><dd><span class=\"none\">none</span></dd></div>\
             <div><dt>Deep</dt><dd><span class=\"none\">empty</span></dd></div></dl>"
        );
    }

    #[test]
    fn equal_objects_are_a_table() {
        let lines = json!([{"item": "Tea", "price": 3.5}, {"item": "<b>", "price": 4}]);
        let schema = json!({"items": {"properties": {"price": {"title": "Price in EUR"}}}});
        let html = shown(&lines, Some(&schema)).into_string();
        assert_eq!(html.matches("<tr>").count(), 3, "{html}");
        for part in [
            "<th scope=\"col\" class=\"short\">Item</th>",
            "<th scope=\"col\" class=\"number\">Price in EUR</th>",
            "<td class=\"number\">3.5</td>",
            "&lt;b&gt;",
        ] {
            assert!(html.contains(part), "{html}");
        }
        let long = json!([{"note": "a".repeat(LONG)}, {"note": ""}]);
        assert!(shown(&long, None).as_str().contains("<td class=\"long\">"));
        // What has no common columns is a list.
        for other in [
            json!([{"a": 1}]),
            json!([{"a": 1}, {"b": 1}]),
            json!([{"a": [1]}, {"a": [2]}]),
            json!([{}, {}]),
        ] {
            assert!(!shown(&other, None).as_str().contains("<table"), "{other}");
        }
        let many = Value::Array(vec![json!({"n": 1}); MOST_ITEMS + 5]);
        assert!(shown(&many, None).as_str().contains("and 5 more"));
    }

    #[test]
    fn a_schema_can_say_what_a_text_is() {
        let markdown = json!({"type": "string", "contentMediaType": "text/markdown"});
        let shown_as = |schema: &Value, text: &str| shown(&text.into(), Some(schema)).into_string();
        assert!(shown_as(&markdown, "*x*").contains("<em>x</em>"));
        let link = json!({"type": "string", "format": "uri"});
        assert!(
            shown_as(&link, "https://a.example/").starts_with("<a href=\"https://a.example/\"")
        );
        assert!(!shown_as(&link, "javascript:alert(1)").contains("<a"));
        let time = json!({"type": "string", "format": "date-time"});
        assert_eq!(
            shown_as(&time, "2026-12-24T18:30:00+01:00"),
            "<time datetime=\"2026-12-24T17:30:00Z\">2026-12-24T18:30:00+01:00</time>"
        );
        assert!(!shown_as(&time, "tomorrow").contains("<time"));
    }

    #[test]
    fn size_and_depth_are_limited() {
        let long = Value::Array(vec![1.into(); MOST_ITEMS + 5]);
        assert!(shown(&long, None).as_str().contains("and 5 more"));
        let mut deep = json!("x");
        for _ in 0..500 {
            deep = json!([deep]);
        }
        assert!(shown(&deep, None).as_str().contains("<code class=\"json\">[[["));
    }
}
