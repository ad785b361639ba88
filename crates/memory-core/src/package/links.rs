//! What a package answers and supersedes: the members `x-answers` and `x-supersedes`.
//!
//! Both are extensions of the protocol, so a package that was stored or exported may have anything
//! in them. [`Links::of`] reads what it understands and ignores the rest. A deposit is refused by
//! [`Links::check`] instead, so that a misspelt link is noticed.

use accord_contract::wire::Shape;
use accord_contract::{Failure, Limits, Object, TextForm, Value, Wire as _, message};
use serde_json::json;

use super::{PackageFields, QuestionKey};
use crate::limits::{MAX_ITEMS, MAX_TEXT_BYTES};
use crate::refuse::{check_items, check_length, schema};
use crate::{PackageId, text};

/// The member with the questions that a package answers.
pub const ANSWERS: &str = "x-answers";
/// The member with the packages that a package supersedes.
pub const SUPERSEDES: &str = "x-supersedes";

const QUESTION: TextForm = TextForm::ANY.not_empty().bytes(MAX_TEXT_BYTES).pattern(r"\S");
const LAST: i64 = MAX_ITEMS as i64 - 1;

message! {
    /// A question that a package answers, by its text.
    pub struct AnsweredQuestion("AnsweredQuestion", open) {
        /// The text of the question.
        required question: String = "question", "question", Limits::text(QUESTION);
    }

    /// A question that a package answers, by its place.
    pub struct AnsweredPlace("AnsweredPlace", open) {
        /// The package that asks it.
        required package_id: PackageId = "package_id", "package-id";
        /// Its index in `open_questions` of that package, from 0.
        required index: u64 = "index", "index", Limits::whole(0, LAST);
    }
}

/// What `x-answers` must be in a deposit.
pub(super) fn answers_shape() -> Shape {
    let item = Shape::Either(vec![AnsweredQuestion::shape(), AnsweredPlace::shape()]);
    Shape::List { item: Box::new(item), least: 0, most: Some(MAX_ITEMS) }
}

/// What `x-supersedes` must be in a deposit.
pub(super) fn supersedes_shape() -> Shape {
    Limits::items(MAX_ITEMS).narrow(Vec::<PackageId>::shape())
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Links {
    pub answers: Vec<AnswerLink>,
    /// The packages that it supersedes, each once.
    pub supersedes: Vec<PackageId>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum AnswerLink {
    Question(QuestionKey),
    /// The question at an index of the `open_questions` of a package.
    Asked {
        package_id: PackageId,
        /// Its index, from 0. A question that the package repeats has the index of the first time.
        index: u32,
    },
}

impl Links {
    /// The links of a package. Items that are not links are ignored.
    pub fn of(fields: &PackageFields) -> Self {
        let answers = items(fields, ANSWERS).filter_map(|item| answer(item, "").ok());
        let mut links = Self { answers: answers.collect(), supersedes: Vec::new() };
        for item in items(fields, SUPERSEDES) {
            if let Ok(target) = target(item, "")
                && target != fields.package_id
                && !links.supersedes.contains(&target)
            {
                links.supersedes.push(target);
            }
        }
        links
    }

    /// The links in the text of a stored package; none if it is not a package.
    pub fn read(stored: &str) -> Self {
        let document = text::document(stored.as_bytes()).ok();
        let fields = document.and_then(|document| PackageFields::from_document(document).ok());
        fields.as_ref().map(Self::of).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.supersedes.is_empty()
    }

    /// Refuses a package whose links cannot be meant. Fails with `invalid_schema`, `too_many_items`
    /// or `text_too_long`, at the member.
    pub fn check(fields: &PackageFields) -> Result<(), Failure> {
        let asked: Vec<_> =
            fields.open_questions().iter().map(|text| QuestionKey::of(text)).collect();
        for (index, item) in checked_items(fields, ANSWERS)?.iter().enumerate() {
            let pointer = format!("/{ANSWERS}/{index}");
            let own = match answer(item, &pointer)? {
                AnswerLink::Question(key) => asked.contains(&key),
                AnswerLink::Asked { package_id, .. } => package_id == fields.package_id,
            };
            if own {
                let message = "the package asks this question itself; leave it out of \
                               open_questions, or out of x-answers";
                return Err(schema(pointer, message));
            }
        }
        for (index, item) in checked_items(fields, SUPERSEDES)?.iter().enumerate() {
            let pointer = format!("/{SUPERSEDES}/{index}");
            if target(item, &pointer)? == fields.package_id {
                return Err(schema(pointer, "a package cannot supersede itself"));
            }
        }
        Ok(())
    }
}

/// An item of `x-answers` for a text: `ID#INDEX` names the question at an index of a package, any
/// other text is the question itself.
pub fn answer_item(text: &str) -> Value {
    let asked = text.rsplit_once('#').and_then(|(id, index)| {
        let is_id = !id.is_empty() && !id.contains(char::is_whitespace);
        let digits = index.bytes().all(|byte| byte.is_ascii_digit());
        let index = index.parse::<u32>().ok().filter(|_| is_id && digits)?;
        Some(json!({"package_id": id, "index": index}))
    });
    asked.unwrap_or_else(|| json!({"question": text}))
}

/// The items of a member, if it is a list.
fn items<'f>(fields: &'f PackageFields, name: &str) -> impl Iterator<Item = &'f Value> {
    let items = fields.extra.get(name).and_then(Value::as_array);
    // The same limit as for a deposit, so that an import cannot exceed it.
    items.into_iter().flatten().take(MAX_ITEMS)
}

/// The items of a member that is a list within the limit; none if it is absent or `null`.
fn checked_items<'f>(fields: &'f PackageFields, name: &str) -> Result<&'f [Value], Failure> {
    match fields.extra.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => {
            check_items(&format!("/{name}"), items.len(), MAX_ITEMS)?;
            Ok(items)
        }
        Some(_) => Err(schema(format!("/{name}"), format!("{name} must be a list"))),
    }
}

fn answer(item: &Value, pointer: &str) -> Result<AnswerLink, Failure> {
    let Some(members) = item.as_object() else {
        let message = "expected an object with question, or with package_id and index";
        return Err(schema(pointer.to_owned(), message));
    };
    let (question, package) = (present(members, "question"), present(members, "package_id"));
    match (question, package, present(members, "index")) {
        (Some(question), None, None) => {
            let pointer = format!("{pointer}/question");
            let Some(text) = question.as_str().filter(|text| !text.trim().is_empty()) else {
                return Err(schema(pointer, "expected the text of the question"));
            };
            check_length(&pointer, text, MAX_TEXT_BYTES)?;
            Ok(AnswerLink::Question(QuestionKey::of(text)))
        }
        (None, Some(package), index) => {
            let package_id = target(package, &format!("{pointer}/package_id"))?;
            // As a number and not as an integer: `1.0` has the hash of `1`.
            let index = index
                .and_then(Value::as_f64)
                .filter(|index| index.fract() == 0.0 && (0.0..MAX_ITEMS as f64).contains(index));
            let index = index.map(|index| index as u32).ok_or_else(|| {
                let message = "expected the index of the question in open_questions, from 0";
                schema(format!("{pointer}/index"), message)
            })?;
            Ok(AnswerLink::Asked { package_id, index })
        }
        _ => {
            let message = "expected either question, or package_id and index";
            Err(schema(pointer.to_owned(), message))
        }
    }
}

fn target(item: &Value, pointer: &str) -> Result<PackageId, Failure> {
    let id = item.as_str().and_then(|text| PackageId::new(text).ok());
    id.ok_or_else(|| schema(pointer.to_owned(), "expected the id of a package"))
}

/// A member that is not `null`.
fn present<'m>(members: &'m Object, name: &str) -> Option<&'m Value> {
    members.get(name).filter(|value| !value.is_null())
}
