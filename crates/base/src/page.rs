//! Pages of lists. A page ends at the limit of the request or at [`MAX_BYTES`], whichever is first.

/// A page of a list: documents as they are stored.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Page {
    /// The documents, each a JSON text.
    pub items: Vec<String>,
    pub next_cursor: Option<String>,
    /// The ids of damaged documents that belong on this page.
    pub damaged: Vec<String>,
    pub budgeted: Option<Budgeted>,
}

/// What is special about a page with a budget of tokens.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Budgeted {
    /// The number of documents after this page.
    pub remaining: u64,
    /// The heads of documents that are too large for any page, each a JSON text.
    pub too_large: Vec<String>,
}

/// A page ends after the item with which it exceeds this size.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How many rows are read at once, so that few of them are in memory besides the page.
const ROWS: usize = 32;

/// Fills a page with at most `limit` rows after a position. Returns the position after which the
/// next page starts, or `None` at the end of the list.
///
/// `read` returns at most the given number of rows after a position. `take` adds a row to the page
/// and returns its size in bytes, or `None` when it leaves the row out; such a row does not count.
pub fn fill_page<R, P, E>(
    limit: usize,
    mut after: Option<P>,
    mut read: impl FnMut(Option<&P>, usize) -> Result<Vec<R>, E>,
    position: impl Fn(&R) -> P,
    mut take: impl FnMut(R) -> Result<Option<usize>, E>,
) -> Result<Option<P>, E> {
    let (mut taken, mut bytes) = (0, 0);
    loop {
        // One more than needed, because the answer says whether the list goes on.
        let wanted = (limit - taken).saturating_add(1).min(ROWS);
        let rows = read(after.as_ref(), wanted)?;
        let perhaps_more = rows.len() == wanted;
        for row in rows {
            // Checked before the next item, so that a page has at least one, however large.
            if taken == limit || bytes > MAX_BYTES {
                return Ok(after);
            }
            let next = position(&row);
            if let Some(size) = take(row)? {
                taken += 1;
                bytes += size;
            }
            // Also after a row that was left out, so that the next page does not read it again.
            after = Some(next);
        }
        if !perhaps_more {
            return Ok(None);
        }
    }
}
