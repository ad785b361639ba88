//! Markdown of agents.
//!
//! The parser gives events, and this module writes a fixed set of elements for them. Raw HTML is
//! text, an image is a link, and a link goes to http, https or mailto and says where. There is no
//! other way for a text to become markup.

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::html::Html;
use crate::text::{attribute, visible};

/// The most bytes of Markdown that are shown. What is longer is shown as text.
const MOST_BYTES: usize = 64 * 1024;

const SCHEMES: [&str; 3] = ["http:", "https:", "mailto:"];

/// The most open elements; what is nested deeper has none of its own.
const MOST_DEPTH: usize = 64;

pub(crate) fn markdown(text: &str) -> Html {
    if text.len() > MOST_BYTES {
        return Html::trusted(format!("<pre class=\"long\">{}</pre>", visible(text)));
    }
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    Html::trusted(writer.out)
}

#[derive(Default)]
struct Writer {
    out: String,
    /// What closes each open element.
    open: Vec<String>,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => self.out.push_str(&self.open.pop().unwrap_or_default()),
            Event::Code(text) => {
                self.out.push_str(&format!("<code>{}</code>", visible(&text)));
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            // A line that an agent ended is a line.
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&visible(text));
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let (start, close) = match tag {
            _ if self.open.len() >= MOST_DEPTH => (String::new(), ""),
            Tag::Paragraph => ("<p>".to_owned(), "</p>"),
            // The headings of the page are its own: an agent's cannot be taken for one of them.
            Tag::Heading { .. } => ("<p class=\"md-heading\">".to_owned(), "</p>"),
            Tag::BlockQuote(_) => ("<blockquote dir=\"auto\">".to_owned(), "</blockquote>"),
            Tag::CodeBlock(_) => ("<pre tabindex=\"0\"><code>".to_owned(), "</code></pre>"),
            Tag::HtmlBlock => ("<pre tabindex=\"0\">".to_owned(), "</pre>"),
            Tag::List(Some(first)) => (format!("<ol start=\"{first}\" dir=\"auto\">"), "</ol>"),
            Tag::List(None) => ("<ul dir=\"auto\">".to_owned(), "</ul>"),
            Tag::Item => ("<li>".to_owned(), "</li>"),
            Tag::Table(_) => (
                "<div class=\"table\" dir=\"auto\" tabindex=\"0\"><table>".to_owned(),
                "</table></div>",
            ),
            Tag::TableHead => ("<thead><tr>".to_owned(), "</tr></thead>"),
            Tag::TableRow => ("<tr>".to_owned(), "</tr>"),
            Tag::TableCell => ("<td>".to_owned(), "</td>"),
            Tag::Emphasis => ("<em>".to_owned(), "</em>"),
            Tag::Strong => ("<strong>".to_owned(), "</strong>"),
            Tag::Strikethrough => ("<s>".to_owned(), "</s>"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => link(dest_url),
            // Only extensions that are off make others.
            _ => (String::new(), ""),
        };
        self.out.push_str(&start);
        // The place that a link leads to is written after its text.
        let target = match tag {
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => shown_target(dest_url),
            _ => String::new(),
        };
        self.open.push(format!("{close}{target}"));
    }
}

fn link(target: &str) -> (String, &'static str) {
    match safe_target(target) {
        None => ("<span class=\"no-link\">".to_owned(), "</span>"),
        Some(target) => (link_start(target), "</a>"),
    }
}

/// The start of a link, which opens apart from the page.
pub(crate) fn link_start(target: &str) -> String {
    let target = attribute(target);
    format!("<a href=\"{target}\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">")
}

/// The target of a link that may be followed.
pub(crate) fn safe_target(target: &str) -> Option<&str> {
    // A browser ignores white space and controls in a scheme.
    let is_plain = target.chars().all(|letter| letter.is_ascii_graphic());
    let lower = target.to_ascii_lowercase();
    let has_scheme = SCHEMES.iter().any(|scheme| lower.starts_with(scheme));
    (is_plain && has_scheme).then_some(target)
}

/// Where a link leads, for people: its host, or all of it if it is not followed.
fn shown_target(target: &str) -> String {
    let host = safe_target(target).and_then(|target| {
        let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        rest.get(..end)
    });
    format!(" <span class=\"target\">({})</span>", visible(host.unwrap_or(target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        markdown(text).into_string()
    }

    #[test]
    fn a_table_is_a_table_of_texts() {
        let table = html("| a | b |\n|---|---|\n| <i> | 2 |");
        assert!(table.contains("<thead><tr><td>a</td><td>b</td></tr></thead>"), "{table}");
        assert!(table.contains("<tr><td>&lt;i&gt;</td><td>2</td></tr></table></div>"), "{table}");
    }

    #[test]
    fn markdown_becomes_a_fixed_set_of_elements() {
        let text =
            "# Plan\n\nUse *two* **steps**:\n\n1. `one`\n2. two\n\n> said\n\n```\nx < y\n```";
        assert_eq!(
            html(text),
            "<p class=\"md-heading\">Plan</p><p>Use <em>two</em> <strong>steps</strong>:</p>\
             <ol start=\"1\" dir=\"auto\"><li><code>one</code></li><li>two</li></ol>\
             <blockquote dir=\"auto\"><p>said</p></blockquote>\
             <pre tabindex=\"0\"><code>x &lt; y\n</code></pre>"
        );
        assert_eq!(html("one\ntwo"), "<p>one<br>two</p>");
    }

    #[test]
    fn raw_html_is_text() {
        assert_eq!(
            html("a <img src=x onerror=alert(1)> b"),
            "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>"
        );
        assert!(
            html("<script>alert(1)</script>").starts_with("<pre tabindex=\"0\">&lt;script&gt;")
        );
    }

    #[test]
    fn a_link_says_where_it_leads() {
        assert_eq!(
            html("[bank](https://evil.example/login)"),
            "<p><a href=\"https://evil.example/login\" rel=\"noopener noreferrer nofollow\" \
             target=\"_blank\">bank</a> <span class=\"target\">(evil.example)</span></p>"
        );
        for target in ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "/code/x"]
        {
            let shown = html(&format!("[x]({target})"));
            assert!(!shown.contains("href"), "{shown}");
            assert!(shown.contains("class=\"no-link\""), "{shown}");
        }
        assert!(!html("![x](https://t.example/p.png)").contains("<img"));
        assert_eq!(safe_target("java\tscript:alert(1)"), None);
        assert_eq!(safe_target("https://a.example/\u{202e}"), None);
    }

    #[test]
    fn deep_nesting_ends() {
        let shown = html(&format!("{}x", "> ".repeat(5_000)));
        assert!(shown.matches("<blockquote").count() <= MOST_DEPTH);
        assert_eq!(shown.matches("<blockquote").count(), shown.matches("</blockquote>").count());
    }
}
