//! What the full-text index keeps about packages besides their terms. SQLite keeps the number of
//! terms of every row and their sums, each as a sequence of varints: seven bits per byte, the
//! highest first, and a bit that says whether another byte follows.

use accord_store::{PARTS, Result};

use super::Unit;
use super::column::Row;
use crate::error::damaged;

/// The columns of the index, one for each part of a package.
pub(super) const COLUMNS: [&str; PARTS] = ["title", "decisions", "questions", "handoff", "body"];

impl Unit<'_> {
    /// The number of terms of each part of a package, if the package is in the index.
    pub(super) fn lengths_of(&self, package: i64) -> Result<Option<[u64; PARTS]>> {
        let sql = "SELECT sz FROM package_terms_docsize WHERE id = ?1";
        self.one(sql, (package,), |row| lengths(row.bytes(0)?))
    }

    /// The number of terms of all packages of a project in the index.
    pub(super) fn terms_of(&self, project: i64) -> Result<u64> {
        let sql = "SELECT d.sz FROM package p CROSS JOIN package_terms_docsize d ON d.id = p.pk
            WHERE p.project = ?1";
        let mut terms = 0;
        let read = |row: &Row<'_>| Ok(lengths(row.bytes(0)?)?.iter().sum::<u64>());
        self.each(sql, (project,), read, |length| {
            terms += length;
            true
        })?;
        Ok(terms)
    }

    /// Sets the number of terms of a project to that of its packages in the index.
    pub(super) fn count_terms(&self, project: i64) -> Result<()> {
        let terms = super::number(self.terms_of(project)?);
        self.write("UPDATE counter SET terms = ?2 WHERE project = ?1", (project, terms))
    }
}

/// The number of terms of each part of a package, as the index keeps them.
pub(super) fn lengths(bytes: &[u8]) -> Result<[u64; PARTS]> {
    let mut numbers = varints(bytes);
    let mut lengths = [0; PARTS];
    for length in &mut lengths {
        *length = numbers.next().ok_or_else(|| damaged("the lengths of a package"))?;
    }
    Ok(lengths)
}

fn varints(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let mut number = 0;
        let mut length = 0;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            length += 1;
            // The ninth byte has no bit that says whether another follows.
            if length == 9 {
                return Some(number << 8 | u64::from(*byte));
            }
            number = number << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_sqlite_writes_them() {
        let bytes = [0x00, 0x7f, 0x81, 0x00, 0x86, 0x8d, 0x1f];
        assert_eq!(varints(&bytes).collect::<Vec<_>>(), [0, 127, 128, 100_000 - 1]);
        assert_eq!(varints(&[0xff; 9]).collect::<Vec<_>>(), [u64::MAX]);
        assert_eq!(varints(&[0x81]).count(), 0);
    }
}
