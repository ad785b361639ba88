//! Times in documents, for people.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::Timestamp;

use super::text::clean;

/// How precisely the times of a list are shown: to the minute, or finer if two different times
/// would look the same.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Times(Precision);

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Precision {
    #[default]
    Minutes,
    Seconds,
    Everything,
}

impl Times {
    pub(crate) fn among<'a>(times: impl Iterator<Item = &'a str>) -> Self {
        let times: BTreeSet<&str> = times.collect();
        let are_distinct = |precision: Precision| {
            let mut shown: BTreeMap<String, &str> = BTreeMap::new();
            times.iter().all(|time| shown.insert(show(time, precision), time).is_none())
        };
        let fit = [Precision::Minutes, Precision::Seconds].into_iter().find(|it| are_distinct(*it));
        Self(fit.unwrap_or(Precision::Everything))
    }

    /// The precision for these times, as far as they are there.
    pub(crate) fn of_times<'a>(times: impl Iterator<Item = Option<&'a Timestamp>>) -> Self {
        Self::among(times.flatten().map(Timestamp::as_str))
    }

    /// A time of the list; empty if there is none.
    pub(crate) fn at(self, time: Option<&Timestamp>) -> String {
        time.map(|time| self.show_text(time.as_str())).unwrap_or_default()
    }

    pub(crate) fn show_text(self, text: &str) -> String {
        show(text, self.0)
    }
}

fn show(text: &str, precision: Precision) -> String {
    let (Some(day), Some("T" | "t" | " "), Some(minute)) =
        (text.get(..10), text.get(10..11), text.get(11..16))
    else {
        return clean(text);
    };
    let rest = &text[16..];
    // The offset is behind the seconds and their fraction: Z, +02:00, or nothing.
    let end = rest.find(|letter: char| !matches!(letter, ':' | '.' | '0'..='9'));
    let (seconds, offset) = rest.split_at(end.unwrap_or(rest.len()));
    let seconds = match precision {
        Precision::Minutes => "",
        Precision::Seconds => seconds.get(..3).unwrap_or(seconds),
        Precision::Everything => seconds,
    };
    clean(&format!("{day} {minute}{seconds}{}", offset.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_to_the_minute_in_their_own_offset() {
        for (time, shown) in [
            ("2026-04-18T20:01:02.5Z", "2026-04-18 20:01Z"),
            ("2026-04-18t20:01:02z", "2026-04-18 20:01Z"),
            ("2026-04-18T20:01:02+02:00", "2026-04-18 20:01+02:00"),
            ("2026-04-18T20:01:02.123-05:30", "2026-04-18 20:01-05:30"),
            ("2026-04-18T20:01", "2026-04-18 20:01"),
            ("soon", "soon"),
        ] {
            assert_eq!(Times::default().show_text(time), shown);
        }
        assert_eq!(Times::default().at(None), "");
    }

    #[test]
    fn times_of_a_list_are_distinguished() {
        let shown = |times: &[&str]| {
            let precision = Times::among(times.iter().copied());
            times.iter().map(|time| precision.show_text(time)).collect::<Vec<_>>()
        };
        let (first, second) = ("2026-04-18T20:01:02.250Z", "2026-04-18T20:01:03.250Z");
        assert_eq!(shown(&[first, first]), ["2026-04-18 20:01Z", "2026-04-18 20:01Z"]);
        assert_eq!(shown(&[first, second]), ["2026-04-18 20:01:02Z", "2026-04-18 20:01:03Z"]);
        assert_eq!(
            shown(&[first, "2026-04-18T20:01:02.251Z"]),
            ["2026-04-18 20:01:02.250Z", "2026-04-18 20:01:02.251Z"]
        );
    }
}
