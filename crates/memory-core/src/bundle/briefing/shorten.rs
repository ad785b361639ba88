//! Texts that are shortened, and say so.

use accord_base::excerpt::visible;

/// A text that is longer by up to this much is not shortened: the mark would be as long.
const SLACK: usize = 16;
/// If at least so many characters are missing, the mark says how many.
const COUNTED: usize = 400;
/// From here on, characters are those of languages that write a word in one or two of them.
const WIDE: char = '\u{2e80}';
/// How much such a character counts.
const WIDTH: usize = 3;

/// The size of a text: its characters, where a sign of Chinese, Japanese or Korean counts as three.
pub(super) fn size(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(character: char) -> usize {
    if character < WIDE { 1 } else { WIDTH }
}

/// The text, or about the first `most` of its size, with the mark of a text that was shortened.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let kept = beginning(text, most);
    let more = text[kept.len()..].chars().count();
    if more == 0 { text.to_owned() } else { format!("{kept}{}", mark(more)) }
}

/// The mark of a text that was shortened by a number of characters.
pub(super) fn mark(more: usize) -> String {
    if more < COUNTED { "…".to_owned() } else { format!("… (+{more} chars)") }
}

/// The text, or about the first `most` of its size.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let (mut end, mut sum) = (None, 0);
    for (at, character) in text.char_indices() {
        sum += width(character);
        if sum > most {
            end.get_or_insert(at);
        }
        if sum > most + SLACK {
            break;
        }
    }
    let Some(end) = end.filter(|_| sum > most + SLACK) else { return text };
    let kept = &text[..end];
    // A cut between words, unless that would drop too much.
    let blank = kept.rfind(char::is_whitespace).filter(|blank| *blank >= end / 2);
    kept[..blank.unwrap_or(end)].trim_end()
}

/// The text with invisible characters escaped, and without white space around it.
pub(super) fn clean(text: &str) -> String {
    visible(text.trim())
}

pub(super) fn one_line(text: &str) -> String {
    let cleaned = clean(text);
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{clean, one_line, shorten};

    #[test]
    fn a_shortened_text_says_how_much_is_missing() {
        assert_eq!(shorten("a few words", 60), "a few words");
        let text = "word ".repeat(140);
        let short = shorten(text.trim(), 60);
        assert_eq!(short, format!("{}… (+640 chars)", "word ".repeat(12).trim()));
        assert_eq!(shorten(&text[..99], 60), format!("{}…", "word ".repeat(12).trim()));
        // A sign of Chinese costs as much as a short word.
        assert_eq!(shorten(&"日".repeat(100), 60), format!("{}…", "日".repeat(20)));
    }

    #[test]
    fn what_could_forge_a_line_is_escaped() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc\u{202e}d "), "a\\u{1b}[2Jb\nc\\u{202e}d");
        assert_eq!(clean("a\u{200b}b\u{e0041}"), "a\\u{200b}b\\u{e0041}");
        assert_eq!(one_line(" a\n\n# b\tc "), "a # b c");
    }
}
