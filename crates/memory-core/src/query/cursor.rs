//! Cursors: the place of the last item that a listing gave, in its order.
//!
//! The text is opaque to clients. Within it stand a letter for the listing and the
//! values that its items are ordered by, and a mark of the project that is listed, so that a cursor
//! from another listing is noticed.

use accord_canon::sha256;
use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::Value;
use data_encoding::BASE64URL_NOPAD;

use crate::ProjectId;

/// A place in a listing of a project.
pub trait Cursor: Sized {
    /// The opaque text that stands for the place.
    fn encode(&self, project: &ProjectId) -> String;

    /// The place that a text stands for.
    ///
    /// # Errors
    /// With `invalid_cursor` when this listing gave out no such text.
    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure>;
}

/// A place among packages, newest first: by `created_at`, then by the store's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PackagePosition {
    /// When the package was made.
    pub created_at: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// A place among facts: by subject, predicate, start, then by the store's number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FactPosition {
    /// The subject.
    pub subject: String,
    /// The predicate.
    pub predicate: String,
    /// When the fact began to hold.
    pub valid_from: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// A place among sessions, newest first: by `started_at`, then by the store's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionPosition {
    /// When the session began.
    pub started_at: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// A place among projects, by their ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectPosition {
    /// The project.
    pub project_id: ProjectId,
}

impl Cursor for PackagePosition {
    fn encode(&self, project: &ProjectId) -> String {
        write(
            &mark("p", project),
            instant_and([], self.created_at, self.seq),
        )
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([], created_at, seq) = split(read(&mark("p", project), text)?)?;
        Ok(Self { created_at, seq })
    }
}

impl Cursor for FactPosition {
    fn encode(&self, project: &ProjectId) -> String {
        let texts = [self.subject.as_str(), self.predicate.as_str()];
        write(
            &mark("f", project),
            instant_and(texts, self.valid_from, self.seq),
        )
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([subject, predicate], valid_from, seq) = split(read(&mark("f", project), text)?)?;
        Ok(Self {
            subject,
            predicate,
            valid_from,
            seq,
        })
    }
}

impl Cursor for SessionPosition {
    fn encode(&self, project: &ProjectId) -> String {
        write(
            &mark("s", project),
            instant_and([], self.started_at, self.seq),
        )
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([], started_at, seq) = split(read(&mark("s", project), text)?)?;
        Ok(Self { started_at, seq })
    }
}

impl ProjectPosition {
    /// The opaque text that stands for the place.
    pub fn encode(&self) -> String {
        write("j", vec![self.project_id.as_str().into()])
    }

    /// The place that a text stands for.
    ///
    /// # Errors
    /// With `invalid_cursor` when the listing of projects gave out no such text.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        let [id] = <[Value; 1]>::try_from(read("j", text)?).map_err(|_| invalid())?;
        let id = id.as_str().and_then(|id| ProjectId::new(id).ok());
        Ok(Self {
            project_id: id.ok_or_else(invalid)?,
        })
    }
}

/// The mark of one project's listing. An id may be long, and a mark is no secret.
fn mark(listing: &str, project: &ProjectId) -> String {
    let digest = sha256(project.as_str().as_bytes()).hex();
    format!("{listing}{}", &digest[..8])
}

fn write(listing: &str, mut place: Vec<Value>) -> String {
    place.insert(0, listing.into());
    BASE64URL_NOPAD.encode(Value::Array(place).to_string().as_bytes())
}

fn read(listing: &str, text: &str) -> Result<Vec<Value>, Failure> {
    let bytes = BASE64URL_NOPAD
        .decode(text.as_bytes())
        .map_err(|_| invalid())?;
    let place: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
    match place {
        Value::Array(mut place) if place.first().is_some_and(|first| first == listing) => {
            place.remove(0);
            Ok(place)
        }
        _ => Err(invalid()),
    }
}

fn instant_and<const N: usize>(texts: [&str; N], instant: Time, seq: u64) -> Vec<Value> {
    let mut place: Vec<Value> = texts.into_iter().map(Value::from).collect();
    place.extend([
        instant.unix_seconds().into(),
        instant.subsec_nanos().into(),
        seq.into(),
    ]);
    place
}

fn split<const N: usize>(mut place: Vec<Value>) -> Result<([String; N], Time, u64), Failure> {
    if place.len() != N + 3 {
        return Err(invalid());
    }
    let numbers = place.split_off(N);
    let texts: Option<Vec<String>> = (place.iter())
        .map(|text| text.as_str().map(str::to_owned))
        .collect();
    let texts = texts.and_then(|texts| texts.try_into().ok());
    let seconds = numbers[0].as_i64();
    let nanos = numbers[1].as_u64().and_then(|nanos| nanos.try_into().ok());
    let instant = seconds
        .zip(nanos)
        .and_then(|(seconds, nanos)| Time::from_unix(seconds, nanos));
    match (texts, instant, numbers[2].as_u64()) {
        (Some(texts), Some(instant), Some(seq)) => Ok((texts, instant, seq)),
        _ => Err(invalid()),
    }
}

fn invalid() -> Failure {
    let message = "the cursor is not one that this listing gave out";
    Failure::new(Code::AgenticInvalidCursor, message).at("/cursor")
}
