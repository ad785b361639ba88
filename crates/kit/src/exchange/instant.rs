//! Moments in RFC 3339, compared as moments and not as texts.

use accord_contract::calendar::Day;

/// A moment: nanoseconds since 1970, of years 0 to 9999.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Instant(i128);

impl Instant {
    /// Reads a moment that is written in UTC, with `Z` or a zero offset.
    pub(crate) fn parse_utc(text: &str) -> Option<Self> {
        let (moment, offset) = parse(text)?;
        (offset == Some(0)).then_some(moment)
    }

    /// Reads a moment with any offset.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse(text).map(|(moment, _)| moment)
    }

    /// A moment so many seconds after 1970, as a text in UTC.
    pub(crate) fn text_of_seconds(seconds: i64) -> String {
        let (day, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        format!(
            "{}T{:02}:{:02}:{:02}Z",
            Day::from_number(day),
            rest / 3600,
            rest / 60 % 60,
            rest % 60
        )
    }
}

/// The moment, and its offset in seconds; `None` for the unknown offset `-00:00`.
fn parse(text: &str) -> Option<(Instant, Option<i64>)> {
    let bytes = text.as_bytes();
    let shape = bytes.len() > 19
        && [13, 16].iter().all(|&at| bytes[at] == b':')
        && matches!(bytes[10], b'T' | b't');
    if !shape {
        return None;
    }
    let number = |from: usize, to: usize| digits(text.get(from..to)?);
    let day = Day::parse(text.get(..10)?).ok()?;
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // A leap second is written as the second 60.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (nanos, rest) = fraction(text.get(19..)?)?;
    let offset = offset(rest)?;
    let seconds =
        day.number() * DAY + hour * 3600 + minute * 60 + second - offset.unwrap_or_default();
    let moment = Instant(i128::from(seconds) * 1_000_000_000 + i128::from(nanos));
    Some((moment, offset))
}

/// What stands after a point, to the nanosecond, and what follows it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(after) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = after
        .find(|next: char| !next.is_ascii_digit())
        .unwrap_or(after.len());
    let (digits_there, rest) = after.split_at(end);
    if digits_there.is_empty() {
        return None;
    }
    let nine: String = digits_there
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    Some((digits(&nine)?, rest))
}

fn offset(text: &str) -> Option<Option<i64>> {
    if matches!(text, "Z" | "z") {
        return Some(Some(0));
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = sign * (hours * 3600 + minutes * 60);
    Some((seconds != 0 || sign > 0).then_some(seconds))
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::Instant;

    #[test]
    fn moments_in_utc_are_read_and_others_are_told_apart() {
        for text in [
            "2026-04-18T20:00:00Z",
            "2026-04-18T20:00:00.5Z",
            "2026-04-18t20:00:00.123456789z",
            "2026-04-18T20:00:00+00:00",
            "2024-02-29T23:59:60Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(Instant::parse_utc(text).is_some(), "{text}");
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
            "26-04-18T20:00:00Z",
            "2026-04-1éT20:00:00Z",
            "",
        ] {
            assert!(Instant::parse_utc(text).is_none(), "{text}");
        }
    }

    #[test]
    fn moments_compare_as_moments() {
        let at = |text| Instant::parse(text).unwrap();
        assert_eq!(
            at("2026-04-18T20:00:00Z"),
            at("2026-04-18T22:00:00.000+02:00")
        );
        assert!(at("2026-04-18T20:00:00.9Z") > at("2026-04-18T20:00:00.10Z"));
        assert!(at("2026-04-18T20:00:00.9999999999Z") < at("2026-04-18T20:00:01Z"));
        assert!(at("1969-12-31T23:59:59Z") < at("1970-01-01T00:00:00Z"));
    }

    #[test]
    fn seconds_are_written_in_utc() {
        assert_eq!(
            Instant::text_of_seconds(951_868_799),
            "2000-02-29T23:59:59Z"
        );
        assert_eq!(Instant::text_of_seconds(-1), "1969-12-31T23:59:59Z");
    }
}
