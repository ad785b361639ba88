//! Suggestions for mistyped names.

/// The closest known name, if it contains `meant`, is contained in it, or differs in few letters.
pub fn closest<'a>(meant: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let meant = plain(meant);
    if meant.is_empty() || meant.len() > LONGEST {
        return None;
    }
    let rated = known.into_iter().filter_map(|name| {
        let plain = plain(name);
        let distance = strsim::levenshtein(&meant, &plain);
        // One or two letters are contained in nearly every name.
        let contains = meant.len() > 2 && (plain.contains(&meant) || meant.contains(&plain));
        // Long names may differ in more letters than short ones.
        let like = distance <= 1 + meant.len().max(plain.len()) / 4;
        (like || contains).then_some((distance, name))
    });
    rated.min().map(|(_, name)| name)
}

/// Longer names are not compared: they come from programs, not from typing, and cost time.
const LONGEST: usize = 64;

/// A name without case, dashes and underscores.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn names_that_were_meant_are_found() {
        let known = ["project_id", "title", "decisions_made", "open_questions", "content_md"];
        for (meant, expected) in [
            ("projectId", Some("project_id")),
            ("project", Some("project_id")),
            ("titel", Some("title")),
            ("decisions", Some("decisions_made")),
            ("questions", Some("open_questions")),
            ("content", Some("content_md")),
            ("zebra", None),
            ("", None),
        ] {
            assert_eq!(closest(meant, known), expected, "{meant}");
        }
    }
}
