//! The checks of an expectation, for properties that a literal body cannot express.

use accord_contract::fixture::differences;
use accord_contract::{Time, Value, Wire as _};
use serde_json::json;

use super::answer::Answer;
use super::places::{Located, places};
use super::variables::{Unknown, Variables};
use super::{digests, lists};
use crate::case::{Check, CheckKind};
use crate::corpus::ArgumentType;
use crate::report::Difference;

/// The places where a check fails.
pub(crate) type Unmet = Result<Vec<Difference>, Unknown>;

pub(crate) fn unmet(check: &Check, answer: &Answer, body: &Value, variables: &Variables) -> Unmet {
    let judged = Judged {
        check,
        answer,
        body,
        value: variables.value(check.value.as_ref().unwrap_or(&Value::Null))?,
        values: (check.values.iter().flatten())
            .map(|value| variables.value(value))
            .collect::<Result<_, _>>()?,
        text: variables.text(check.text.as_deref().unwrap_or_default())?,
        named: match &check.name {
            Some(name) => variables.get(name).cloned().ok_or(Unknown(name.clone()))?,
            None => Value::Null,
        },
    };
    Ok(judged.unmet())
}

/// A check with its variables filled in, and the answer.
pub(super) struct Judged<'a> {
    pub(super) check: &'a Check,
    pub(super) answer: &'a Answer,
    pub(super) body: &'a Value,
    value: Value,
    values: Vec<Value>,
    text: String,
    pub(super) named: Value,
}

impl Judged<'_> {
    fn unmet(&self) -> Vec<Difference> {
        let or_null = self.check.or_null.unwrap_or(false);
        match self.check.check {
            CheckKind::Rfc3339Utc => self.everywhere(|value| match value {
                Value::Null => or_null,
                value => value.as_str().and_then(Time::parse_rfc3339_utc).is_some(),
            }),
            CheckKind::Instant => {
                let wanted = self.value.as_str().and_then(Time::parse_rfc3339);
                self.everywhere(|value| {
                    wanted.is_some() && value.as_str().and_then(Time::parse_rfc3339) == wanted
                })
            }
            CheckKind::PrefixHex => self.everywhere(|value| self.is_prefixed_hex(value)),
            CheckKind::HyphenatedWords => self.everywhere(is_two_words),
            CheckKind::Type => {
                let kind = self.value.as_str().and_then(ArgumentType::parse);
                self.everywhere(|value| match value {
                    Value::Null if or_null => true,
                    value => kind.is_some_and(|kind| kind.accepts(value)),
                })
            }
            // In `equals`, because a value of this list is literal.
            CheckKind::OneOf => self.everywhere(|value| {
                let literal = |wanted: &Value| json!({"assert": "equals", "value": wanted});
                self.values.iter().any(|wanted| fits(&literal(wanted), value))
            }),
            CheckKind::Every => self.everywhere(|value| fits(&self.value, value)),
            CheckKind::None => self.broken(|value| !fits(&self.value, value)),
            CheckKind::Count => self.count(),
            CheckKind::Distinct => lists::distinct(self),
            CheckKind::Consecutive => lists::consecutive(self),
            CheckKind::Sorted => self.each(lists::sorted),
            CheckKind::JoinedIntervals => self.each(lists::joined_intervals),
            CheckKind::OnlyMembers => self.everywhere(|value| self.has_only_members(value)),
            CheckKind::SameDocument => self.each(digests::same_document),
            CheckKind::SameItems => self.everywhere(|value| lists::same_items(&self.named, value)),
            CheckKind::Sha256OfCanonical => digests::sha256_of_canonical(self),
            CheckKind::ContainsText => self.holds(self.answer.contains(&self.text)),
            CheckKind::LacksTexts => {
                let texts = self.values.iter().filter_map(Value::as_str);
                let found = texts.filter(|text| self.answer.contains(text));
                found.map(|text| self.difference("", text)).collect()
            }
            CheckKind::HasNumber => self.holds(has_number(self.body, &self.value)),
            CheckKind::ProtectedTransport => self.holds(self.answer.protected),
        }
    }

    pub(super) fn places(&self) -> Vec<Located<'_>> {
        places(self.body, self.pattern())
    }

    /// A place where the check fails.
    pub(super) fn difference(&self, pointer: &str, found: impl Into<Value>) -> Difference {
        Difference::new(pointer, self.check.encode(), found)
    }

    /// Checks each place; at least one must exist.
    pub(super) fn each(
        &self,
        ask: impl Fn(&Self, &Located<'_>) -> Vec<Difference>,
    ) -> Vec<Difference> {
        let places = self.places();
        // A check of nothing would pass on an answer that lacks the place.
        if places.is_empty() {
            return vec![Difference::missing(self.pattern(), self.check.encode())];
        }
        places.iter().flat_map(|place| ask(self, place)).collect()
    }

    fn everywhere(&self, holds: impl Fn(&Value) -> bool) -> Vec<Difference> {
        self.each(|_, place| match holds(place.value) {
            true => Vec::new(),
            false => vec![self.difference(&place.pointer, place.value.clone())],
        })
    }

    /// Like [`Self::everywhere`], but also without any place.
    fn broken(&self, holds: impl Fn(&Value) -> bool) -> Vec<Difference> {
        let places = self.places();
        let broken = places.iter().filter(|place| !holds(place.value));
        broken.map(|place| self.difference(&place.pointer, place.value.clone())).collect()
    }

    fn holds(&self, holds: bool) -> Vec<Difference> {
        if holds { Vec::new() } else { vec![self.difference("", self.body.clone())] }
    }

    fn count(&self) -> Vec<Difference> {
        let count = self.places().len() as u64;
        let (least, most) = (self.check.least, self.check.most);
        if (least.unwrap_or(0)..=most.unwrap_or(u64::MAX)).contains(&count) {
            return Vec::new();
        }
        vec![self.difference(self.pattern(), json!({"count": count}))]
    }

    fn is_prefixed_hex(&self, value: &Value) -> bool {
        let prefix = self.check.prefix.as_deref().unwrap_or_default();
        let hex = value.as_str().and_then(|text| text.strip_prefix(prefix));
        hex.is_some_and(|hex| {
            let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            Some(hex.len() as u64) == self.check.digits && hex.bytes().all(digit)
        })
    }

    fn has_only_members(&self, value: &Value) -> bool {
        let names = self.check.names.as_deref().unwrap_or_default();
        value.as_object().is_some_and(|members| {
            let extra = |key: &String| {
                let prefix = self.check.prefix.as_ref();
                prefix.is_some_and(|prefix| key.starts_with(prefix.as_str()))
            };
            names.iter().all(|name| members.contains_key(name))
                && members.keys().all(|key| names.contains(key) || extra(key))
        })
    }

    fn pattern(&self) -> &str {
        self.check.at.as_deref().unwrap_or_default()
    }
}

/// Whether a value matches by the rules of comparison.
pub(super) fn fits(expected: &Value, actual: &Value) -> bool {
    differences(expected, actual).is_empty()
}

fn is_two_words(value: &Value) -> bool {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let words = value.as_str().and_then(|text| text.split_once('-'));
    words.is_some_and(|(one, other)| word(one) && word(other))
}

fn has_number(document: &Value, number: &Value) -> bool {
    match document {
        Value::Number(_) => fits(number, document),
        Value::Array(items) => items.iter().any(|item| has_number(item, number)),
        Value::Object(members) => members.values().any(|member| has_number(member, number)),
        _ => false,
    }
}
