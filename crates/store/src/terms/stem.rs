//! Removes the endings of English words, by Porter's algorithm of 1980. A word is a sequence of
//! runs of vowels and consonants, `[C](VC)^m[V]`. Most endings are removed only if the number `m`
//! of pairs in the rest is large enough.

/// Removes the ending of an English word. Other words do not change.
pub(super) fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    plurals(word);
    past_and_gerund(word);
    if word.ends_with('y') && has_vowel(&word[..word.len() - 1]) {
        swap(word, 1, "i");
    }
    replace_first(word, &LONG, 0);
    replace_first(word, &SHORTER, 0);
    residues(word);
    final_letters(word);
}

/// Endings that become shorter ones.
const LONG: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const SHORTER: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Endings that are removed if enough of the word remains; longer ones are first.
const RESIDUES: [&str; 18] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
];

fn plurals(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        swap(word, 2, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        swap(word, 1, "");
    }
}

fn past_and_gerund(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            swap(word, 1, "");
        }
        return;
    }
    let Some(ending) = ["ed", "ing"].into_iter().find(|ending| word.ends_with(ending)) else {
        return;
    };
    let rest = word.len() - ending.len();
    if !has_vowel(&word[..rest]) {
        return;
    }
    word.truncate(rest);
    let doubled = ends_double(word) && !word.ends_with(['l', 's', 'z']);
    if ["at", "bl", "iz"].into_iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if doubled {
        word.pop();
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn residues(word: &mut String) {
    let found = RESIDUES.into_iter().find(|ending| ends(word, ending));
    let ending = match found {
        Some(ending) => ending,
        None if word.ends_with("sion") || word.ends_with("tion") => "ion",
        None => return,
    };
    if measure(&word[..word.len() - ending.len()]) > 1 {
        swap(word, ending.len(), "");
    }
}

fn final_letters(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e') {
        let left = measure(rest);
        if left > 1 || (left == 1 && !ends_short(rest)) {
            swap(word, 1, "");
        }
    }
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        swap(word, 1, "");
    }
}

/// Replaces the first matching ending of a table, if enough of the word remains.
fn replace_first(word: &mut String, table: &[(&str, &str)], least: usize) {
    // The longer ending is first where one ends in another, such as `ational` and `tional`.
    let found = table.iter().find(|(ending, _)| ends(word, ending));
    if let Some((ending, instead)) = found
        && measure(&word[..word.len() - ending.len()]) > least
    {
        swap(word, ending.len(), instead);
    }
}

/// Whether a word has an ending. The last letter is compared first, which rules out most.
fn ends(word: &str, ending: &str) -> bool {
    word.as_bytes().last() == ending.as_bytes().last() && word.ends_with(ending)
}

fn swap(word: &mut String, length: usize, instead: &str) {
    word.truncate(word.len() - length);
    word.push_str(instead);
}

/// How many runs of vowels are followed by consonants.
fn measure(word: &str) -> usize {
    let mut pairs = 0;
    let mut after_vowel = false;
    for vowel in vowels(word) {
        pairs += usize::from(after_vowel && !vowel);
        after_vowel = vowel;
    }
    pairs
}

fn has_vowel(word: &str) -> bool {
    vowels(word).any(|vowel| vowel)
}

/// Whether it ends in the same consonant twice.
fn ends_double(word: &str) -> bool {
    let [.., a, b] = word.as_bytes() else { return false };
    a == b && vowels(word).last() == Some(false)
}

/// Whether it ends in consonant, vowel, consonant, and the last is none of w, x and y.
fn ends_short(word: &str) -> bool {
    let kinds: Vec<bool> = vowels(word).collect();
    matches!(kinds.as_slice(), [.., false, true, false]) && !word.ends_with(['w', 'x', 'y'])
}

/// Whether each letter is a vowel; `y` is one after a consonant.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    let mut last = true;
    word.bytes().map(move |letter| {
        last = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => !last,
            _ => false,
        };
        last
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn endings_go() {
        for (word, stem) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("decisiveness", "decis"),
            ("migrations", "migrat"),
            ("migrating", "migrat"),
            ("hopeful", "hope"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controlling", "control"),
            ("roll", "roll"),
            ("as", "as"),
            ("v2s", "v2s"),
        ] {
            let mut found = word.to_owned();
            super::stem(&mut found);
            assert_eq!(found, stem, "{word}");
        }
    }
}
