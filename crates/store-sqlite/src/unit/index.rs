//! What the full-text index keeps about packages besides their terms. SQLite keeps the number of
//! terms of every row and their sums, each as a sequence of varints: seven bits per byte, the
//! highest first, and a bit that says whether another byte follows.

use accord_store::{PARTS, Result};

use super::Unit;
use crate::error::damaged;

/// The columns of the index, one for each part of a package.
pub(super) const COLUMNS: [&str; PARTS] = ["title", "decisions", "questions", "handoff", "body"];

impl Unit<'_> {
    /// The number of terms of each part of a package, if the package is in the index.
    pub(super) fn lengths_of(&self, package: i64) -> Result<Option<[u64; PARTS]>> {
        let sql = "SELECT sz FROM package_terms_docsize WHERE id = ?1";
        self.one(sql, (package,), |row| lengths(row.bytes(0)?))
    }

    /// The average number of terms of a package, over all projects; at least one.
    pub(super) fn average_terms(&self) -> Result<f64> {
        let sql = "SELECT block FROM package_terms_data WHERE id = 1";
        let average = self.one(sql, (), |row| {
            let mut numbers = varints(row.bytes(0)?);
            let packages = numbers.next().unwrap_or_default();
            Ok(numbers.sum::<u64>() as f64 / packages as f64)
        })?;
        Ok(average.filter(|average| average.is_finite()).unwrap_or_default().max(1.0))
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
