//! Pages of lists within a budget of tokens.
//!
//! Invariants:
//! - a page ends before the first item that does not fit. The next page begins with it;
//! - an item that no page of this budget can hold is shown as its head: id, title and size;
//! - a page that has candidates shows at least one of them.

use accord_base::tokens;
use serde_json::Value;

use crate::text::ObjectText;

/// Tokens for the names of a page's members and its numbers.
const FRAME: usize = 60;
/// The longest title in a head, in characters.
const LONGEST_TITLE: usize = 120;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FittedPage {
    /// How many items are shown, whole or as heads.
    pub shown: usize,
    /// The heads of items that are too large, as JSON, with their places.
    pub too_large: Vec<(usize, String)>,
}

/// The part of a page that fits into a budget. `head` gives the head of the item at a place, and
/// `cursor` the cursor behind it.
pub fn fit_page<'t>(
    items: impl IntoIterator<Item = &'t str>,
    head: impl Fn(usize) -> String,
    cursor: impl Fn(usize) -> String,
    budget: usize,
) -> FittedPage {
    let most = budget.saturating_sub(FRAME);
    let (mut room, mut page) = (most, FittedPage::default());
    for (place, text) in items.into_iter().enumerate() {
        let cursor = tokens(&cursor(place));
        // One more for the comma.
        let cost = tokens(text) + 1;
        if cost + cursor <= room {
            room -= cost;
            page.shown += 1;
            continue;
        }
        if cost + cursor <= most {
            break;
        }
        let head = head(place);
        let cost = tokens(&head) + 1;
        if cost + cursor > room && place > 0 {
            break;
        }
        room = room.saturating_sub(cost);
        page.too_large.push((place, head));
        page.shown += 1;
    }
    page
}

/// The head of a document: some of its members, shortened, and its size in tokens.
pub fn document_head(text: &str, members: &[&str]) -> String {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let mut head = ObjectText::new();
    for (place, name) in members.iter().enumerate() {
        let Some(value) = read.get(name).and_then(Value::as_str) else { continue };
        // The first is the id, which stays whole.
        let end = value.char_indices().nth(LONGEST_TITLE).filter(|_| place > 0);
        head = match end {
            Some((end, _)) => head.value(name, format!("{}…", &value[..end])),
            None => head.value(name, value),
        };
    }
    head.value("tokens", tokens(text)).finish()
}

#[cfg(test)]
mod tests {
    use super::{document_head, fit_page};
    use accord_base::tokens;

    #[test]
    fn a_page_ends_before_the_first_item_that_does_not_fit() {
        let small = "\"a small item of a list\"".to_owned();
        let large = format!("{{\"id\":\"x\",\"title\":\"T\",\"b\":\"{}\"}}", "and on ".repeat(200));
        let items = [&small, &small, &large, &small].map(String::as_str);
        let head = |place: usize| document_head(items[place], &["id", "title"]);
        let budget = 60 + 3 * (tokens(&small) + 1) + 10;
        let page = fit_page(items, head, |_| "cursor".to_owned(), budget);
        // The large item alone exceeds the budget, so only its head is shown.
        let expected = format!("{{\"id\":\"x\",\"title\":\"T\",\"tokens\":{}}}", tokens(&large));
        assert_eq!((page.shown, page.too_large), (3, vec![(2, expected)]));
        let page = fit_page(items, head, |_| "cursor".to_owned(), 5_000);
        assert_eq!((page.shown, page.too_large.len()), (4, 0));
        // It would fit into the next page, so this one ends before it.
        let budget = 60 + tokens(&large) + 10;
        let page = fit_page(items, head, |_| "cursor".to_owned(), budget);
        assert_eq!((page.shown, page.too_large.len()), (2, 0));
        assert_eq!(fit_page([large.as_str()], head, |_| String::new(), 1).shown, 1);
    }
}
