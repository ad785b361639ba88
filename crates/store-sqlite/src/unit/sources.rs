//! The newest packages that ask a question, as a text in the row of the question.
//!
//! Each has three parts: its sort key, its number and its id. The separator is U+0000, which no
//! part can contain. The newest is first, and there are at most [`MAX_SOURCES`].

use accord_store::{MAX_SOURCES, Result};

use crate::error::damaged;

/// A package that asks.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Source<'t> {
    pub(super) key: &'t str,
    pub(super) package: i64,
    pub(super) id: &'t str,
}

/// The packages of a text.
pub(super) fn read(text: &str) -> impl Iterator<Item = Result<Source<'_>>> {
    let mut pieces = text.split('\0');
    std::iter::from_fn(move || {
        let key = pieces.next()?;
        let package = pieces.next().and_then(|package| package.parse().ok());
        let source = package.zip(pieces.next()).map(|(package, id)| Source { key, package, id });
        Some(source.ok_or_else(|| damaged("a source")))
    })
}

/// The text of packages, newest first.
pub(super) fn write<'t>(sources: impl IntoIterator<Item = Source<'t>>) -> String {
    let mut text = String::new();
    for Source { key, package, id } in sources {
        let between = if text.is_empty() { "" } else { "\0" };
        text.push_str(&format!("{between}{key}\0{package}\0{id}"));
    }
    text
}

/// The text with one more package; `None` if it is included already, or older than all others.
pub(super) fn add(text: &str, new: Source<'_>) -> Result<Option<String>> {
    let mut sources = read(text).collect::<Result<Vec<_>>>()?;
    let place = sources.partition_point(|source| *source > new);
    if place >= MAX_SOURCES || sources.iter().any(|source| source.package == new.package) {
        return Ok(None);
    }
    sources.insert(place, new);
    sources.truncate(MAX_SOURCES);
    Ok(Some(write(sources)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(package: i64) -> Source<'static> {
        Source { key: "2026-04-18T20:00:00", package, id: "an id\n\twith anything" }
    }

    fn numbers(text: &str) -> Vec<i64> {
        read(text).map(|source| source.unwrap().package).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let all = [source(9), source(3)];
        let text = write(all);
        assert_eq!(read(&text).collect::<Result<Vec<_>>>().unwrap(), all);
        assert!(read("2026\0x\0id").next().unwrap().is_err());
    }

    #[test]
    fn the_newest_are_kept() {
        let mut text = write([source(50)]);
        for package in [10, 70, 70, 60, 20, 30, 40, 90, 80, 11, 12, 13] {
            text = add(&text, source(package)).unwrap().unwrap_or(text);
        }
        assert_eq!(numbers(&text), [90, 80, 70, 60, 50, 40, 30, 20, 13, 12]);
        assert_eq!(add(&text, source(5)).unwrap(), None);
    }
}
