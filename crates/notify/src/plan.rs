//! Whether a receiver is told an item, and from when on.

use accord_base::inbox::Urgency;
use accord_contract::Time;

use crate::pace::REPEAT_SECONDS;

/// What a receiver was told before, or will be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Earlier {
    /// How urgent it was then.
    pub urgency: Urgency,
    /// When it was told; `None` if it waits.
    pub told_at: Option<Time>,
}

/// From when on a receiver is told an item; `None` if it is not told.
///
/// `same` is what it was told about the item, `source` the last that it was told about an item of
/// the same kind and subject. An item that goes and comes again is another one, so that a source
/// that comes and goes is told at most once in five minutes, unless it became more urgent.
pub fn plan(
    urgency: Urgency,
    now: Time,
    same: Option<Earlier>,
    source: Option<Earlier>,
) -> Option<Time> {
    if same.is_some_and(|earlier| earlier.urgency <= urgency) {
        return None;
    }
    let again = source.filter(|earlier| earlier.urgency <= urgency).and_then(|it| it.told_at);
    // A time that is still to come is one of a clock that was set back.
    let again = again.filter(|told| *told <= now).map(|told| told.add_seconds(REPEAT_SECONDS));
    Some(again.map_or(now, |again| again.max(now)))
}
