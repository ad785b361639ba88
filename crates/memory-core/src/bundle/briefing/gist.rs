//! The parts of a long text that decide.
//!
//! A text is cut into sentences. The first one is shown, the last one where there is room, and of
//! the others those that decide most for their length: with numbers, names of code, words in
//! capitals, words of obligation, or below such a heading. They keep their order, and a heading
//! stands before the first of its sentences. A sentence is shown once.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::shorten::shorten;

/// Beginnings of words that oblige, forbid, limit or order, in English, German, French and Spanish.
/// The list is short on purpose: it breaks ties between sentences and decides nothing alone.
const STEMS: [&str; 42] = [
    "must",
    "never",
    "only",
    "until",
    "before",
    "next",
    "block",
    "wait",
    "todo",
    "decid",
    "decision",
    "instead",
    "cause",
    "need",
    "danger",
    "muss",
    "nicht",
    "niemals",
    "bis",
    "bevor",
    "nächst",
    "entsch",
    "ursache",
    "warte",
    "doit",
    "jamais",
    "seulement",
    "jusqu",
    "avant",
    "prochain",
    "attend",
    "décid",
    "debe",
    "nunca",
    "solo",
    "hasta",
    "antes",
    "siguiente",
    "espera",
    "decisi",
    "deadline",
    "approv",
];
/// Short words of the same kind, which are whole words.
const WORDS: [&str; 9] = ["not", "no", "don't", "kein", "nie", "nur", "vor", "ne", "pas"];
/// Signs of the same kind in Chinese, Japanese and Korean.
const SIGNS: [&str; 18] = [
    "不",
    "必须",
    "禁止",
    "只",
    "之前",
    "下一步",
    "等",
    "决定",
    "原因",
    "ない",
    "必ず",
    "まで",
    "次",
    "待",
    "決",
    "않",
    "까지",
    "다음",
];
/// What a sentence costs besides its characters.
const LEAST: usize = 120;
/// The most such words of a sentence that count, and the most numbers.
const MOST_CUES: usize = 4;
const MOST_NUMBERS: usize = 3;
/// From this length on, the last sentence is shown too.
const WITH_END: usize = 300;

/// The text, or its sentences that decide, of about `most` characters, and how many more characters
/// it has.
pub(super) fn gist(text: &str, most: usize) -> String {
    let length = text.chars().count();
    let parts = parts(text);
    let mut given = BTreeSet::new();
    let is_new = |at: &usize| !parts[*at].is_heading && given.insert(parts[*at].text);
    let sentences: Vec<usize> = (0..parts.len()).filter(is_new).collect();
    if length <= most || sentences.len() < 3 {
        return shorten(text, most);
    }
    let (first, last) = (sentences[0], sentences[sentences.len() - 1]);
    let mut choice = Choice { parts: &parts, shown: vec![None; parts.len()], room: most };
    choice.take_first(first);
    if most >= WITH_END && choice.cost(last) <= choice.room / 3 {
        choice.take(last);
    }
    let mut order: Vec<usize> = sentences.clone();
    order.sort_by_cached_key(|at| Reverse(density(&parts, *at)));
    for at in order {
        if choice.shown[at].is_none() && choice.cost(at) <= choice.room {
            choice.take(at);
        }
    }
    choice.written(length, most >= WITH_LINES)
}

/// From this length on, lines stay apart.
const WITH_LINES: usize = 1_200;

/// A sentence or a heading.
struct Part<'t> {
    text: &'t str,
    is_heading: bool,
    /// The number of its line.
    line: usize,
    /// The heading that it is below.
    heading: Option<usize>,
}

/// The parts that are shown.
struct Choice<'t> {
    parts: &'t [Part<'t>],
    shown: Vec<Option<String>>,
    room: usize,
}

impl Choice<'_> {
    /// The characters of a sentence, with its heading if that is not shown yet.
    fn cost(&self, at: usize) -> usize {
        let heading = self.parts[at].heading.filter(|heading| self.shown[*heading].is_none());
        let parts = heading.into_iter().chain([at]);
        parts.map(|part| self.parts[part].text.chars().count() + 3).sum()
    }

    /// The first sentence is shown in any case. A title above it says no more than that of its
    /// package.
    fn take_first(&mut self, at: usize) {
        let short = shorten(self.parts[at].text, self.room);
        let heading = self.parts[at].heading;
        let short = short.rsplit_once("… (+").map_or(short.clone(), |(kept, _)| format!("{kept}…"));
        self.room = self.room.saturating_sub(short.chars().count() + 3);
        self.shown[at] = Some(short);
        for part in heading.into_iter().chain(0..at) {
            self.shown[part].get_or_insert_default();
        }
    }

    fn take(&mut self, at: usize) {
        self.room = self.room.saturating_sub(self.cost(at));
        for part in self.parts[at].heading.into_iter().chain([at]) {
            self.shown[part].get_or_insert_with(|| self.parts[part].text.to_owned());
        }
    }

    fn written(&self, length: usize, with_lines: bool) -> String {
        let (mut text, mut gap, mut kept) = (String::new(), false, 0);
        let mut last: Option<&Part<'_>> = None;
        for (part, shown) in self.parts.iter().zip(&self.shown) {
            match shown.as_deref() {
                // A heading of which no sentence is shown.
                None => gap = true,
                Some("") => {}
                Some(shown) => {
                    // A sentence follows its heading on the same line.
                    let is_new_line = with_lines
                        && last.is_some_and(|last| last.line != part.line && !last.is_heading);
                    let joined = match (text.is_empty(), gap) {
                        (true, _) => "",
                        (false, true) if is_new_line => " …\n",
                        (false, false) if is_new_line => "\n",
                        (false, true) => " … ",
                        (false, false) => " ",
                    };
                    last = Some(part);
                    // A blank stood between them in the whole text, too.
                    kept += shown.chars().count() + 1;
                    text.push_str(joined);
                    text.push_str(shown);
                    if part.is_heading {
                        text.push(':');
                    }
                    gap = shown.ends_with('…');
                    if gap {
                        text.truncate(text.len() - '…'.len_utf8());
                    }
                }
            }
        }
        let more = length.saturating_sub(kept).max(1);
        format!("{text}{} (+{more} chars)", if gap { "…" } else { "" })
    }
}

/// How much a sentence decides.
fn points(parts: &[Part<'_>], at: usize) -> usize {
    let part = &parts[at];
    let has = |is: fn(char) -> bool| usize::from(part.text.contains(is));
    let mut shouted = part.text.split(|letter: char| !letter.is_ascii_alphabetic());
    let is_shouted =
        |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let position = 7_usize.saturating_sub(at).max(6_usize.saturating_sub(parts.len() - 1 - at));
    // A heading says how much the sentences below it matter, the first ones most.
    let below = part.heading.map_or(0, |heading| {
        let weight = 2 + 2 * cues(parts[heading].text).min(2);
        weight.saturating_sub((at - heading - 1) / 2)
    });
    2 * cues(part.text).min(MOST_CUES)
        + 2 * numbers(part.text).min(MOST_NUMBERS)
        + has(|letter| matches!(letter, '_' | '=' | '`' | '/' | '*'))
        + usize::from(shouted.any(is_shouted))
        + below
        + position
}

fn numbers(text: &str) -> usize {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit())).count()
}

/// How much a sentence decides, for its length.
fn density(parts: &[Part<'_>], at: usize) -> usize {
    let length = parts[at].text.chars().count();
    points(parts, at) * 1_000 / (LEAST + length).isqrt()
}

/// How many words of a text oblige, forbid, limit or order.
pub(super) fn cues(text: &str) -> usize {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let is_cue =
        |word: &&str| WORDS.contains(word) || STEMS.iter().any(|stem| word.starts_with(stem));
    words.filter(is_cue).count() + SIGNS.iter().filter(|sign| lower.contains(**sign)).count()
}

/// The sentences and headings of a text, without the blanks around them. A line ends one.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut heading) = (Vec::<Part<'_>>::new(), None);
    for (line, text) in text.lines().map(str::trim).enumerate() {
        let title = text.trim_start_matches('#');
        if title.len() < text.len() && title.starts_with(' ') {
            heading = Some(parts.len());
            parts.push(Part { text: title.trim(), is_heading: true, line, heading: None });
            continue;
        }
        let sentences = sentences(text);
        parts.extend(sentences.map(|text| Part { text, is_heading: false, line, heading }));
    }
    parts
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let sentences = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, after) = rest.split_at(end(rest));
        rest = after.trim_start();
        Some(sentence.trim_end())
    });
    sentences.filter(|sentence| !sentence.is_empty())
}

/// Where the first sentence of a line ends.
fn end(line: &str) -> usize {
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        // Not after the number of a list, or an abbreviation such as "e.g.".
        if ends && line[..at].chars().count() > 4 {
            return at + letter.len_utf8();
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn the_sentences_that_decide_are_shown() {
        let text = "The import was moved. We looked at the logs for a while. It was a nice day. \
                    Do not run it before 6 May. Somebody made tea. Next: ask the bank.";
        let short = gist(text, 90);
        assert_eq!(
            short,
            "The import was moved. … Do not run it before 6 May. … Next: ask the bank. (+72 chars)"
        );
        assert_eq!(gist(text, 1_000), text);
        let chinese = "导入已经迁移。我们看了很久日志。天气很好。六月之前不要运行它。有人泡了茶。下一步：询问银行。";
        assert!(gist(chinese, 40).contains("六月之前不要运行它。"));
    }

    #[test]
    fn the_first_sentence_is_shown_even_if_it_is_long() {
        let text = format!("{} end. Two. Three must not.", "word ".repeat(40));
        assert!(gist(&text, 60).starts_with("word word"), "{}", gist(&text, 60));
    }

    #[test]
    fn a_heading_stands_before_its_sentence() {
        let filler =
            "Nothing special happened in this part of the work, and it is told at length. ";
        let text = format!(
            "# Handoff\n\nRead this.\n\n## Colours\n\n{0}\n{0}\n\n## What blocks us\n\nThe bank \
             must send form 7 by 4 May.\n\n{0}\n{0}\n{0}",
            filler
        );
        let short = gist(&text, 110);
        assert!(short.starts_with("Read this. … What blocks us: The bank must send"), "{short}");
    }
}
