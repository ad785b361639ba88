//! Moments in RFC 3339, compared as moments and not as texts.

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
        let (year, month, date) = civil(day);
        format!(
            "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
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
        && [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')]
            .iter()
            .all(|&(at, sign)| bytes[at] == sign)
        && matches!(bytes[10], b'T' | b't');
    if !shape {
        return None;
    }
    let number = |from: usize, to: usize| digits(text.get(from..to)?);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // A leap second is written as the second 60.
    let exists = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !exists {
        return None;
    }
    let (nanos, rest) = fraction(text.get(19..)?)?;
    let offset = offset(rest)?;
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second
        - offset.unwrap_or_default();
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

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years are counted from March, so that a leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The other way round: year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    let year = era * 400 + year + i64::from(month <= 2);
    (year, month, day)
}

const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::{Instant, civil, days};

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
    fn days_and_dates_are_each_other() {
        for day in [-719_468, -1, 0, 11_016, 20_000, 2_932_896] {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
        }
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(
            Instant::text_of_seconds(951_868_799),
            "2000-02-29T23:59:59Z"
        );
        assert_eq!(Instant::text_of_seconds(-1), "1969-12-31T23:59:59Z");
    }
}
