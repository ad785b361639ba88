//! Texts from documents, made safe for a terminal.

use accord_base::Actor;
use accord_base::excerpt::is_invisible;
use accord_contract::text::counted;
use unicode_width::UnicodeWidthStr as _;

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

/// Escapes characters that control the terminal, change the direction of the text, or look like
/// nothing.
pub(crate) fn clean(text: &str) -> String {
    // Escape sequences could forge output or control the terminal. Direction marks could show a
    // text in another order than it has. A long word of what looks blank would begin a line of the
    // terminal, as if it were Accord's.
    if !text.contains(is_invisible) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_invisible(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The number of columns of a text on a terminal. Escape sequences for colours take none.
pub(crate) fn shown_width(text: &str) -> usize {
    let mut width = 0;
    let mut rest = text;
    while let Some(start) = rest.find("\u{1b}[") {
        width += rest[..start].width();
        rest = rest[start..].split_once('m').map_or("", |(_, after)| after);
    }
    width + rest.width()
}

/// The lines of a text that is wrapped between words. A word that is longer stays whole, so that it
/// can be copied.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if shown_width(line) + 1 + shown_width(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The counts that are not 0, each with what it counts.
pub(crate) fn counts_of<const N: usize>(counts: [(u64, &str); N]) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, kind)| counted(count, kind)).collect::<Vec<_>>().join(", ")
}

pub(crate) fn line(text: &str) -> String {
    one_line(text, usize::MAX)
}

/// An actor as `type:id`.
pub(crate) fn actor_key(actor: &Actor) -> String {
    line(&format!("{}:{}", actor.kind, actor.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_control_the_terminal() {
        let text = "\u{1b}[2Jgone\u{7}\u{202e}txt\u{9b}0m";
        assert_eq!(clean(text), "\\u{1b}[2Jgone\\u{7}\\u{202e}txt\\u{9b}0m");
        assert_eq!(clean("日本 é 🙂\tok"), "日本 é 🙂\tok");
        let blank = "a\u{2800}\u{3164}\u{200b}\u{2060}\u{feff}\u{e0020}b";
        assert_eq!(clean(blank), "a\\u{2800}\\u{3164}\\u{200b}\\u{2060}\\u{feff}\\u{e0020}b");
        assert_eq!(clean("👩\u{200d}💻 می\u{200c}خواهم"), "👩\u{200d}💻 می\u{200c}خواهم");
    }

    #[test]
    fn a_line_is_cut_where_it_is_too_long() {
        assert_eq!(one_line("a\n b   c", 10), "a b c");
        assert_eq!(one_line("éééé", 4), "éééé");
        assert_eq!(one_line("ééééé", 4), "ééé…");
        assert_eq!(one_line("", 4), "");
    }

    #[test]
    fn a_text_is_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a_word_that_is_long b", 5), ["a_word_that_is_long", "b"]);
        assert_eq!(wrapped("日本 日本", 4), ["日本", "日本"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(shown_width("\u{1b}[1mbold\u{1b}[0m"), 4);
    }
}
