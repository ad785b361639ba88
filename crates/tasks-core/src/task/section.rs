//! Sections of the body of a task, by their headings.

/// The body with a section replaced, or added at the end. Headings are compared in any case.
pub fn with_section(body: &str, heading: &str, text: &str) -> String {
    let body = body.trim_end();
    let text = text.trim();
    let section = format!("## {heading}\n\n{text}\n");
    let Some((start, end)) = find(body, heading) else {
        let gap = if body.is_empty() { "" } else { "\n\n" };
        return format!("{body}{gap}{section}");
    };
    let rest = body[end..].trim_start_matches('\n');
    let gap = if rest.is_empty() { "" } else { "\n" };
    format!("{}{section}{gap}{rest}", &body[..start])
}

/// The body with an item at the end of a section that is a list. The section is added at the end
/// if there is none.
pub(super) fn with_item(body: &str, heading: &str, item: &str) -> String {
    let body = body.trim_end();
    let Some((_, end)) = find(body, heading) else {
        let gap = if body.is_empty() { "" } else { "\n\n" };
        return format!("{body}{gap}## {heading}\n\n{item}\n");
    };
    let (before, after) = body.split_at(end);
    let after = after.trim_start_matches('\n');
    let rest = if after.is_empty() { String::new() } else { format!("\n{after}\n") };
    let before = before.trim_end();
    let is_empty = before.lines().last().is_some_and(|line| is_heading(line, heading));
    let gap = if is_empty { "\n" } else { "" };
    format!("{before}\n{gap}{item}\n{rest}")
}

/// The body without the sections with a heading, and their items, which may have further lines.
pub(super) fn split_items(body: &str, heading: &str) -> (String, Vec<String>) {
    let (mut rest, mut items) = (String::new(), Vec::<String>::new());
    let (mut is_inside, mut is_code) = (false, false);
    for line in body.lines() {
        let text = line.trim_end();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        is_code ^= is_fence;
        if !is_code && !is_fence && (text.starts_with("# ") || text.starts_with("## ")) {
            is_inside = is_heading(text, heading);
            if is_inside {
                continue;
            }
        }
        match items.last_mut() {
            _ if !is_inside => {
                rest.push_str(line);
                rest.push('\n');
            }
            _ if text.is_empty() => {}
            Some(item) if !text.starts_with("- ") => {
                item.push('\n');
                item.push_str(text);
            }
            _ => items.push(text.to_owned()),
        }
    }
    (rest.trim().to_owned(), items)
}

/// A text on one line, so that it can add neither an item nor a heading.
pub(super) fn one_line(text: &str) -> String {
    let breaks = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.trim().replace("\r\n", "\n").replace(breaks, "\n").replace('\n', "\\n")
}

fn is_heading(line: &str, heading: &str) -> bool {
    let text = line.trim_end().strip_prefix("## ");
    text.is_some_and(|text| text.eq_ignore_ascii_case(heading))
}

/// Where the first section with a heading begins and ends.
fn find(body: &str, heading: &str) -> Option<(usize, usize)> {
    let mut start = None;
    let mut is_code = false;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let text = line.trim_end();
        if text.starts_with("```") || text.starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            if let Some(start) = start
                && (text.starts_with("# ") || text.starts_with("## "))
            {
                return Some((start, at));
            }
            if start.is_none() && is_heading(text, heading) {
                start = Some(at);
            }
        }
        at += line.len();
    }
    start.map(|start| (start, body.len()))
}
