//! Splitting JSON text without parsing its values.
//!
//! A package must be passed on exactly as it was hashed, so it is cut out of the text and never
//! serialised again.

/// The members of an object: each name as it is written between its quotes, and its value.
pub fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut members = Vec::new();
    let mut rest = text.trim_start().strip_prefix('{')?;
    while let Some(more) = next(rest, '}', members.is_empty())? {
        let (name, after) = value(more)?;
        let name = name.strip_prefix('"')?.strip_suffix('"')?;
        let after = after.trim_start().strip_prefix(':')?;
        let (member, after) = value(after)?;
        members.push((name, member));
        rest = after;
    }
    Some(members)
}

pub fn items(text: &str) -> Option<Vec<&str>> {
    let mut items = Vec::new();
    let mut rest = text.trim_start().strip_prefix('[')?;
    while let Some(more) = next(rest, ']', items.is_empty())? {
        let (item, after) = value(more)?;
        items.push(item);
        rest = after;
    }
    Some(items)
}

/// What follows the comma before the next part; the inner `None` at the closing bracket.
fn next(rest: &str, close: char, first: bool) -> Option<Option<&str>> {
    let rest = rest.trim_start();
    if rest.starts_with(close) {
        return Some(None);
    }
    if first {
        return Some(Some(rest));
    }
    rest.strip_prefix(',').map(Some)
}

/// The value at the beginning of a text, and what comes after it.
fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (place, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => continue,
            }
            if depth == 0 && !in_string {
                return Some(text.split_at(place + 1));
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => {
                return (place > 0).then(|| text.split_at(place));
            }
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(text.split_at(place + 1));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{items, members};

    #[test]
    fn parts_are_cut_out_as_they_are() {
        let text = r#" { "a" : 1.0 ,"b":["x,]}", {"y":"\\\""}, [ ] ],"c\n":null,"d":{} } "#;
        let cut = members(text).unwrap();
        assert_eq!(
            cut,
            [("a", "1.0"), ("b", r#"["x,]}", {"y":"\\\""}, [ ] ]"#), (r"c\n", "null"), ("d", "{}")]
        );
        let cut = items(cut[1].1).unwrap();
        assert_eq!(cut, [r#""x,]}""#, r#"{"y":"\\\""}"#, "[ ]"]);
        assert_eq!(items("[]").unwrap(), Vec::<&str>::new());
        assert_eq!(items("[ 1, true ,\"\" ]").unwrap(), ["1", "true", "\"\""]);
    }

    #[test]
    fn what_is_no_such_text_has_no_parts() {
        for text in ["", "1", "{", "{\"a\"", "{\"a\":}", "{\"a\":1", "[1 2]", "[1,", "{a:1}"] {
            assert_eq!((members(text), items(text)), (None, None), "{text}");
        }
    }
}
