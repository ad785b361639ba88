//! The newest packages that ask a question, as a text in the row of the question. Each has three
//! parts: its sort key, its number and its id. The separator is U+0000, which no part can contain.

use accord_store::derived::QuestionSource;

/// The packages of a text; none if one of them cannot be read.
pub(super) fn read(text: &str) -> Vec<QuestionSource> {
    let mut pieces = text.split('\0');
    let mut sources = Vec::new();
    while let Some(key) = pieces.next() {
        let package = pieces.next().and_then(|package| package.parse().ok());
        let Some((package, id)) = package.zip(pieces.next()) else { return Vec::new() };
        sources.push(QuestionSource { key: key.to_owned(), package, id: id.to_owned() });
    }
    sources
}

pub(super) fn write(sources: &[QuestionSource]) -> String {
    let mut text = String::new();
    for QuestionSource { key, package, id } in sources {
        let between = if text.is_empty() { "" } else { "\0" };
        text.push_str(&format!("{between}{key}\0{package}\0{id}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let source = |package| QuestionSource {
            key: "2026-04-18T20:00:00".to_owned(),
            package,
            id: "an id\n\twith anything".to_owned(),
        };
        let all = [source(9), source(3)];
        assert_eq!(read(&write(&all)), all);
        assert_eq!(read(&format!("{}\02026\0x\0id", write(&all))), []);
    }
}
