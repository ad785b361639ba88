//! Pages within a budget of tokens.

use accord_base::{Budgeted, Page, fill_page, tokens};
use accord_memory_core::bundle::{document_head, fit_page};

use super::{UnitError, UnitResult};

/// The items of a page, and where the next page starts.
pub(crate) struct Listed<T, P> {
    /// The items, each with its position in the list.
    pub(crate) items: Vec<(T, P)>,
    pub(crate) next: Option<P>,
}

pub(crate) struct Writing<'w, T, P> {
    pub(crate) max_tokens: Option<u32>,
    pub(crate) text: fn(&T) -> &str,
    /// The members that name a document, its id first.
    pub(crate) head: &'w [&'w str],
    pub(crate) cursor: &'w dyn Fn(&P) -> String,
}

impl<P: Clone> Writing<'_, String, P> {
    /// A page of at most `limit` texts after a position. `text` returns the text of a row, the id
    /// of a damaged row, or `None` for a row that is left out.
    pub(crate) fn page<R>(
        &self,
        (limit, after): (u32, Option<P>),
        read: impl FnMut(Option<&P>, usize) -> UnitResult<Vec<R>>,
        position: impl Fn(&R) -> P,
        mut text: impl FnMut(R) -> UnitResult<Result<String, Option<String>>>,
        unreadable: impl FnOnce() -> Vec<String>,
        total: impl FnOnce(&P) -> UnitResult<u64>,
    ) -> UnitResult<Page> {
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        let next = fill_page::<_, _, UnitError>(limit as usize, after, read, &position, |row| {
            let place = position(&row);
            let text = text(row)?.map_err(|id| damaged.extend(id)).ok();
            let bytes = text.as_ref().map(String::len);
            items.extend(text.map(|text| (text, place)));
            Ok(bytes)
        })?;
        damaged.extend(unreadable());
        let listed = Listed { items, next };
        let (items, next_cursor, budgeted) = listed.within(self, &damaged, total)?;
        Ok(Page { items, next_cursor, damaged, budgeted })
    }
}

impl<T, P: Clone> Listed<T, P> {
    /// Shortens the page to its budget. `named` are the ids that it names besides its items: those
    /// of damaged and superseded ones. `total` counts what the list has after a position.
    pub(crate) fn within(
        self,
        writing: &Writing<'_, T, P>,
        named: &[String],
        total: impl FnOnce(&P) -> UnitResult<u64>,
    ) -> UnitResult<(Vec<T>, Option<String>, Option<Budgeted>)> {
        let Self { mut items, mut next } = self;
        let mut budgeted = None;
        if let Some(max_tokens) = writing.max_tokens {
            let named: usize = named.iter().map(|id| tokens(id) + 4).sum();
            let page = fit_page(
                items.iter().map(|(item, _)| (writing.text)(item)),
                |place| document_head((writing.text)(&items[place].0), writing.head),
                |place| (writing.cursor)(&items[place].1),
                (max_tokens as usize).saturating_sub(named),
            );
            if page.shown < items.len() {
                next = items.get(page.shown.saturating_sub(1)).map(|(_, place)| place.clone());
                items.truncate(page.shown);
            }
            let remaining = next.as_ref().map(total).transpose()?.unwrap_or_default();
            for (place, _) in page.too_large.iter().rev() {
                items.remove(*place);
            }
            let too_large = page.too_large.into_iter().map(|(_, head)| head).collect();
            budgeted = Some(Budgeted { remaining, too_large });
        }
        let items = items.into_iter().map(|(item, _)| item).collect();
        Ok((items, next.as_ref().map(writing.cursor), budgeted))
    }
}
