//! Hours in which nothing is sent.

use accord_contract::Time;

const DAY: i64 = 24 * 60;

/// Hours of each day, such as `22:00-07:00+01:00`: from the first time to the second, with the
/// offset of the place from UTC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quiet {
    /// In minutes of the day.
    from: i64,
    to: i64,
    offset: i64,
}

impl Quiet {
    /// Reads hours.
    pub fn parse(text: &str) -> Option<Self> {
        let from = minutes(text.get(..5)?)?;
        let rest = text.get(5..)?.strip_prefix('-')?;
        let to = minutes(rest.get(..5)?)?;
        let offset = match rest.get(5..)? {
            "" => 0,
            offset => match offset.split_at_checked(1)? {
                ("+", offset) => minutes(offset)?,
                ("-", offset) => -minutes(offset)?,
                _ => return None,
            },
        };
        let fits = from < DAY && to < DAY && from != to && offset.abs() <= 14 * 60;
        fits.then_some(Self { from, to, offset })
    }

    /// Whether nothing is sent at a time.
    pub fn covers(self, now: Time) -> bool {
        let now = (now.unix_seconds().div_euclid(60) + self.offset).rem_euclid(DAY);
        match self.from < self.to {
            true => (self.from..self.to).contains(&now),
            false => now >= self.from || now < self.to,
        }
    }
}

/// A time of the day in minutes.
fn minutes(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| -> Option<i64> {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}
