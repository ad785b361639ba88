//! Sort keys of instants: texts whose byte order is the order of time. Engines order rows by these
//! texts, and count packages and questions by their prefixes.

use accord_contract::{Time, Timestamp};

/// The key of an instant: date and time, and the fraction of the second without trailing zeros.
pub fn of(instant: Time) -> String {
    let mut key = instant.sort_key();
    // Without the zeros keys are shorter, and the order is the same: a prefix sorts first.
    key.truncate(key.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.').len());
    key
}

/// The instant of a key.
pub fn time(key: &str) -> Option<Time> {
    let stamp = Timestamp::parse(&format!("{key}Z")).ok()?;
    Some(stamp.time())
}

/// A span of time whose keys have a common prefix.
#[derive(Clone, Copy, Debug)]
pub enum Span {
    /// A day.
    Day,
    /// An hour.
    Hour,
    /// A minute.
    Minute,
}

impl Span {
    /// The prefix of the span that contains the instant of a key.
    pub fn of(self, key: &str) -> &str {
        let length = match self {
            Self::Day => "2026-04-18".len(),
            Self::Hour => "2026-04-18T20".len(),
            Self::Minute => "2026-04-18T20:00".len(),
        };
        // Every key has seconds; a shorter text is not a key, and is returned whole.
        key.get(..length).unwrap_or(key)
    }

    /// A text that sorts after every key of the span, and before every later key.
    pub fn end(self, key: &str) -> String {
        // "~" is after every character of a key in ASCII.
        format!("{}~", self.of(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_instants_do_and_read_back() {
        let times = [
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999999999Z",
            "1970-01-01T00:00:00Z",
            "2026-04-18T20:00:00Z",
            "2026-04-18T20:00:00.000000001Z",
            "2026-04-18T20:00:00.05Z",
            "2026-04-18T20:00:00.5Z",
            "2026-04-18T20:00:00.51Z",
            "2026-04-18T20:00:01Z",
            "2026-04-18T20:10:00Z",
            "9999-12-31T23:59:59.999999999Z",
        ];
        let instants = times.map(|text| Timestamp::parse(text).unwrap().time());
        let keys = instants.map(of);
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(keys[3], "2026-04-18T20:00:00");
        for (key, expected) in keys.iter().zip(instants) {
            assert_eq!(time(key), Some(expected), "{key}");
        }
    }

    #[test]
    fn a_span_holds_its_keys_and_no_others() {
        let at = |text: &str| of(Timestamp::parse(text).unwrap().time());
        let [first, last, next] =
            ["2026-04-18T20:00:00Z", "2026-04-18T20:59:59.999999999Z", "2026-04-18T21:00:00Z"]
                .map(at);
        let hour = Span::Hour.of(&first);
        assert_eq!(hour, "2026-04-18T20");
        assert!(hour < first.as_str() && first < last && last < Span::Hour.end(&first));
        assert!(Span::Hour.end(&first) < next && next < Span::Day.end(&first));
        assert!(Span::Minute.end(&first) < last);
    }
}
