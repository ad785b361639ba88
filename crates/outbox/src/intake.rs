//! Which entries of a request the hub applies.

use accord_contract::{Code, Failure};

/// What the hub does with a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Intake {
    /// Applies the entries after this many. The entries between the position and the first of them
    /// are lost, if there are any.
    Apply { skip: usize, lost: u64 },
    /// Applies nothing: the entries begin after a gap. The edge learns the position and sends again
    /// from there.
    Gap,
}

/// What a hub at a position does with `count` entries from the number `first` on.
pub fn intake(position: u64, first: u64, count: usize, lost_through: Option<u64>) -> Intake {
    if count == 0 {
        return Intake::Apply { skip: 0, lost: 0 };
    }
    let next = position.saturating_add(1);
    if first > next {
        return match lost_through {
            Some(lost) if lost.saturating_add(1) >= first => {
                Intake::Apply { skip: 0, lost: first - next }
            }
            _ => Intake::Gap,
        };
    }
    let skip = usize::try_from(next - first).unwrap_or(usize::MAX);
    Intake::Apply { skip: skip.min(count), lost: 0 }
}

/// Checks that numbers begin with 1 or more and have no gap.
pub fn check_numbers(numbers: impl Iterator<Item = u64>) -> Result<(), Failure> {
    let mut last: Option<u64> = None;
    for (place, number) in numbers.enumerate() {
        let is_next = last.map_or(number > 0, |last| last.checked_add(1) == Some(number));
        if !is_next {
            let message = "the numbers of entries are consecutive and begin with 1";
            let at = format!("/entries/{place}/seq");
            return Err(Failure::new(Code::WireFieldValue, message).at(at));
        }
        last = Some(number);
    }
    Ok(())
}
