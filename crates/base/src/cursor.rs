//! Cursors: the position of the last item of a page. The text is base64url of a JSON array: a mark
//! of the list and its project, so that a cursor of another list is refused, and the values of its
//! order.

use std::collections::BTreeMap;

use accord_canon::sha256;
use accord_contract::{Code, Failure, Time, Value};
use data_encoding::BASE64URL_NOPAD;

use crate::ProjectId;

/// A position in a list of a project.
pub trait Cursor: Sized {
    fn encode(&self, project: &ProjectId) -> String;

    /// Reads a position from its text, which must be a cursor of this list and project.
    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure>;
}

/// A position among projects, by their ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectPosition {
    pub project_id: ProjectId,
}

/// A position in the stream of several projects: the last event of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StreamPosition(BTreeMap<ProjectId, u64>);

/// The mark of the stream of several projects.
const STREAM: &str = "v";

impl StreamPosition {
    /// The last event of a project, if the position has it.
    pub fn of(&self, project: &ProjectId) -> Option<u64> {
        self.0.get(project).copied()
    }

    pub fn set(&mut self, project: ProjectId, seq: u64) {
        self.0.insert(project, seq);
    }

    pub fn remove(&mut self, project: &ProjectId) {
        self.0.remove(project);
    }

    pub fn each(&self) -> impl Iterator<Item = (&ProjectId, u64)> {
        self.0.iter().map(|(project, seq)| (project, *seq))
    }

    pub fn encode(&self) -> String {
        let pair = |(project, seq): (&ProjectId, u64)| {
            Value::from(vec![Value::from(project.as_str()), seq.into()])
        };
        write(STREAM, self.each().map(pair).collect())
    }

    /// Reads a position from its text. Fails with `invalid_cursor`.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        let pair = |value: Value| {
            let id = ProjectId::new(value.get(0)?.as_str()?).ok()?;
            Some((id, value.get(1)?.as_u64()?))
        };
        let pairs: Option<_> = read(STREAM, text)?.into_iter().map(pair).collect();
        Ok(Self(pairs.ok_or_else(invalid)?))
    }
}

/// The mark of the list of projects, which belongs to no project.
const PROJECTS: &str = "j";

impl ProjectPosition {
    pub fn encode(&self) -> String {
        write(PROJECTS, vec![self.project_id.as_str().into()])
    }

    /// Reads a position from its text, which must be a cursor of the list of projects.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        let [id] = <[Value; 1]>::try_from(read(PROJECTS, text)?).map_err(|_| invalid())?;
        let id = id.as_str().and_then(|id| ProjectId::new(id).ok());
        Ok(Self { project_id: id.ok_or_else(invalid)? })
    }
}

/// The text of a position in a list that is ordered by some texts, then by time, then by the
/// store's number. `list` is a letter that no other list uses.
pub fn encode<const N: usize>(
    list: &str,
    project: &ProjectId,
    texts: [&str; N],
    at: Time,
    seq: u64,
) -> String {
    let mut values: Vec<Value> = texts.into_iter().map(Value::from).collect();
    values.extend([at.unix_seconds().into(), at.subsec_nanos().into(), seq.into()]);
    write(&mark(list, project), values)
}

/// What [`encode`] wrote. Fails with `invalid_cursor` when it was another list or project.
pub fn decode<const N: usize>(
    list: &str,
    project: &ProjectId,
    text: &str,
) -> Result<([String; N], Time, u64), Failure> {
    let mut values = read(&mark(list, project), text)?;
    if values.len() != N + 3 {
        return Err(invalid());
    }
    let numbers = values.split_off(N);
    let texts: Option<Vec<String>> =
        (values.iter()).map(|text| text.as_str().map(str::to_owned)).collect();
    let texts = texts.and_then(|texts| texts.try_into().ok());
    let nanos = numbers[1].as_u64().and_then(|nanos| nanos.try_into().ok());
    let at = (numbers[0].as_i64().zip(nanos))
        .and_then(|(seconds, nanos)| Time::from_unix(seconds, nanos));
    match (texts, at, numbers[2].as_u64()) {
        (Some(texts), Some(at), Some(seq)) => Ok((texts, at, seq)),
        _ => Err(invalid()),
    }
}

/// The mark of a list of one project. It is short because an id may be long; it is not a secret.
fn mark(list: &str, project: &ProjectId) -> String {
    let digest = sha256(project.as_str().as_bytes()).hex();
    format!("{list}{}", &digest[..8])
}

/// The text of values in the order of a list that belongs to no project.
pub fn write(mark: &str, mut values: Vec<Value>) -> String {
    values.insert(0, mark.into());
    BASE64URL_NOPAD.encode(Value::Array(values).to_string().as_bytes())
}

/// What [`write`] wrote. Fails with `invalid_cursor` when it was another list.
pub fn read(mark: &str, text: &str) -> Result<Vec<Value>, Failure> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| invalid())?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(mut values)) if values.first().is_some_and(|first| first == mark) => {
            values.remove(0);
            Ok(values)
        }
        _ => Err(invalid()),
    }
}

pub fn invalid() -> Failure {
    let message = "the cursor does not belong to this list";
    Failure::new(Code::AgenticInvalidCursor, message).at("/cursor")
}
