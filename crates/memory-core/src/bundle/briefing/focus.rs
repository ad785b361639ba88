//! Ranking by the words of a focus.

use super::item::Item;
use crate::PackageId;
use crate::bundle::snippet::matches;
use crate::query::Terms;

/// How much of a text is compared, in bytes.
const LOOKED_AT: usize = 64 * 1024;

/// Puts the packages that a search for the focus found first, in its order, then the items with the
/// most words of the focus. Equal ones keep their order.
pub(super) fn rank(items: &mut [Item<'_>], terms: &Terms, about: &[PackageId]) {
    items.sort_by_cached_key(|item| {
        let place = about.iter().position(|id| item.has(id)).unwrap_or(about.len());
        let mut found = vec![false; terms.words().len()];
        item.texts(&mut |text| {
            let text = &text[..text.floor_char_boundary(LOOKED_AT)];
            matches(text, terms, &mut found);
        });
        (place, std::cmp::Reverse(found.into_iter().filter(|found| *found).count()))
    });
}
