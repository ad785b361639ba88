//! Checks about lists: order, distinctness, and intervals of time.

use std::cmp::Ordering;

use accord_canon::{Profile, canonicalize};
use accord_contract::{Time, Value};

use super::checks::Judged;
use super::places::Located;
use crate::case::{Comparison, Order};
use crate::report::Difference;

pub(super) fn distinct(judged: &Judged<'_>) -> Vec<Difference> {
    let places = judged.places();
    let mut seen = std::collections::BTreeSet::new();
    let again = places.iter().find(|place| !seen.insert(key(place.value)));
    again.map(|place| judged.difference(&place.pointer, place.value.clone())).into_iter().collect()
}

pub(super) fn consecutive(judged: &Judged<'_>) -> Vec<Difference> {
    let places = judged.places();
    let number = |place: &Located<'_>| match place.value {
        // The ids of server-sent events are texts.
        Value::String(text) => text.parse::<i64>().ok(),
        value => value.as_i64(),
    };
    let gap = places.windows(2).find(|pair| {
        let (one, next) = (number(&pair[0]), number(&pair[1]));
        one.is_none() || next.is_none() || one.map(|one| one + 1) != next
    });
    gap.map(|pair| judged.difference(&pair[1].pointer, pair[1].value.clone())).into_iter().collect()
}

pub(super) fn sorted(judged: &Judged<'_>, place: &Located<'_>) -> Vec<Difference> {
    let Some(items) = place.value.as_array() else {
        return vec![judged.difference(&place.pointer, place.value.clone())];
    };
    let by = judged.check.by.as_deref().unwrap_or_default();
    let keys = items.iter().map(|item| item.pointer(by).cloned().unwrap_or_default());
    let keys: Vec<Value> = keys.collect();
    let comparison = judged.check.comparison.unwrap_or(Comparison::Text);
    let wrong = match judged.check.order.unwrap_or(Order::Ascending) {
        Order::Ascending => Ordering::Greater,
        Order::Descending => Ordering::Less,
    };
    // Each with itself first: a key of the wrong type must not count as sorted.
    let in_order = keys.iter().all(|one| compare(comparison, one, one).is_some())
        && keys.windows(2).all(|pair| compare(comparison, &pair[0], &pair[1]) != Some(wrong));
    if in_order { Vec::new() } else { vec![judged.difference(&place.pointer, keys)] }
}

/// Intervals by start; an empty one comes before another with the same start.
pub(super) fn joined_intervals(judged: &Judged<'_>, place: &Located<'_>) -> Vec<Difference> {
    let found = || vec![judged.difference(&place.pointer, place.value.clone())];
    let Some(mut intervals) = intervals(judged, place.value) else { return found() };
    // An open end sorts last among equal starts, so that an empty interval does not come after it.
    intervals.sort_by_key(|(start, end)| (*start, end.is_none(), *end));
    let gaps = judged.check.gaps.unwrap_or(false);
    let forwards = intervals.iter().all(|(start, end)| end.is_none_or(|end| *start <= end));
    let joined = intervals.windows(2).all(|pair| match pair[0].1 {
        Some(end) => end == pair[1].0 || (gaps && end < pair[1].0),
        None => false,
    });
    let ends = intervals.last().is_some_and(|(_, end)| gaps || end.is_none());
    if forwards && joined && ends { Vec::new() } else { found() }
}

/// Whether two lists have the same items, in any order.
pub(super) fn same_items(wanted: &Value, found: &Value) -> bool {
    let keys = |list: &Value| -> Option<Vec<String>> {
        let mut keys: Vec<String> = list.as_array()?.iter().map(key).collect();
        keys.sort_unstable();
        Some(keys)
    };
    keys(wanted).is_some_and(|wanted| keys(found) == Some(wanted))
}

fn intervals(judged: &Judged<'_>, list: &Value) -> Option<Vec<(Time, Option<Time>)>> {
    let start = judged.check.start.as_deref().unwrap_or_default();
    let end = judged.check.end.as_deref().unwrap_or_default();
    let moment = |value: &Value| Time::parse_rfc3339(value.as_str()?);
    let interval = |item: &Value| -> Option<(Time, Option<Time>)> {
        let ends = match item.get(end) {
            None | Some(Value::Null) => None,
            Some(value) => Some(moment(value)?),
        };
        Some((moment(item.get(start)?)?, ends))
    };
    list.as_array()?.iter().map(interval).collect()
}

fn compare(comparison: Comparison, one: &Value, other: &Value) -> Option<Ordering> {
    match comparison {
        Comparison::Instant => {
            let moment = |value: &Value| Time::parse_rfc3339(value.as_str()?);
            Some(moment(one)?.cmp(&moment(other)?))
        }
        Comparison::Number => one.as_f64()?.partial_cmp(&other.as_f64()?),
        Comparison::Text => Some(one.as_str()?.cmp(other.as_str()?)),
    }
}

/// A text that is the same for equal values.
fn key(value: &Value) -> String {
    let text = value.to_string();
    match canonicalize(Profile::Jcs, text.as_bytes()) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => text,
    }
}
