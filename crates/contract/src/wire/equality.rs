//! Equality of JSON values. Member order does not count, and numbers compare by value, so `1` and
//! `1.0` are equal. Nothing is rounded: 9007199254740993 is not 9007199254740992.0.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values are equal.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare_numbers(one, other).is_eq(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && (one.iter()).all(|(name, a)| other.get(name).is_some_and(|b| same(a, b)))
        }
        // Scalars that are no numbers. Two values of different types are never equal.
        _ => one == other,
    }
}

/// The order of two numbers.
pub fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    match (Exact::of(one), Exact::of(other)) {
        (Exact::Whole(one), Exact::Whole(other)) => one.cmp(&other),
        (Exact::Other(one), Exact::Other(other)) => one.total_cmp(&other),
        (Exact::Whole(one), Exact::Other(other)) => whole_and_other(one, other),
        (Exact::Other(one), Exact::Whole(other)) => whole_and_other(other, one).reverse(),
    }
}

/// A text that is the same for equal values, and only for those.
pub(crate) fn identity_text(value: &Value) -> String {
    let mut text = String::new();
    write_identity(value, &mut text);
    text
}

/// The value of a number, without its spelling.
enum Exact {
    Whole(i128),
    /// It has a fraction, or is out of the range of [`Exact::Whole`].
    Other(f64),
}

impl Exact {
    fn of(number: &Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Self::Whole(whole);
        }
        let float = number.as_f64().expect("a JSON number is finite");
        // Within this range every whole float is an i128.
        let is_whole = float.fract() == 0.0 && float.abs() < 1e38;
        if is_whole { Self::Whole(float as i128) } else { Self::Other(float) }
    }
}

fn whole_and_other(whole: i128, other: f64) -> Ordering {
    // The cast keeps to the range of i128, past which a float stays beyond every whole number here.
    // If the floor is equal, the float has a fraction, so it is the greater one.
    whole.cmp(&(other.floor() as i128)).then(Ordering::Less)
}

fn write_identity(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => match Exact::of(number) {
            Exact::Whole(whole) => *text += &whole.to_string(),
            Exact::Other(float) => *text += &format!("{float:e}"),
        },
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_identity(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // The order of members does not count.
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, member) in members {
                *text += &format!("{}:", Value::from(name.as_str()));
                write_identity(member, text);
                text.push(',');
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn agree(one: &str, other: &str, expected: bool) {
        let (one, other) = (parse(one), parse(other));
        assert_eq!(same(&one, &other), expected, "{one} {other}");
        assert_eq!(same(&other, &one), expected, "{other} {one}");
        let texts_agree = identity_text(&one) == identity_text(&other);
        assert_eq!(texts_agree, expected, "{one} {other}");
    }

    #[test]
    fn spelling_and_member_order_do_not_count() {
        agree("1", "1.0", true);
        agree("1e2", "100", true);
        agree("0", "-0.0", true);
        agree("0.5", "5e-1", true);
        agree("1e300", "1.0e300", true);
        agree(r#"{"a":[1,{"b":2}],"c":null}"#, r#"{"c":null,"a":[1.0,{"b":2.0}]}"#, true);
    }

    #[test]
    fn nothing_is_rounded_and_no_type_becomes_another() {
        agree("9007199254740993", "9007199254740992.0", false);
        agree("18446744073709551615", "18446744073709551616.0", false);
        agree("1", "1.5", false);
        agree("1", "\"1\"", false);
        agree("1", "true", false);
        agree("[1,2]", "[2,1]", false);
        agree("[[1],2]", "[[1,2]]", false);
        agree(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false);
        agree(r#"{"a":null}"#, r#"{"b":null}"#, false);
        agree(r#"{"a\":1,\"b":2}"#, r#"{"a":1,"b":2}"#, false);
    }

    #[test]
    fn numbers_are_ordered_by_what_they_are() {
        let ascending = [
            "-1e300",
            "-9223372036854775808",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "0.5",
            "1.0",
            "1.5",
            "2",
            "9007199254740992.0",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616.0",
            "1e300",
        ];
        let numbers: Vec<Number> =
            (ascending.iter()).map(|text| serde_json::from_str(text).unwrap()).collect();
        for (at, one) in numbers.iter().enumerate() {
            for (other_at, other) in numbers.iter().enumerate() {
                assert_eq!(compare_numbers(one, other), at.cmp(&other_at), "{one} {other}");
            }
        }
    }
}
