//! Texts that are shortened, and say so.

/// A text of up to this many more characters is not shortened: the mark would be as long.
const SLACK: usize = 16;

/// The text, or about its first `most` characters and how many more it has.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most + SLACK) else { return text.to_owned() };
    let start = &text[..end];
    let end = start.char_indices().nth(most).map_or(end, |(end, _)| end);
    let kept = &text[..end];
    // A cut between words, unless that would drop too much.
    let blank = kept.rfind(char::is_whitespace).filter(|blank| *blank >= end / 2);
    let kept = kept[..blank.unwrap_or(end)].trim_end();
    let more = text[kept.len()..].chars().count();
    format!("{kept}… (+{more} chars)")
}

/// The text with control characters escaped, and without white space around it.
pub(super) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").trim().chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            // The latter could reorder the text around them.
            '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => shown.extend(character.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
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
        let text = "word ".repeat(40);
        let short = shorten(text.trim(), 60);
        assert_eq!(short, format!("{}… (+140 chars)", "word ".repeat(12).trim()));
        let short = shorten(&"日".repeat(100), 60);
        assert_eq!(short, format!("{}… (+40 chars)", "日".repeat(60)));
    }

    #[test]
    fn what_could_forge_a_line_is_escaped() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc\u{202e}d "), "a\\u{1b}[2Jb\nc\\u{202e}d");
        assert_eq!(one_line(" a\n\n# b\tc "), "a # b c");
    }
}
