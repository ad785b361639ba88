//! Pages of lists: as many as asked for, as few as fit.

use accord_store::{ReadUnit, Table};

use super::Work;

/// A page of a list: documents as they are stored.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The documents, each a JSON text.
    pub items: Vec<String>,
    /// Where the list goes on, where it does.
    pub next_cursor: Option<String>,
    /// The ids of what would be here were it not damaged.
    pub damaged: Vec<String>,
}

/// The ids of rows of a table that a unit met and that cannot be read.
pub(crate) fn unreadable(unit: &dyn ReadUnit, table: Table) -> Vec<String> {
    let met = unit.damage().into_iter();
    let met = met.filter(|row| row.table == table);
    met.map(|row| row.id).collect()
}

/// A page ends after the item with which it has more bytes than this; the cursor goes on from there.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// So many rows are in memory at once, besides those that were taken.
const ROWS: usize = 32;

/// Takes at most `limit` rows behind a place, and gives the place from which the list goes on, where it
/// does.
///
/// `read` gives at most so many rows behind a place. `take` takes a row and says how many bytes that
/// adds to the answer; `None` when the row is left out, and then it does not count.
pub(crate) fn walk<R, P>(
    limit: usize,
    mut after: Option<P>,
    mut read: impl FnMut(Option<&P>, usize) -> Work<Vec<R>>,
    position: impl Fn(&R) -> P,
    mut take: impl FnMut(R) -> Work<Option<usize>>,
) -> Work<Option<P>> {
    let (mut taken, mut bytes) = (0, 0);
    loop {
        // One more than wanted: whether the list goes on is part of the answer.
        let wanted = (limit - taken).saturating_add(1).min(ROWS);
        let rows = read(after.as_ref(), wanted)?;
        let perhaps_more = rows.len() == wanted;
        for row in rows {
            if taken == limit || bytes > MOST_BYTES {
                return Ok(after);
            }
            let place = position(&row);
            if let Some(size) = take(row)? {
                taken += 1;
                bytes += size;
            }
            after = Some(place);
        }
        if !perhaps_more {
            return Ok(None);
        }
    }
}
