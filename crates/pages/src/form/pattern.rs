//! A regular expression as a sentence, if it is one of the simple kind that names a form.

/// What a text that matches looks like; none if the pattern is not simple.
pub(super) fn sentence(pattern: &str) -> Option<String> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let mut rest: Vec<char> = inner.chars().rev().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut literal = String::new();
    while let Some(letter) = rest.pop() {
        let set = match letter {
            '[' => Some(class(&mut rest)?),
            '\\' => match rest.pop()? {
                'd' => Some("digit".to_owned()),
                'w' => Some("letter, digit or _".to_owned()),
                'S' => Some("character that is no space".to_owned()),
                's' => Some("space".to_owned()),
                other if !other.is_alphanumeric() => {
                    push(other, &mut literal, &mut rest, &mut parts)?;
                    None
                }
                _ => return None,
            },
            '.' => Some("character".to_owned()),
            '(' | ')' | '|' | '^' | '$' | '*' | '+' | '?' | '{' => return None,
            other => {
                push(other, &mut literal, &mut rest, &mut parts)?;
                None
            }
        };
        if let Some(set) = set {
            flush(&mut literal, &mut parts);
            parts.push(counted(&set, count(&mut rest)?));
        }
    }
    flush(&mut literal, &mut parts);
    if parts.is_empty() || parts.len() > MOST_PARTS {
        return None;
    }
    Some(parts.join(", then "))
}

/// A form with more parts is not easier to read as a sentence.
const MOST_PARTS: usize = 8;

/// Takes a letter that stands for itself, with how often it comes.
fn push(
    letter: char,
    literal: &mut String,
    rest: &mut Vec<char>,
    parts: &mut Vec<String>,
) -> Option<()> {
    match count(rest)? {
        (1, Some(1)) => literal.push(letter),
        times => {
            flush(literal, parts);
            parts.push(counted(&format!("“{letter}”"), times));
        }
    }
    Some(())
}

fn flush(literal: &mut String, parts: &mut Vec<String>) {
    if !literal.is_empty() {
        parts.push(format!("“{}”", std::mem::take(literal)));
    }
}

/// A set of characters, after its opening bracket.
fn class(rest: &mut Vec<char>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let mut singles = String::new();
    loop {
        let letter = match rest.pop()? {
            ']' => break,
            '^' if names.is_empty() && singles.is_empty() => return None,
            '\\' => match rest.pop()? {
                'd' => {
                    names.push("digit".to_owned());
                    continue;
                }
                'w' => {
                    names.push("letter, digit, _".to_owned());
                    continue;
                }
                other if !other.is_alphanumeric() => other,
                _ => return None,
            },
            other => other,
        };
        if rest.last() == Some(&'-') && rest.get(rest.len().wrapping_sub(2)) != Some(&']') {
            rest.pop();
            let end = rest.pop()?;
            names.push(range(letter, end)?);
        } else {
            singles.push(letter);
        }
    }
    // Letters of both cases are letters.
    let (small, large) = ("small letter".to_owned(), "capital letter".to_owned());
    if names.contains(&small) && names.contains(&large) {
        names.retain(|name| *name != small && *name != large);
        names.insert(0, "letter".to_owned());
    }
    names.extend(singles.chars().map(|letter| format!("“{letter}”")));
    let last = names.pop()?;
    Some(match names.is_empty() {
        true => last,
        false => format!("{} or {last}", names.join(", ")),
    })
}

fn range(from: char, to: char) -> Option<String> {
    match (from, to) {
        ('a', 'z') => Some("small letter".to_owned()),
        ('A', 'Z') => Some("capital letter".to_owned()),
        ('0', '9') => Some("digit".to_owned()),
        (from, to) if from <= to => Some(format!("{from} to {to}")),
        _ => None,
    }
}

/// How often what stands before it comes: at least, and at most.
fn count(rest: &mut Vec<char>) -> Option<(u32, Option<u32>)> {
    let times = match rest.last() {
        Some('?') => (0, Some(1)),
        Some('*') => (0, None),
        Some('+') => (1, None),
        Some('{') => {
            rest.pop();
            let mut text = String::new();
            loop {
                match rest.pop()? {
                    '}' => break,
                    letter => text.push(letter),
                }
            }
            return match text.split_once(',') {
                None => text.parse().ok().map(|exactly| (exactly, Some(exactly))),
                Some((least, "")) => Some((least.parse().ok()?, None)),
                Some((least, most)) => Some((least.parse().ok()?, Some(most.parse().ok()?))),
            };
        }
        _ => return Some((1, Some(1))),
    };
    rest.pop();
    // A lazy or possessive count is not for people.
    (!matches!(rest.last(), Some('?' | '+'))).then_some(times)
}

fn counted(set: &str, (least, most): (u32, Option<u32>)) -> String {
    // Only a set of one kind has a plural.
    let many = |count: &str| match set {
        "digit" | "letter" | "small letter" | "capital letter" | "character" | "space" => {
            format!("{count} {set}s")
        }
        _ => format!("{count} times {set}"),
    };
    let article = if set.starts_with('“') { String::new() } else { "a ".to_owned() };
    match (least, most) {
        (1, Some(1)) => format!("{article}{set}"),
        (0, Some(1)) => format!("perhaps {article}{set}"),
        (0, None) => many("any number of"),
        (1, None) => many("one or more"),
        (least, None) => many(&format!("at least {least}")),
        (least, Some(most)) if least == most => many(&least.to_string()),
        (least, Some(most)) => many(&format!("{least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simple_pattern_is_a_sentence() {
        for (pattern, words) in [
            (r"^[A-Z]{2}-\d{4}$", Some("2 capital letters, then “-”, then 4 digits")),
            (
                r"^v\d+\.\d+\.\d+$",
                Some(
                    "“v”, then one or more digits, then “.”, then one or more digits, then “.”, \
                     then one or more digits",
                ),
            ),
            ("^[a-zA-Z]+$", Some("one or more letters")),
            ("^[a-z0-9-]{1,20}$", Some("1 to 20 times small letter, digit or “-”")),
            ("^[0-9a-f]{7,40}$", Some("7 to 40 times digit or a to f")),
            ("^ab?c$", Some("“a”, then perhaps “b”, then “c”")),
            ("^(a|b)$", None),
            ("^[^x]$", None),
            ("[a-z]", None),
            ("^$", None),
            (r"^\bword$", None),
        ] {
            assert_eq!(sentence(pattern).as_deref(), words, "{pattern}");
        }
    }
}
