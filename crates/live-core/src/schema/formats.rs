//! The formats of texts and numbers. A value of a format is checked, not only described.
//!
//! Clauses: GGUI-SCHEMA-FORMATS.

use std::net::{Ipv4Addr, Ipv6Addr};

use accord_contract::wire::Number;

use super::{node::is_whole, uri};

#[derive(Debug)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) text: fn(&str) -> bool,
    pub(super) number: Option<fn(&Number) -> bool>,
}

pub(super) fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

const fn text(name: &'static str, text: fn(&str) -> bool) -> Format {
    Format { name, text, number: None }
}

const fn number(name: &'static str, number: fn(&Number) -> bool) -> Format {
    Format { name, text: any, number: Some(number) }
}

const FORMATS: [Format; 25] = [
    text("date", is_date),
    text("time", |text| is_time(text, true)),
    text("date-time", |text| is_date_time(text, true)),
    text("iso-time", |text| is_time(text, false)),
    text("iso-date-time", |text| is_date_time(text, false)),
    text("duration", is_duration),
    text("email", is_email),
    text("hostname", uri::is_hostname),
    text("ipv4", |text| text.parse::<Ipv4Addr>().is_ok()),
    text("ipv6", |text| text.parse::<Ipv6Addr>().is_ok()),
    text("uri", uri::is_uri),
    text("uri-reference", uri::is_reference),
    text("uri-template", uri::is_template),
    text("url", uri::is_url),
    text("uuid", is_uuid),
    text("regex", jsonschema_regex::is_valid_ecma_regex),
    text("json-pointer", is_json_pointer),
    text("relative-json-pointer", is_relative_pointer),
    text("byte", is_base64),
    text("password", any),
    text("binary", any),
    number("int32", |number| whole_within(number, -2_147_483_648.0, 2_147_483_647.0)),
    number("int64", |number| number.is_i64() || whole_within(number, -9.3e18, 9.2e18)),
    number("float", |_| true),
    number("double", |_| true),
];

fn any(_: &str) -> bool {
    true
}

fn whole_within(number: &Number, least: f64, most: f64) -> bool {
    is_whole(number) && number.as_f64().is_some_and(|value| (least..=most).contains(&value))
}

/// A number of exactly `digits` digits.
fn digits(text: &str, digits: usize) -> Option<u32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str, needs_zone: bool) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    is_date(date) && is_time(time, needs_zone)
}

fn is_time(text: &str, needs_zone: bool) -> bool {
    let (clock, zone) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let Some(offset) = zone_minutes(zone) else { return false };
    if zone.is_empty() && needs_zone {
        return false;
    }
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    if fraction.is_some_and(|f| f.is_empty() || !f.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let parts: Vec<_> = clock.split(':').map(|part| digits(part, 2)).collect();
    let [Some(hour), Some(minute), Some(second)] = parts.as_slice() else { return false };
    if *hour > 23 || *minute > 59 {
        return false;
    }
    // A leap second is the last one of a day, in UTC.
    let in_utc = (i64::from(*hour) * 60 + i64::from(*minute) - offset).rem_euclid(24 * 60);
    *second < 60 || (*second == 60 && in_utc == 24 * 60 - 1)
}

/// The minutes that a zone is ahead of UTC; none if it is not a zone.
fn zone_minutes(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = zone.split_at(1);
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) => (digits(hours, 2)?, digits(minutes, 2)?),
        None => (digits(rest, 2)?, 0),
    };
    let minutes = (hours <= 23 && minutes <= 59).then_some(i64::from(hours * 60 + minutes))?;
    Some(if sign == "-" { -minutes } else { minutes })
}

/// `P1Y2M3DT4H5M6S`, in this order, with at least one part; or weeks alone.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    if let Some(weeks) = date.strip_suffix('W') {
        let is_number = !weeks.is_empty() && weeks.bytes().all(|byte| byte.is_ascii_digit());
        return time.is_none() && is_number;
    }
    let has_time = |time: &str| !time.is_empty() && parts(time, "HMS");
    let has_parts = !date.is_empty() || time.is_some();
    has_parts && parts(date, "YMD") && time.is_none_or(has_time)
}

/// Numbers, each with one of the units, in the order of the units.
fn parts(text: &str, units: &str) -> bool {
    let mut units = units.chars();
    let mut number = false;
    for character in text.chars() {
        if character.is_ascii_digit() {
            number = true;
        } else if !number || !units.any(|unit| unit == character) {
            return false;
        } else {
            number = false;
        }
    }
    !number
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-".contains(&b);
        !atom.is_empty() && atom.bytes().all(letter)
    };
    local.len() <= 64
        && local.split('.').all(is_atom)
        && domain.contains('.')
        && !domain.ends_with('.')
        && uri::is_hostname(domain)
}

fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let groups: Vec<_> = text.split('-').collect();
    let lengths: Vec<_> = groups.iter().map(|group| group.len()).collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(is_hex)
}

fn is_json_pointer(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return text.is_empty() };
    let is_escaped = |part: &str| part.starts_with(['0', '1']);
    rest.split('~').skip(1).all(is_escaped)
}

fn is_relative_pointer(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (levels, rest) = text.split_at(end);
    let is_number = !levels.is_empty() && (levels == "0" || !levels.starts_with('0'));
    is_number && (rest == "#" || is_json_pointer(rest))
}

fn is_base64(text: &str) -> bool {
    data_encoding::BASE64.decode(text.as_bytes()).is_ok()
}
