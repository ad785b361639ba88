//! The passages of a package, which are embedded one by one.
//!
//! One vector for a long text says little about each part of it, and most models read only its
//! beginning. So a package is divided at the ends of lines. Each passage begins with the title,
//! which says what the passage is about.

use accord_memory_core::package::SearchTexts;

/// The size of a passage in bytes. It fits into the 256 tokens of small models.
pub(super) const PASSAGE: usize = 1_200;
/// The most passages of a package: about 48 KB of text. What follows is found by its words.
const MOST: usize = 40;
/// How much of the title a passage repeats, in bytes.
const TITLE: usize = 300;

/// The passages of a package with these texts. There is at least one.
pub(super) fn passages(texts: &SearchTexts) -> Vec<String> {
    let title = &texts.title[..texts.title.floor_char_boundary(TITLE)];
    let room = PASSAGE - title.len() - 1;
    let mut passages = Vec::new();
    let mut passage = title.to_owned();
    for part in [&texts.decisions, &texts.questions, &texts.handoff, &texts.body] {
        for piece in part.lines().flat_map(|line| pieces(line, room)) {
            if passage.len() > title.len() && passage.len() + 1 + piece.len() > PASSAGE {
                passages.push(std::mem::replace(&mut passage, title.to_owned()));
                if passages.len() == MOST {
                    return passages;
                }
            }
            passage.push('\n');
            passage.push_str(piece);
        }
    }
    passages.push(passage);
    passages
}

/// The pieces of a line, each of at most `room` bytes and divided at a space if there is one.
fn pieces(line: &str, room: usize) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= room {
            return Some(std::mem::take(&mut rest));
        }
        let most = &rest[..rest.floor_char_boundary(room)];
        let end = most.rfind(char::is_whitespace).filter(|end| *end > 0).unwrap_or(most.len());
        let (piece, left) = rest.split_at(end);
        rest = left.trim_start();
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use accord_memory_core::Package;
    use serde_json::json;

    use super::*;

    fn texts(title: &str, note: &str, body: &str) -> SearchTexts {
        let document = json!({
            "package_id": "p", "project_id": "atlas", "relay_version": "0.1", "title": title,
            "status": "complete", "package_type": "standard", "review_type": "none",
            "created_at": "2026-04-18T20:00:00Z", "created_by": {"id": "ada", "type": "agent"},
            "handoff_note": note, "content_md": body,
        });
        let package = Package::parse(document.to_string().as_bytes()).unwrap();
        package.fields().searchable()
    }

    #[test]
    fn a_short_package_is_one_passage() {
        assert_eq!(passages(&texts("Title", "", "")), ["Title"]);
        assert_eq!(passages(&texts("Title", "Note", "A\n\nB")), ["Title\nNote\nA\nB"]);
    }

    #[test]
    fn a_long_package_is_divided_and_nothing_is_lost() {
        let words: Vec<String> = (0..3_000).map(|number| format!("wörd{number}")).collect();
        let body = words.chunks(700).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n");
        let found = passages(&texts("Title", "Note", &body));
        assert!(found.len() > 10 && found.len() < MOST, "{}", found.len());
        for passage in &found {
            assert!(passage.len() <= PASSAGE && passage.starts_with("Title\n"), "{passage}");
        }
        let all = found.join(" ");
        let there: std::collections::HashSet<&str> = all.split_whitespace().collect();
        assert!(words.iter().all(|word| there.contains(word.as_str())));
    }

    #[test]
    fn passages_are_bounded_whatever_the_text() {
        let found = passages(&texts(&"日".repeat(200), &"本".repeat(100_000), ""));
        assert_eq!(found.len(), MOST);
        assert!(found.iter().all(|passage| passage.len() <= PASSAGE));
    }
}
