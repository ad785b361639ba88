//! Headings and sections of Markdown.

/// A heading of a text.
pub(super) struct Heading<'t> {
    pub(super) level: usize,
    pub(super) title: &'t str,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Where it begins, and where what follows it begins.
    pub(super) start: usize,
    pub(super) body: usize,
}

/// The headings of a text, without those in blocks of code.
pub(super) fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut headings: Vec<Heading<'_>> = Vec::new();
    let (mut start, mut fence) = (0, None);
    let mut before: Option<(usize, &str)> = None;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let (line, body) = (whole.trim_end(), start + whole.len());
        let mark = line.trim_start();
        let ticks = ["```", "~~~"].into_iter().find(|ticks| mark.starts_with(ticks));
        match (fence, ticks) {
            (None, Some(opens)) => fence = Some(opens),
            (Some(open), Some(closes)) if open == closes => fence = None,
            _ => {}
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']);
        let is_underline = line.len() >= 3 && line.bytes().all(|byte| byte == b'=');
        if fence.is_none() && is_heading {
            let title = line[level..].trim().trim_end_matches('#').trim_end();
            headings.push(Heading { level, title, line: index + 1, start, body });
        } else if fence.is_none()
            && is_underline
            && let Some((start, title)) = before.filter(|(_, title)| !title.is_empty())
        {
            headings.push(Heading { level: 1, title, line: index, start, body });
        }
        before = Some((start, line));
        start = body;
    }
    headings
}

/// What follows the first heading with one of these names, up to the next of its level.
pub(super) fn section<'t>(text: &'t str, names: &[&str]) -> Option<&'t str> {
    let headings = headings(text);
    let is_named = |heading: &Heading<'_>| {
        names.iter().any(|name| heading.title.trim_end_matches(':').eq_ignore_ascii_case(name))
    };
    let at = headings.iter().position(is_named)?;
    let mut after = headings[at + 1..].iter().filter(|other| other.level <= headings[at].level);
    let end = after.next().map_or(text.len(), |other| other.start);
    Some(text[headings[at].body..end].trim())
}

/// The first paragraph of a text in one line, without comments.
pub(super) fn first_paragraph(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_comment = false;
    for line in text.lines().map(str::trim) {
        is_comment |= line.starts_with("<!--");
        if is_comment {
            is_comment = !line.ends_with("-->");
            continue;
        }
        match (line.is_empty() || line.starts_with('#'), lines.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, _) => lines.push(line),
        }
    }
    lines.join(" ")
}

/// The first heading of the first level.
pub(super) fn title(text: &str) -> Option<&str> {
    let headings = headings(text);
    let first = headings.into_iter().find(|heading| heading.level == 1);
    first.map(|heading| heading.title).filter(|title| !title.is_empty())
}
