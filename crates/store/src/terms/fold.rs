//! Removes case and accents.

/// Appends `word` without case, accents and marks to a text; at most `limit` characters of it.
pub(super) fn fold(word: &str, limit: usize, folded: &mut String) {
    if word.is_ascii() {
        folded.push_str(&word[..word.len().min(limit)]);
        folded.make_ascii_lowercase();
        return;
    }
    let mut left = limit;
    for character in word.chars().filter(|c| !is_mark(*c)) {
        // Lower case can add a mark: `İ` becomes `i` and a combining dot.
        for lower in character.to_lowercase().filter(|c| !is_mark(*c)) {
            let plain = plain(lower);
            if plain.is_empty() {
                folded.push(lower);
            } else {
                folded.push_str(plain);
            }
            left -= 1;
            if left == 0 {
                return;
            }
        }
    }
}

/// Whether it is a combining accent, which follows its letter.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Whether its script has no spaces between words.
pub(super) fn is_dense(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}'        // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Burmese
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3005}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3400}'..='\u{9fff}'    // Han
        | '\u{ac00}'..='\u{d7af}'    // Hangul, whose words take endings
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// A small Latin letter without its accent; empty for any other character.
fn plain(letter: char) -> &'static str {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ǐ' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ǒ' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ǔ' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => "",
    }
}
