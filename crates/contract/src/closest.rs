//! Which of the known names somebody may have meant.

/// The known name that is most like `meant`, where one is like it at all: it holds the other, or
/// few letters differ.
pub fn closest<'a>(meant: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let meant = plain(meant);
    if meant.is_empty() || meant.len() > LONGEST {
        return None;
    }
    let rated = known.into_iter().filter_map(|name| {
        let plain = plain(name);
        let steps = steps(&meant, &plain);
        let holds = meant.len() > 2 && (plain.contains(&meant) || meant.contains(&plain));
        let like = steps <= 1 + meant.len().max(plain.len()) / 4;
        (like || holds).then_some((steps, name))
    });
    rated.min().map(|(_, name)| name)
}

/// Names that are longer are not compared: nobody mistypes them.
const LONGEST: usize = 64;

/// Case, dashes and underscores make no difference.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// How many letters must be changed, added or removed to make one of the other.
pub fn steps(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, candidate) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *candidate);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, steps};

    #[test]
    fn names_that_were_meant_are_found() {
        let known = [
            "project_id",
            "title",
            "decisions_made",
            "open_questions",
            "content_md",
        ];
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

    #[test]
    fn steps_are_counted() {
        assert_eq!(steps("kitten", "sitting"), 3);
        assert_eq!(steps("", "abc"), 3);
        assert_eq!(steps("same", "same"), 0);
    }
}
