//! As much of a text as fits, and how much is missing.

use crate::tokens;

/// A text on one line, of at most so many characters.
pub fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let line = visible(&line);
    match line.char_indices().nth(longest) {
        None => line,
        Some((end, _)) => {
            let hidden = line[end..].chars().count();
            format!("{}… (+{hidden} characters)", &line[..end])
        }
    }
}

/// Whether a character does not show what it is: it controls a terminal, changes the direction of
/// the text, or looks like nothing. A reader sees its code point instead. Joiners and the selectors
/// of pictures are parts of words and of pictures.
pub fn is_invisible(character: char) -> bool {
    (character.is_control() && character != '\t')
        || matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}')
        || matches!(character, '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}')
        || matches!(character, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}')
        || matches!(character, '\u{ffa0}' | '\u{fff9}'..='\u{fffb}')
        || matches!(character, '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// A text with its invisible characters escaped. Lines stay lines.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => shown.push(character),
            '\r' if characters.peek() == Some(&'\n') => {}
            hidden if is_invisible(hidden) => shown.extend(hidden.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
}

/// As much of a text as fits into `most` tokens, what is missing, and where it is (`place`).
pub fn cut(text: &str, most: usize, place: &str) -> String {
    let text = visible(text.trim());
    if tokens(&text) <= most {
        return text;
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let with = |kept: usize| {
        let shown = text[..ends[kept]].trim_end();
        let hidden = ends.len() - kept;
        match shown.is_empty() {
            true => format!("({hidden} characters, in {place})"),
            false => format!("{shown}\n… {hidden} more characters, in {place}"),
        }
    };
    // The longest beginning that fits: `low` fits or is empty, `high` does not.
    let (mut low, mut high) = (0, ends.len() - 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match tokens(&with(middle)) <= most {
            true => low = middle,
            false => high = middle,
        }
    }
    // The beginning of a fenced block without its end would swallow what follows.
    let shown = with(low);
    let fences = shown.lines().filter(|line| line.trim_start().starts_with("```")).count();
    match fences % 2 {
        0 => shown,
        _ => with(
            text[..ends[low]].rfind("```").map_or(0, |at| ends.partition_point(|end| *end < at)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_says_how_much_is_missing() {
        let text = "one two three four five six seven eight nine ten ".repeat(50);
        for most in [12, 20, 40, 200] {
            let shown = cut(&text, most, "x.md");
            assert!(tokens(&shown) <= most, "{most}: {shown}");
            let hidden = shown.split("… ").nth(1).and_then(|rest| rest.split(' ').next());
            let hidden: usize = match hidden {
                Some(hidden) => hidden.parse().expect(&shown),
                None => shown[1..].split(' ').next().expect(&shown).parse().expect(&shown),
            };
            let kept = shown.split("\n…").next().expect("a beginning").chars().count();
            let kept = if shown.starts_with('(') { 0 } else { kept };
            let whole = text.trim().chars().count();
            // Spaces at the cut are not shown.
            assert!((whole - hidden).abs_diff(kept) <= 1, "{kept} {hidden} {whole}");
        }
        assert_eq!(cut(" short ", 40, "x.md"), "short");
    }

    #[test]
    fn a_cut_leaves_no_open_block_of_code() {
        let text = format!("Before.\n\n```\n{}\n```\n", "code ".repeat(200));
        let shown = cut(&text, 60, "x.md");
        assert!(shown.starts_with("Before.\n…"), "{shown}");
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        let text = "a\u{200b}b\n\tc\u{202e}d\u{e0041}e\u{e0101}f\u{1b}[2J";
        let shown = "a\\u{200b}b\n\tc\\u{202e}d\\u{e0041}e\\u{e0101}f\\u{1b}[2J";
        assert_eq!(visible(text), shown);
        // A joiner and the selector of a picture are parts of what is seen.
        assert_eq!(visible("👩\u{200d}💻 ❤\u{fe0f} é"), "👩\u{200d}💻 ❤\u{fe0f} é");
    }

    #[test]
    fn a_title_takes_one_line() {
        assert_eq!(one_line("a\n## b\u{2028}c\t d", 50), "a ## b c d");
        assert_eq!(one_line("abcdef", 4), "abcd… (+2 characters)");
    }
}
