//! Takes out of a document what says where the work tree is, and the names of files that are left
//! out; and writes numbers as every reader takes them.

use accord_contract::{Object, Value};

use crate::Patterns;

/// What stands in place of the name of a file that is left out.
const EXCLUDED: &str = "[excluded]";
/// The characters around a name in a text.
const AROUND: &[char] = &[
    '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '|', '=', '!', '?', '&',
];
/// The largest integer that every reader of JSON reads exactly.
const MOST_EXACT: u64 = 1 << 53;

/// The names that no text has.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    /// Folders and what is said in their place, the innermost first.
    folders: Vec<(String, &'static str)>,
    /// Names without wildcards that have spaces, so that no word is one.
    phrases: Vec<String>,
    exclude: Patterns,
    /// The same without patterns that are about every name.
    particular: Patterns,
}

impl Hidden {
    /// Of the work tree in a folder, for the user with a home folder.
    pub fn new(root: &str, home: Option<&str>, exclude: &Patterns) -> Self {
        let folders = [(Some(root), "."), (home, "~")].into_iter();
        let folders = folders.filter_map(|(folder, word)| {
            let folder = folder?.trim_end_matches('/');
            (folder.len() > 1).then(|| (folder.to_owned(), word))
        });
        let patterns = || exclude.as_slice().iter();
        let is_phrase = |pattern: &&String| {
            pattern.contains(char::is_whitespace) && !pattern.contains(['*', '?'])
        };
        let is_particular =
            |pattern: &&String| pattern.chars().any(|it| !matches!(it, '*' | '?' | '/'));
        Self {
            folders: folders.collect(),
            phrases: patterns().filter(is_phrase).cloned().collect(),
            exclude: exclude.clone(),
            particular: Patterns::new(patterns().filter(is_particular).cloned().collect()),
        }
    }

    /// The document without them, in texts and in names of members. Integers that some readers
    /// would change are texts.
    pub fn taken_from(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.taken_from(item)).collect(),
            Value::Object(members) => {
                let members = members.into_iter();
                let members = members.map(|(name, it)| (self.text(&name), self.taken_from(it)));
                Value::Object(members.collect::<Object>())
            }
            Value::Number(number) => {
                let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
                match size {
                    Some(size) if size > MOST_EXACT => number.to_string().into(),
                    _ => Value::Number(number),
                }
            }
            other => other,
        }
    }

    fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, word) in &self.folders {
            text = replace_folder(&text, folder, word);
        }
        for phrase in &self.phrases {
            text = text.replace(phrase, EXCLUDED);
        }
        if self.exclude.as_slice().is_empty() {
            return text;
        }
        let is_around = |it: char| it.is_whitespace() || AROUND.contains(&it);
        let words = text.split_inclusive(is_around).map(|piece| {
            let end = piece.trim_end_matches(is_around);
            // The end of a sentence.
            let word = end.trim_end_matches('.');
            match self.excludes(word) {
                true => format!("{EXCLUDED}{}", &piece[word.len()..]),
                false => piece.to_owned(),
            }
        });
        words.collect()
    }

    fn excludes(&self, word: &str) -> bool {
        let is_file = word.contains(['.', '/']);
        let patterns = if is_file { &self.exclude } else { &self.particular };
        let path = word.trim_start_matches("./");
        // Git writes `a/` and `b/` before the names in a difference.
        let plain = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        let matches = |path: &str| !path.trim_matches('/').is_empty() && patterns.matches(path);
        matches(path) || plain.is_some_and(matches)
    }
}

/// Replaces the path of a folder, and not those of others that begin like it.
fn replace_folder(text: &str, folder: &str, word: &str) -> String {
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    let (mut done, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        let mut following = after.chars();
        let is_longer = match following.next() {
            Some('.') => following.next().is_some_and(is_name),
            Some(next) => is_name(next),
            None => false,
        };
        let is_inside = before.chars().next_back().is_some_and(is_name);
        done.push_str(before);
        done.push_str(if is_longer || is_inside { folder } else { word });
        rest = after;
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hidden(patterns: &[&str]) -> Hidden {
        let patterns = Patterns::new(patterns.iter().map(|it| (*it).to_owned()).collect());
        Hidden::new("/home/lead/shop", Some("/home/lead"), &patterns)
    }

    #[test]
    fn folders_have_short_names() {
        for (text, expected) in [
            ("in /home/lead/shop/a.rs", "in ./a.rs"),
            ("in /home/lead/shop.", "in .."),
            ("/home/lead/shop2/a", "~/shop2/a"),
            ("/home/leader", "/home/leader"),
            ("/mnt/home/lead/shop", "/mnt/home/lead/shop"),
            ("file:///home/lead/x", "file://~/x"),
        ] {
            assert_eq!(hidden(&[]).taken_from(json!(text)), expected, "{text}");
        }
    }

    #[test]
    fn no_text_has_the_name_of_a_file_that_is_left_out() {
        let given = hidden(&["*.env", "secret", "keys/**", "my plan.txt"]);
        for (text, expected) in [
            ("changed prod.env, and a.rs.", "changed [excluded], and a.rs."),
            ("see ./a/prod.env.", "see [excluded]."),
            ("diff --git a/prod.env b/prod.env\n", "diff --git [excluded] [excluded]\n"),
            ("--- a/keys/one.pem", "--- [excluded]"),
            ("the secret, of `secret/x`", "the [excluded], of `[excluded]`"),
            ("/home/lead/shop/keys/a", "[excluded]"),
            ("read my plan.txt now", "read [excluded] now"),
            ("nothing: a/b (c)", "nothing: a/b (c)"),
        ] {
            assert_eq!(given.taken_from(json!(text)), expected, "{text}");
        }
        let all = hidden(&["*"]);
        let expected = json!({"[excluded]": ["words", "[excluded]"]});
        assert_eq!(all.taken_from(json!({"a.b": ["words", "a.rs"]})), expected);
    }

    #[test]
    fn large_integers_are_texts() {
        let large = 9_007_199_254_740_993_i64;
        let document = json!({"a": large, "b": [-large, 5]});
        let expected = json!({"a": "9007199254740993", "b": ["-9007199254740993", 5]});
        assert_eq!(hidden(&[]).taken_from(document), expected);
    }
}
