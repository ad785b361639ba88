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

/// Where the first section with a heading begins and ends.
fn find(body: &str, heading: &str) -> Option<(usize, usize)> {
    let wanted = format!("## {heading}");
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
            if start.is_none() && text.eq_ignore_ascii_case(&wanted) {
                start = Some(at);
            }
        }
        at += line.len();
    }
    start.map(|start| (start, body.len()))
}
