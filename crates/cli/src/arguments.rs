//! Parsers for arguments.

use std::time::Duration;

use accord_contract::Timestamp;

pub(crate) fn timestamp(text: &str) -> Result<Timestamp, String> {
    let expected = "expected a time in UTC, for example 2026-04-18T20:00:00Z";
    Timestamp::parse(text).map_err(|_| expected.to_owned())
}

/// Parses a time such as `500ms`, `10s`, `2m`, `1h`, `7d`, or a plain number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let wrong =
        || "expected a whole number and a unit, for example 500ms, 10s, 2m or 1h".to_owned();
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let millis = match unit {
        "ms" => Some(number),
        "s" | "" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        "d" => number.checked_mul(86_400_000),
        _ => return Err(wrong()),
    };
    match millis {
        Some(0) | None => Err("the timeout must be positive and finite".to_owned()),
        Some(millis) => Ok(Duration::from_millis(millis)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("3"), Ok(Duration::from_secs(3)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(7 * 24 * 3600)));
        for wrong in
            ["", "s", "0s", "1w", "1.5s", "-1s", "99999999999999999999", "18446744073709551615m"]
        {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
