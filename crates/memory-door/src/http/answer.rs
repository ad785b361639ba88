//! Answers that contain stored documents verbatim.

use accord_base::{Budgeted, Page};
use accord_contract::{Value, Wire as _};
use accord_memory::{PulledPackage, Reviews, Served, Superseded};
use accord_memory_core::Warning;
use accord_memory_core::lifecycle::{Revision, entity_tag};
use axum::body::Body;
use axum::response::Response;
use hyper::header::{ETAG, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::{HeaderMap, StatusCode};

use accord_serving::reply::{REVIEW, SUPERSEDED_BY, WARNINGS, escaped, json};

/// The header with the hash of a package. The entity tag has the hash and the revision.
const CONTENT_HASH: HeaderName = HeaderName::from_static("x-content-hash");

/// The longest review in a header, in bytes.
const MAX_HEADER: usize = 4_000;

/// The body of an answer with a list.
/// Clauses: AGENTIC-A-24.
pub(super) struct List(String);

impl List {
    /// A body with a list of documents.
    pub(super) fn new<'a>(name: &str, items: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = format!("{{{}:[", Value::from(name));
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(item);
        }
        text.push(']');
        Self(text)
    }

    /// The answer for a page of documents.
    pub(super) fn of(name: &str, page: &Page) -> Response {
        Self::new(name, page.items.iter().map(String::as_str))
            .with("next_cursor", page.next_cursor.as_deref())
            .budgeted(page.budgeted.as_ref())
            .without(&page.damaged)
            .answer()
    }

    /// Adds what is special about a page with a budget of tokens.
    #[must_use]
    pub(super) fn budgeted(mut self, budgeted: Option<&Budgeted>) -> Self {
        let Some(budgeted) = budgeted else { return self };
        self = self.with("x-remaining", budgeted.remaining);
        if !budgeted.too_large.is_empty() {
            self.0.push_str(&format!(",\"x-too_large\":[{}]", budgeted.too_large.join(",")));
        }
        self
    }

    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.push_str(&format!(",{}:{}", Value::from(name), value.into()));
        self
    }

    /// Adds the ids of documents that are left out because they are damaged.
    #[must_use]
    pub(super) fn without(self, damaged: &[String]) -> Self {
        if damaged.is_empty() {
            return self;
        }
        self.with("x-integrity_warnings", damaged)
    }

    /// Adds the superseded ones among the documents, each with those that supersede it.
    #[must_use]
    pub(super) fn marked(self, superseded: &Superseded) -> Self {
        if superseded.is_empty() {
            return self;
        }
        let marks = superseded.iter().map(|(id, by)| {
            let by: Value = by.iter().map(|id| Value::from(id.as_str())).collect();
            (id.as_str().to_owned(), by)
        });
        self.with("x-superseded", Value::Object(marks.collect()))
    }

    /// Adds the notes of reviewers on the documents.
    #[must_use]
    pub(super) fn reviewed(self, reviews: &Reviews) -> Self {
        if reviews.is_empty() {
            return self;
        }
        let notes = reviews.iter().map(|(id, review)| (id.as_str().to_owned(), review.encode()));
        self.with("x-reviews", Value::Object(notes.collect()))
    }

    pub(super) fn answer(mut self) -> Response {
        self.0.push('}');
        json(StatusCode::OK, self.0)
    }
}

/// A package, with its hash in the headers.
pub(super) fn package(status: StatusCode, package: Served) -> Response {
    let hash = package.content_hash.to_string();
    let tag = entity_tag(&package.content_hash, package.revision);
    let mut response = warning_apart(json(status, package.text), package.apart.as_deref());
    let headers = response.headers_mut();
    for (name, value) in [(ETAG, tag), (CONTENT_HASH, hash)] {
        let value = HeaderValue::try_from(value).expect("a hash is plain text");
        headers.insert(name, value);
    }
    response
}

/// The answer, with warnings that its document cannot have in the header.
pub(super) fn warning_apart(mut response: Response, warnings: Option<&[Warning]>) -> Response {
    if let Some(warnings) = warnings {
        let value = HeaderValue::try_from(in_header(warnings)).expect("it is ASCII");
        response.headers_mut().insert(WARNINGS, value);
    }
    response
}

/// Warnings as a JSON list in ASCII, no longer than clients accept a header.
fn in_header(warnings: &[Warning]) -> String {
    const MOST: usize = 6_000;
    let written = |warning: &Warning| in_ascii(&warning.encode().to_string());
    let mut items: Vec<String> = warnings.iter().map(written).collect();
    let mut fitting = items.len();
    while items.iter().map(|item| item.len() + 1).sum::<usize>() > MOST {
        fitting -= 1;
        items.truncate(fitting);
        items.push(written(&Warning::left_out(warnings.len() - fitting)));
    }
    format!("[{}]", items.join(","))
}

/// The JSON text with escapes for what is not printable ASCII.
fn in_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            ' '..='~' => ascii.push(letter),
            _ => {
                let units = letter.encode_utf16(&mut [0; 2]).to_vec();
                ascii.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    ascii
}

/// A package, or 304 if the client already has this version.
pub(super) fn package_unless_known(headers: &HeaderMap, pulled: PulledPackage) -> Response {
    let served = pulled.package;
    let known = knows(headers, &entity_tag(&served.content_hash, served.revision));
    let mut response = package(StatusCode::OK, served);
    if !pulled.superseded_by.is_empty() {
        let ids = pulled.superseded_by.iter().map(|id| escaped(id.as_str()));
        let ids = HeaderValue::try_from(ids.collect::<Vec<_>>().join(", "));
        let ids = ids.expect("escaped text is plain");
        response.headers_mut().insert(SUPERSEDED_BY, ids);
    }
    if let Some(review) = &pulled.review {
        let review = HeaderValue::try_from(review_header(review)).expect("escaped text is plain");
        response.headers_mut().insert(REVIEW, review);
    }
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(hyper::header::CONTENT_TYPE);
    }
    response
}

/// A review as JSON in ASCII. A long note is cut, because clients limit the length of headers.
fn review_header(review: &Revision) -> String {
    let mut review = review.clone();
    let note = review.note.clone().unwrap_or_default();
    let mut most = note.chars().count();
    loop {
        if most < note.chars().count() {
            let kept: String = note.chars().take(most).collect();
            let more = note.chars().count() - most;
            review.note = Some(format!("{kept}… (+{more} chars)"));
        }
        let text = ascii(&review.encode().to_string());
        if text.len() <= MAX_HEADER || most == 0 {
            return text;
        }
        most = most * 3 / 4;
    }
}

/// JSON with an escape for each character that a header cannot carry.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for unit in json.encode_utf16() {
        match char::from_u32(unit.into()).filter(|letter| matches!(letter, ' '..='~')) {
            Some(letter) => text.push(letter),
            None => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text
}

/// Whether the client already has the version with this entity tag.
pub(super) fn knows(headers: &HeaderMap, tag: &str) -> bool {
    let mut lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    lists.any(|list| {
        let mut tags = list.split(',').map(str::trim);
        // If-None-Match compares weakly: a weak tag of the same version matches.
        tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
    })
}
