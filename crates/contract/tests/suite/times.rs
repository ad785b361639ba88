//! Points in time.

use accord_contract::time::TimeError;
use accord_contract::{Time, Timestamp};
use proptest::prelude::*;

fn unix(text: &str) -> (i64, u32) {
    let instant = Timestamp::parse(text).unwrap().time();
    (instant.unix_seconds(), instant.subsec_nanos())
}

#[test]
fn known_times_are_what_they_are() {
    // Computed with GNU date.
    for (text, seconds) in [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-04-18T20:00:00Z", 1_776_542_400),
        ("2000-02-29T23:59:59Z", 951_868_799),
        ("1969-12-31T23:59:59Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("0000-01-01T00:00:00Z", -62_167_219_200),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] {
        assert_eq!(unix(text), (seconds, 0), "{text}");
    }
    assert_eq!(unix("1970-01-01T00:00:01.5Z"), (1, 500_000_000));
    assert_eq!(unix("1970-01-01T00:00:01.000000001Z"), (1, 1));
    assert_eq!(unix("1970-01-01T00:00:01+00:00"), (1, 0));
    // A leap second is the first of the next day, as Unix time has it.
    assert_eq!(unix("2016-12-31T23:59:60Z"), unix("2017-01-01T00:00:00Z"));
}

#[test]
fn texts_that_are_no_time_in_utc_are_refused() {
    use TimeError::{Form, Fraction, Impossible, Offset};
    for (text, error) in [
        ("2026-04-18T20:00:00+02:00", Offset),
        ("2026-04-18T20:00:00-00:00", Offset),
        ("2026-04-18", Form),
        ("2026-04-18T20:00:00", Form),
        ("2026-04-18t20:00:00z", Form),
        ("2026-04-18 20:00:00Z", Form),
        ("2026-04-18T20:00Z", Form),
        ("2026-04-18T20:00:00.Z", Form),
        ("2026-04-18T20:00:00ZZ", Form),
        ("+026-04-18T20:00:00Z", Form),
        ("２026-04-18T20:00:00Z", Form),
        ("", Form),
        ("1776542400", Form),
        ("2026-02-30T00:00:00Z", Impossible),
        ("2025-02-29T00:00:00Z", Impossible),
        ("1900-02-29T00:00:00Z", Impossible),
        ("2026-13-01T00:00:00Z", Impossible),
        ("2026-00-01T00:00:00Z", Impossible),
        ("2026-04-00T00:00:00Z", Impossible),
        ("2026-04-18T24:00:00Z", Impossible),
        ("2026-04-18T20:60:00Z", Impossible),
        ("2026-04-18T23:59:60Z", Impossible),
        ("2016-12-31T22:59:60Z", Impossible),
        ("9999-12-31T23:59:60Z", Impossible),
        ("2026-04-18T20:00:00.1234567890Z", Fraction),
    ] {
        assert_eq!(Timestamp::parse(text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn the_text_is_kept_and_instants_compare_as_time() {
    let long = Timestamp::parse("2026-04-18T20:00:00.100+00:00").unwrap();
    let short = Timestamp::parse("2026-04-18T20:00:00.1Z").unwrap();
    assert_eq!(long.as_str(), "2026-04-18T20:00:00.100+00:00");
    assert_ne!(long, short);
    assert_eq!(long.time(), short.time());
    // As texts they would sort the other way.
    let later = Timestamp::parse("2026-04-18T20:00:00.5Z").unwrap();
    let earlier = Timestamp::parse("2026-04-18T20:00:00Z").unwrap();
    assert!(earlier.time() < later.time() && earlier.as_str() > later.as_str());
}

#[test]
fn what_is_emitted_has_milliseconds_and_more_only_where_it_must() {
    assert_eq!(Time::from_unix_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
    assert_eq!(Time::from_unix_millis(1_776_542_400_000).to_string(), "2026-04-18T20:00:00.000Z");
    let fine = Timestamp::parse("2026-04-18T20:00:00.0001Z").unwrap().time();
    assert_eq!(fine.to_string(), "2026-04-18T20:00:00.000100000Z");
    assert_eq!(Time::from_unix_millis(i64::MIN), Time::MIN);
    assert_eq!(Time::from_unix_millis(i64::MAX), Time::MAX);
    assert_eq!(Time::MIN.days_before(3), Time::MIN);
}

#[test]
fn a_day_is_its_first_instant() {
    let day = Time::parse_or_date("2026-04-18").unwrap();
    assert_eq!(day, Time::parse_or_date("2026-04-18T00:00:00Z").unwrap());
    assert_eq!(Time::parse_or_date("2026-02-30"), Err(TimeError::Impossible));
    assert_eq!(Time::parse_or_date("2026-2-03"), Err(TimeError::Form));
}

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same_instant(
        seconds in Time::MIN.unix_seconds()..=Time::MAX.unix_seconds(),
        nanos in prop_oneof![
            Just(0),
            0..1_000_000_000_u32,
            (0..1000_u32).prop_map(|ms| ms * 1_000_000),
        ],
        other in Time::MIN.unix_seconds()..=Time::MAX.unix_seconds(),
    ) {
        let instant = Time::from_unix(seconds, nanos).unwrap();
        prop_assert_eq!(Timestamp::parse(&instant.to_string()).unwrap().time(), instant);
        prop_assert_eq!(Timestamp::parse(&instant.sort_key()).unwrap().time(), instant);
        prop_assert_eq!(instant.sort_key().len(), 30);
        let other = Time::from_unix(other, 0).unwrap();
        prop_assert_eq!(instant.cmp(&other), instant.sort_key().cmp(&other.sort_key()));
    }

    #[test]
    fn no_text_makes_the_reader_stumble(text in "\\PC{0,40}") {
        let _ = Timestamp::parse(&text);
        let _ = Time::parse_or_date(&text);
    }
}
