//! Points in time, to the millisecond, as governed records write them.
//!
//! Invariants:
//! - an [`Instant`] compares as time, whatever offset its text had;
//! - what an instant is written as, read again, is the same instant.

use std::fmt;

use accord_contract::calendar::Day;

const DAY: i64 = 86_400_000;

/// A point in time from year 0 to year 9999: milliseconds since the start of 1970 in UTC.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(i64);

impl Instant {
    /// The first instant that has a text.
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// The last instant that has a text.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The instant so many milliseconds after the start of 1970; what lies outside the
    /// years that have a text becomes the nearest that has one.
    pub fn from_unix_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Milliseconds since the start of 1970.
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// The instant so many minutes later.
    #[must_use]
    pub fn minutes_later(self, minutes: u64) -> Self {
        let millis = i64::try_from(minutes.saturating_mul(60_000)).unwrap_or(i64::MAX);
        Self::from_unix_millis(self.0.saturating_add(millis))
    }

    /// Milliseconds from an earlier instant to this one; zero when it is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Reads a date, or a date and time with `Z`, an offset, or (as UTC) neither.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, clock) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, clock),
            None => (text, "00:00:00Z"),
        };
        let days = Day::parse(date).ok()?.number();
        let millis = days.checked_mul(DAY)?.checked_add(of_day(clock)?)?;
        (Self::MIN.0..=Self::MAX.0)
            .contains(&millis)
            .then_some(Self(millis))
    }
}

impl fmt::Display for Instant {
    /// ISO 8601 in UTC with milliseconds.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = Day::from_number(self.0.div_euclid(DAY));
        let rest = self.0.rem_euclid(DAY);
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
        let (second, millis) = (rest / 1000 % 60, rest % 1000);
        write!(
            formatter,
            "{day}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

fn number(digits: &str, length: usize) -> Option<i64> {
    let sound = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
    sound.then(|| digits.parse().ok()).flatten()
}

/// Milliseconds since midnight in UTC of a time of day, with its offset.
fn of_day(clock: &str) -> Option<i64> {
    let at = clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len());
    let (time, zone) = (clock.get(..at)?, clock.get(at..)?);
    let offset = match zone {
        "" | "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = match zone.get(1..)?.split_once(':') {
                Some(pair) => pair,
                None => (zone.get(1..3)?, zone.get(3..)?),
            };
            let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * 60 + minutes) * 60_000
        }
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = whole.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |text| number(text, 2))?;
    let sound = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !sound || !digits {
        return None;
    }
    let shown: String = fraction.chars().chain("00".chars()).take(3).collect();
    let millis: i64 = shown.parse().ok()?;
    Some(((hour * 60 + minute) * 60 + second) * 1000 + millis - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_instants_agree() {
        let text = "2026-04-03T12:00:00.007Z";
        assert_eq!(Instant::parse(text).unwrap().to_string(), text);
        for same in [
            "2026-04-15T00:00:05Z",
            "2026-04-15T02:00:05+02:00",
            "2026-04-15T00:00:05",
        ] {
            assert_eq!(
                Instant::parse(same).unwrap().to_string(),
                "2026-04-15T00:00:05.000Z"
            );
        }
        assert_eq!(Instant::parse("1970-01-01"), Some(Instant(0)));
        assert_eq!(Instant::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Instant::parse("0000-01-01"), Some(Instant::MIN));
        for wrong in [
            "",
            "yesterday",
            "2026-02-30T00:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00:00.Z",
        ] {
            assert_eq!(Instant::parse(wrong), None, "{wrong}");
        }
    }
}
