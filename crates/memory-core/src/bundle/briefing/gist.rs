//! The parts of a long text that decide.
//!
//! A text is cut into sentences. Those are shown that decide most for their length: with words of
//! obligation, correction or reason, dates, names of code, words in capitals, words of the focus,
//! or below such a heading, and where there is room the first and the last one. They keep their
//! order, and a heading stands before the first of its sentences. A sentence is shown once.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::cues::cues;
use super::shorten::{beginning, mark, shorten, size};
use crate::bundle::snippet::matches;
use crate::query::Terms;

/// What a sentence costs besides its size.
const LEAST: usize = 100;

/// The most such words of a sentence that count, and the most numbers.
const MOST_CUES: usize = 3;
const MOST_NUMBERS: usize = 3;
/// From this size on, the first and the last sentence are shown, too.
const WITH_ENDS: usize = 500;
/// From this size on, headings are shown.
const WITH_HEADINGS: usize = 300;
/// A sentence that decides is shown whole up to this size.
const WHOLE: usize = 220;

/// What the reader of a text knows and asks.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// The title, which stands before the text. A sentence that repeats it comes late.
    pub(super) title: &'a str,
    /// The focus. Sentences with its words come early.
    pub(super) focus: Option<&'a Terms>,
}

/// The text, or its sentences that decide, of a size of about `most`.
pub(super) fn gist(text: &str, most: usize, reader: Reader<'_>) -> String {
    let parts = parts(text);
    let mut given = BTreeSet::new();
    let is_new = |at: &usize| !parts[*at].is_heading && given.insert(parts[*at].text);
    let sentences: Vec<usize> = (0..parts.len()).filter(is_new).collect();
    if size(text) <= most || sentences.len() < 2 {
        return shorten(text, most);
    }
    let mut order: Vec<usize> = sentences.clone();
    let ends = (sentences[0], sentences[sentences.len() - 1]);
    order.sort_by_cached_key(|at| Reverse(density(&parts, *at, ends, reader)));
    let shown = vec![None; parts.len()];
    let mut choice = Choice { parts: &parts, shown, room: most, with_headings: true };
    if most >= WITH_ENDS {
        choice.take_first(ends.0, most);
        if choice.cost(ends.1) <= choice.room / 3 {
            choice.take(ends.1);
        }
    } else {
        choice.with_headings = most >= WITH_HEADINGS;
        choice.take_first(order[0], most.max(WHOLE));
    }
    for at in order {
        if choice.shown[at].is_none() && choice.cost(at) <= choice.room {
            choice.take(at);
        }
    }
    choice.written(text.chars().count(), most >= WITH_LINES)
}

/// How much the sentence of a text that decides most says.
pub(super) fn weight(text: &str) -> usize {
    let parts = parts(text);
    let sentences = (0..parts.len()).filter(|at| !parts[*at].is_heading);
    sentences.map(|at| says(parts[at].text)).max().unwrap_or_default()
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
    /// Whether a heading stands before the first of its sentences.
    with_headings: bool,
}

impl Choice<'_> {
    /// The characters of a sentence, with its heading if that is not shown yet.
    fn cost(&self, at: usize) -> usize {
        let heading = self.heading(at).filter(|heading| self.shown[*heading].is_none());
        let parts = heading.into_iter().chain([at]);
        parts.map(|part| size(self.parts[part].text) + 3).sum()
    }

    /// The heading that is shown before a sentence.
    fn heading(&self, at: usize) -> Option<usize> {
        self.parts[at].heading.filter(|_| self.with_headings)
    }

    /// This sentence is shown in any case. A title above the first one says no more than that of
    /// its package.
    fn take_first(&mut self, at: usize, most: usize) {
        let text = self.parts[at].text;
        let short = beginning(text, most);
        let cut = if short.len() < text.len() { "…" } else { "" };
        self.room = self.room.saturating_sub(size(short) + 3);
        self.shown[at] = Some(format!("{short}{cut}"));
        let heading = self.heading(at);
        let is_first = self.parts[..at].iter().all(|part| part.is_heading);
        if is_first {
            for part in 0..at {
                self.shown[part].get_or_insert_default();
            }
        } else if let Some(heading) = heading {
            self.shown[heading] = Some(self.parts[heading].text.to_owned());
        }
    }

    fn take(&mut self, at: usize) {
        self.room = self.room.saturating_sub(self.cost(at));
        for part in self.heading(at).into_iter().chain([at]) {
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
        text.push_str(if gap { "" } else { " " });
        format!("{text}{}", mark(more))
    }
}

/// How much a sentence decides.
fn points(parts: &[Part<'_>], at: usize, ends: (usize, usize)) -> usize {
    let part = &parts[at];
    let position = match at {
        _ if at == ends.0 => 3,
        _ if at == ends.1 => 2,
        _ if at == ends.0 + 1 => 1,
        _ => 0,
    };
    // A heading says how much the sentences below it matter, the first ones most.
    let below = part.heading.map_or(0, |heading| {
        let weight = 2 + 2 * cues(parts[heading].text).min(3);
        weight.saturating_sub((at - heading - 1) / 2)
    });
    says(part.text) + below + position
}

/// How much a sentence says by itself.
fn says(text: &str) -> usize {
    let has = |is: fn(char) -> bool| usize::from(text.contains(is));
    let mut shouted = text.split(|letter: char| !letter.is_ascii_alphabetic());
    let is_shouted =
        |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    2 + 2 * cues(text).min(2 * MOST_CUES)
        + numbers(text).min(MOST_NUMBERS)
        + 2 * has(|letter| matches!(letter, '_' | '=' | '`' | '/' | '*'))
        + usize::from(shouted.any(is_shouted))
}

fn numbers(text: &str) -> usize {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit())).count()
}

/// How much a sentence decides, for its size.
fn density(parts: &[Part<'_>], at: usize, ends: (usize, usize), reader: Reader<'_>) -> usize {
    let text = parts[at].text;
    let asked = reader.focus.map_or(0, |terms| {
        let mut found = vec![false; terms.words().len()];
        matches(text, terms, &mut found);
        FOCUSED * found.into_iter().filter(|found| *found).count()
    });
    let points = (points(parts, at, ends) + asked) * 1_000 / (LEAST + size(text)).isqrt();
    if repeats(text, reader.title) || text.starts_with('|') { points / 2 } else { points }
}

/// How much each word of the focus adds.
const FOCUSED: usize = 3;

/// Whether most words of a sentence are in the title.
fn repeats(text: &str, title: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| word.chars().count() > 3).map(str::to_owned).collect()
    };
    let (own, title) = (words(text), words(title));
    own.iter().filter(|word| title.contains(*word)).count() * 2 >= own.len().max(1)
}

/// The sentences and headings of a text, without the blanks around them. A line ends one.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut heading) = (Vec::<Part<'_>>::new(), None);
    for (line, text) in text.lines().map(str::trim).enumerate() {
        if is_rule(text) {
            continue;
        }
        if let Some(title) = title(text) {
            heading = Some(parts.len());
            parts.push(Part { text: title, is_heading: true, line, heading: None });
            continue;
        }
        let text = match lead(text) {
            Some((title, rest)) => {
                heading = Some(parts.len());
                parts.push(Part { text: title, is_heading: true, line, heading: None });
                rest
            }
            None => text,
        };
        let sentences = sentences(text);
        parts.extend(sentences.map(|text| Part { text, is_heading: false, line, heading }));
    }
    parts
}

/// The text of a heading: a line that begins with `#`, or a short one that ends with a colon.
fn title(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    if title.len() < line.len() && title.starts_with(' ') {
        return Some(title.trim());
    }
    let bold = line.trim_matches('*');
    let is_bold = bold.len() + 4 == line.len();
    let title = if is_bold { Some(bold) } else { line.strip_suffix(':') };
    title.filter(|title| title.chars().count() <= LONGEST_TITLE && !title.contains(". "))
}

/// The bold words with which a line begins, which are its heading, and the rest.
fn lead(line: &str) -> Option<(&str, &str)> {
    let (title, rest) = line.strip_prefix("**")?.split_once("**")?;
    let is_title = !title.is_empty() && title.chars().count() <= LONGEST_TITLE;
    let title = title.trim_end_matches(['.', ':']);
    (is_title && !rest.trim().is_empty()).then(|| (title, rest.trim_start_matches(':').trim()))
}

/// The longest line that is a heading by its end.
const LONGEST_TITLE: usize = 60;

/// Whether a line only draws, such as that below the head of a table.
fn is_rule(line: &str) -> bool {
    !line.contains(char::is_alphanumeric)
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
    use super::{Reader, weight};

    fn gist(text: &str, most: usize) -> String {
        super::gist(text, most, Reader { title: "Import", focus: None })
    }

    #[test]
    fn the_sentences_that_decide_are_shown() {
        let text = "The import was moved. We looked at the logs for a while. It was a nice day. \
                    Do not run it before 6 May. Somebody made tea. Next: ask the bank.";
        let short = gist(text, 90);
        assert_eq!(
            short,
            "The import was moved. … Do not run it before 6 May. … Next: ask the bank. …"
        );
        assert_eq!(gist(text, 1_000), text);
        let chinese = "导入已经迁移。我们看了很久日志。天气很好。六月之前不要运行它。有人泡了茶。下一步：询问银行。";
        assert!(gist(chinese, 40).contains("六月之前不要运行它。"));
    }

    #[test]
    fn a_sentence_that_decides_is_not_cut() {
        let rule = "Never restart the second node before the backup of the night is complete, \
                    because its queue is only in memory.";
        let text = format!("We looked at the nodes. {rule} It was a long day.");
        assert!(gist(&text, 60).starts_with(rule), "{}", gist(&text, 60));
        assert!(weight(&text) > weight("We looked at the nodes. It was a long day."));
    }

    #[test]
    fn what_the_title_says_is_not_repeated() {
        let text = "Cookies expire early. The clock of the proxy is wrong. More follows.";
        let reader = Reader { title: "Cookies expire too early", focus: None };
        assert!(super::gist(text, 40, reader).starts_with("The clock"), "{text}");
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
        let short = gist(&text, 310);
        assert!(short.contains("What blocks us: The bank must send form 7 by 4 May."), "{short}");
        let bold = text.replace("## What blocks us\n\n", "**What blocks us.** ");
        assert!(gist(&bold, 310).contains("What blocks us: The bank must send"), "{bold}");
    }
}
