//! Texts from documents, made safe for a terminal.

use accord_contract::wire::Value;

/// A text on one line, cut after `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = clean(&words.join(" "));
    let mut ends = line.char_indices().map(|(place, _)| place);
    match ends.nth(most.saturating_sub(1)) {
        Some(cut) if ends.next().is_some() => format!("{}…", &line[..cut]),
        _ => line,
    }
}

/// Escapes control characters and characters that change the text direction.
pub(crate) fn clean(text: &str) -> String {
    let acts = |character: char| {
        // Escape sequences could forge output or control the terminal. Direction marks could show a
        // text in another order than it has.
        (character.is_control() && character != '\t')
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(acts) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A time, to the minute.
pub(crate) fn moment(value: &Value) -> String {
    let Some(text) = value.as_str() else {
        return String::new();
    };
    match (text.get(..10), text.get(10..11), text.get(11..16)) {
        (Some(day), Some("T" | "t" | " "), Some(time)) => clean(&format!("{day} {time}Z")),
        _ => clean(text),
    }
}

/// A member as text on one line.
pub(crate) fn member(document: &Value, name: &str) -> String {
    match &document[name] {
        Value::String(text) => one_line(text, usize::MAX),
        Value::Null => String::new(),
        other => clean(&other.to_string()),
    }
}

/// An actor as `type:id`.
pub(crate) fn actor(value: &Value) -> String {
    let (kind, id) = (member(value, "type"), member(value, "id"));
    match (kind.is_empty(), id.is_empty()) {
        (false, false) => format!("{kind}:{id}"),
        _ => format!("{kind}{id}"),
    }
}

/// A number with its noun.
pub(crate) fn counted(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing_by_a_text() {
        let text = "\u{1b}[2Jgone\u{7}\u{202e}txt\u{9b}0m";
        assert_eq!(clean(text), "\\u{1b}[2Jgone\\u{7}\\u{202e}txt\\u{9b}0m");
        assert_eq!(clean("日本 é 🙂\tok"), "日本 é 🙂\tok");
    }

    #[test]
    fn a_line_is_cut_where_it_is_too_long() {
        assert_eq!(one_line("a\n b   c", 10), "a b c");
        assert_eq!(one_line("éééé", 4), "éééé");
        assert_eq!(one_line("ééééé", 4), "ééé…");
        assert_eq!(one_line("", 4), "");
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(moment(&"2026-04-18T20:01:02.5Z".into()), "2026-04-18 20:01Z");
        assert_eq!(moment(&"soon".into()), "soon");
        assert_eq!(moment(&Value::Null), "");
    }
}
