//! Readers that are more lenient than [`Timestamp::parse`](super::Timestamp::parse).

use jiff::SignedDuration;

use super::date::digits_to_number;
use super::timestamp::after_midnight;
use super::{Date, Time};

/// Reads RFC 3339 with any offset; says whether the text is in UTC (`-00:00` is not).
pub(super) fn rfc3339(text: &str) -> Option<(Time, bool)> {
    let date = Date::parse(text.get(..10)?).ok()?;
    let clock = Clock::parse(text.get(10..)?.strip_prefix(['T', 't'])?)?;
    let zone = match clock.zone {
        Zone::Missing | Zone::Offset { colon: false, .. } => return None,
        zone => zone,
    };
    // A leap second is written as the second 60.
    let second = clock.second.filter(|second| *second <= 60)?;
    let time = clock.on(date, second, clock.nanos)?;
    Some((time, matches!(zone, Zone::Utc)))
}

/// Reads a date, or a date and time, to the millisecond.
pub(super) fn iso(text: &str) -> Option<Time> {
    let Some((date, clock)) = text.split_once(['T', 't', ' ']) else {
        return Some(Date::parse(text).ok()?.start());
    };
    let clock = Clock::parse(clock)?;
    let second = clock.second.unwrap_or(0);
    let nanos = clock.nanos / 1_000_000 * 1_000_000;
    (second < 60).then(|| clock.on(Date::parse(date).ok()?, second, nanos))?
}

/// A time of day `HH:MM[:SS][.FRACTION][ZONE]`.
struct Clock {
    hour: u32,
    minute: u32,
    second: Option<u32>,
    nanos: u32,
    zone: Zone,
}

#[derive(Clone, Copy)]
enum Zone {
    Missing,
    Utc,
    Offset { seconds: i64, colon: bool },
}

impl Clock {
    fn parse(text: &str) -> Option<Self> {
        let (time, zone) = text.split_at(text.find(['Z', 'z', '+', '-']).unwrap_or(text.len()));
        let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let mut parts = whole.split(':');
        let (hour, minute) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
        let second = parts.next().map(two_digits);
        let is_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
        if parts.next().is_some() || hour > 23 || minute > 59 || !is_digits || second == Some(None)
        {
            return None;
        }
        // Further digits are below a nanosecond, and are dropped.
        let nine = fraction.bytes().chain([b'0'; 9]).take(9);
        let nanos = digits_to_number(&nine.collect::<Vec<_>>())?;
        Some(Self { hour, minute, second: second.flatten(), nanos, zone: Zone::parse(zone)? })
    }

    fn on(&self, date: Date, second: u32, nanos: u32) -> Option<Time> {
        let offset = match self.zone {
            Zone::Offset { seconds, .. } => seconds,
            Zone::Missing | Zone::Utc => 0,
        };
        let seconds = i64::from(self.hour * 3600 + self.minute * 60 + second) - offset;
        after_midnight(date, SignedDuration::new(seconds, nanos as i32))
    }
}

impl Zone {
    fn parse(text: &str) -> Option<Self> {
        let Some(offset) = text.strip_prefix(['+', '-']) else {
            return match text {
                "" => Some(Self::Missing),
                "Z" | "z" => Some(Self::Utc),
                _ => None,
            };
        };
        let (hours, minutes, colon) = match offset.split_once(':') {
            Some((hours, minutes)) => (hours, minutes, true),
            None => (offset.get(..2)?, offset.get(2..)?, false),
        };
        let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
        if hours > 23 || minutes > 59 {
            return None;
        }
        // Not `-00:00`: RFC 3339 gives it the meaning of an unknown local offset.
        if text == "+00:00" {
            return Some(Self::Utc);
        }
        let seconds = i64::from(hours * 3600 + minutes * 60);
        let seconds = if text.starts_with('-') { -seconds } else { seconds };
        Some(Self::Offset { seconds, colon })
    }
}

fn two_digits(text: &str) -> Option<u32> {
    digits_to_number(text.as_bytes()).filter(|_| text.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_in_utc_differs_from_other_offsets() {
        for text in [
            "2026-04-18T20:00:00Z",
            "2026-04-18T20:00:00.5Z",
            "2026-04-18t20:00:00.123456789z",
            "2026-04-18T20:00:00+00:00",
            "2024-02-29T23:59:60Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(Time::parse_rfc3339_utc(text).is_some(), "{text}");
        }
        for text in [
            "2026-04-18T20:00:00+02:00",
            "2026-04-18T20:00:00-00:00",
            "2026-04-18T20:00:00",
            "2026-04-18",
            "2026-02-30T00:00:00Z",
            "2026-04-18 20:00:00Z",
            "2026-04-18T24:00:00Z",
            "2026-04-18T20:00:00.Z",
            "2026-04-18T20:00:00ZZ",
            "2026-04-18T20:00:00+0000",
            "2026-04-18T20:00Z",
            "26-04-18T20:00:00Z",
            "2026-04-1éT20:00:00Z",
            "",
        ] {
            assert!(Time::parse_rfc3339_utc(text).is_none(), "{text}");
        }
    }

    #[test]
    fn offsets_and_fractions_count() {
        let at = |text| Time::parse_rfc3339(text).unwrap();
        assert_eq!(at("2026-04-18T20:00:00Z"), at("2026-04-18T22:00:00.000+02:00"));
        assert!(at("2026-04-18T20:00:00.9Z") > at("2026-04-18T20:00:00.10Z"));
        assert!(at("2026-04-18T20:00:00.9999999999Z") < at("2026-04-18T20:00:01Z"));
        assert!(at("1969-12-31T23:59:59Z") < at("1970-01-01T00:00:00Z"));
    }

    #[test]
    fn iso_texts_are_read_to_the_millisecond() {
        let read = |text| Time::parse_iso(text).map(|time| time.to_string());
        for (text, expected) in [
            ("2026-04-03T12:00:00.007Z", "2026-04-03T12:00:00.007Z"),
            ("2026-04-03 12:00:00.0079", "2026-04-03T12:00:00.007Z"),
            ("2026-04-15T00:00:05Z", "2026-04-15T00:00:05.000Z"),
            ("2026-04-15T02:00:05+02:00", "2026-04-15T00:00:05.000Z"),
            ("2026-04-15T02:00:05+0200", "2026-04-15T00:00:05.000Z"),
            ("2026-04-15T00:00:05", "2026-04-15T00:00:05.000Z"),
            ("2026-04-15T00:00", "2026-04-15T00:00:00.000Z"),
            ("1970-01-01", "1970-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(Time::parse_iso("0000-01-01"), Some(Time::MIN));
        for wrong in [
            "",
            "yesterday",
            "2026-02-30T00:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00.Z",
            "0000-01-01T00:00:00+01:00",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
