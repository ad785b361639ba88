//! An upper estimate of the tokens of a text, without the vocabulary of a tokenizer.
//!
//! The estimate follows how the public tokenizers cl100k and o200k split a text: words with the
//! space before them, groups of up to three digits, runs of punctuation, line ends. What a piece
//! costs was fitted to their counts. Common pairs of letters tell a word from random letters, such
//! as those of base64.
//!
//! Invariants:
//! - on the calibration set (`tests/suite/calibration.json`) the estimate is never below either
//!   tokenizer. Texts of rare Han characters can still be below it;
//! - two texts that do not join two letters or two digits have, joined, at most the sum of their
//!   estimates.

/// Costs are hundredths of a token.
const TOKEN: usize = 100;

const WORD: usize = 103;
/// A pair of letters that is rare in words.
const RARE_PAIR: usize = 68;
/// Each letter of a word after the sixth.
const LONG_WORD: usize = 12;
/// Each capital of a run after the third.
const CAPITAL: usize = 22;
/// Each further sign of a run that is the same as the one before it, or often follows it.
const SIGN: usize = 16;
/// Each other sign of a run.
const RARE_SIGN: usize = 80;
const LINE_END: usize = 108;
/// Each line end of a run after the second.
const BLANK_LINE: usize = 30;
const INDENT: usize = 40;
/// Blanks after which a run costs another token.
const BLANKS: usize = 64;

/// The letters that often follow each letter, from `a` to `z`, in English and in code.
const COMMON_PAIRS: [&[u8]; 26] = [
    b"bcdgilmnprst",
    b"elu",
    b"acehklort",
    b"aeio",
    b"acdeflmnpqrstvx",
    b"aio",
    b"e",
    b"aeiot",
    b"cdefglmnorstv",
    b"es",
    b"e",
    b"aeilost",
    b"aeiop",
    b"acdegiostu",
    b"cdflmnprstuw",
    b"aelortu",
    b"u",
    b"adeinorstuy",
    b"eiopstu",
    b"aehiorstuy",
    b"elmnrst",
    b"ae",
    b"i",
    b"t",
    b"p",
    b"",
];

/// The same pairs as bits: the letters that follow each letter.
const COMMON: [u32; 26] = {
    let mut rows = [0_u32; 26];
    let mut letter = 0;
    while letter < 26 {
        let mut place = 0;
        while place < COMMON_PAIRS[letter].len() {
            rows[letter] |= 1 << (COMMON_PAIRS[letter][place] - b'a');
            place += 1;
        }
        letter += 1;
    }
    rows
};

/// Estimates the tokens of a text, from above.
pub fn tokens(text: &str) -> usize {
    let mut cost = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (piece, after) = rest.split_at(piece_length(rest, first));
        cost += piece_cost(piece, first, after);
        rest = after;
    }
    cost.div_ceil(TOKEN)
}

/// The bytes of the piece with which a text begins.
fn piece_length(text: &str, first: char) -> usize {
    let run = |of: fn(&u8) -> bool| text.bytes().take_while(of).count();
    match first {
        'A'..='Z' | 'a'..='z' => {
            // Capitals, then small letters: o200k begins a new word at a capital.
            let capitals = run(u8::is_ascii_uppercase);
            let small = text[capitals..].bytes().take_while(u8::is_ascii_lowercase);
            capitals + small.count()
        }
        '0'..='9' => run(u8::is_ascii_digit),
        ' ' | '\t' | '\n' | '\r' => run(u8::is_ascii_whitespace),
        '!'..='~' => run(u8::is_ascii_punctuation),
        other => other.len_utf8(),
    }
}

fn piece_cost(piece: &str, first: char, after: &str) -> usize {
    let bytes = piece.as_bytes();
    match first {
        'A'..='Z' | 'a'..='z' => word_cost(bytes),
        '0'..='9' => bytes.len().div_ceil(3) * TOKEN,
        // A single space is part of the word or the sign after it.
        ' ' if bytes.len() == 1 => match after.bytes().next() {
            None | Some(b'0'..=b'9') => TOKEN,
            Some(_) => 0,
        },
        ' ' | '\t' | '\n' | '\r' => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            // A single space at the start of a line is part of what follows, as above.
            let is_part = bytes.ends_with(b"\n ")
                && after.bytes().next().is_some_and(|next| !next.is_ascii_digit());
            let blanks = bytes.len() - lines - usize::from(is_part);
            let long = blanks / BLANKS * TOKEN;
            match lines {
                0 => TOKEN + long,
                _ if blanks == 0 => LINE_END + lines.saturating_sub(2) * BLANK_LINE,
                _ => LINE_END + INDENT + lines.saturating_sub(2) * BLANK_LINE + long,
            }
        }
        '!'..='~' => TOKEN + bytes.windows(2).map(sign_cost).sum::<usize>(),
        other => character_cost(other),
    }
}

/// The pairs of signs that are frequent in Markdown, JSON and code, so that tokenizers join them.
const COMMON_SIGNS: [&[u8; 2]; 46] = [
    b"\":", b":\"", b"\",", b",\"", b"{\"", b"\"}", b"[{", b"}]", b"},", b"],", b"),", b");",
    b"})", b"({", b"()", b"=>", b"->", b"/*", b"*/", b"</", b"/>", b"\">", b"=\"", b"<!", b"!-",
    b"-|", b"|-", b"!=", b"+=", b"-=", b"${", b"$(", b"(\"", b"\")", b"(?", b"?:", b"[^", b".*",
    b"\\.", b"~/", b"*:", b"_(", b")]", b"([", b"['", b"']",
];

fn sign_cost(pair: &[u8]) -> usize {
    let is_common = pair[0] == pair[1] || COMMON_SIGNS.iter().any(|common| *common == pair);
    if is_common { SIGN } else { RARE_SIGN }
}

fn word_cost(word: &[u8]) -> usize {
    let is_rare = |pair: &&[u8]| {
        let [first, second] = [pair[0], pair[1]].map(|byte| byte.to_ascii_lowercase() - b'a');
        COMMON[usize::from(first)] & (1 << second) == 0
    };
    let rare = word.windows(2).filter(is_rare).count();
    let capitals = word.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    WORD + rare * RARE_PAIR
        + word.len().saturating_sub(6) * LONG_WORD
        + capitals.saturating_sub(3) * CAPITAL
}

/// The cost of a character that is not ASCII, by its block.
fn character_cost(character: char) -> usize {
    match character {
        // Control characters.
        '\0'..='\x7f' => TOKEN,
        // Latin with accents.
        '\u{80}'..='\u{24f}' => 120,
        '\u{250}'..='\u{36f}' => 150,
        // Greek.
        '\u{370}'..='\u{3ff}' => 112,
        // Cyrillic.
        '\u{400}'..='\u{52f}' => 72,
        // Armenian.
        '\u{530}'..='\u{58f}' => 200,
        // Hebrew.
        '\u{590}'..='\u{5ff}' => 122,
        // Arabic.
        '\u{600}'..='\u{77f}' => 95,
        // The scripts of India.
        '\u{900}'..='\u{dff}' => 130,
        // Thai.
        '\u{e00}'..='\u{e7f}' => 105,
        // Vietnamese.
        '\u{1e00}'..='\u{1eff}' => 150,
        // Dashes, quotes, the ellipsis.
        '\u{2000}'..='\u{206f}' => 110,
        // Arrows, mathematics, boxes, other signs.
        '\u{2070}'..='\u{2fff}' => 220,
        // Chinese, Japanese and Korean.
        '\u{3000}'..='\u{30ff}' => 115,
        '\u{4e00}'..='\u{9fff}' => 165,
        '\u{ac00}'..='\u{d7af}' => 135,
        '\u{ff00}'..='\u{ffef}' => 120,
        // Emoji.
        '\u{1f000}'..='\u{1faff}' => 310,
        // Everything else as its bytes.
        other => other.len_utf8() * TOKEN,
    }
}
