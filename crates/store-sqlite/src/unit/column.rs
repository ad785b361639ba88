//! Conversion of columns. A value that cannot be converted was written by another program.

use accord_base::{ActorKey, ActorType};
use accord_canon::Digest;
use accord_contract::{Time, Timestamp};
use accord_memory_core::ContentHash;
use accord_store::{Result, StoreError, StoreErrorKind, time_key};
use rusqlite::types::ValueRef;

use crate::error::{IntoStoreError as _, damaged};

pub(super) struct Row<'r>(pub(super) &'r rusqlite::Row<'r>);

impl Row<'_> {
    pub(super) fn text(&self, at: usize) -> Result<String> {
        self.0.get(at).store_error()
    }

    /// The column as a text, of any type, to name an unreadable row.
    pub(super) fn label(&self, at: usize) -> String {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(number)) => number.to_string(),
            Ok(ValueRef::Real(number)) => number.to_string(),
            Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Ok(ValueRef::Blob(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Ok(ValueRef::Null) | Err(_) => String::new(),
        }
    }

    /// Whether the column is a text that has one of these parts.
    pub(super) fn has_text(&self, at: usize, parts: &[&str]) -> bool {
        let text = self.0.get_ref(at).ok().and_then(|value| value.as_str().ok());
        text.is_some_and(|text| parts.iter().any(|part| text.contains(part)))
    }

    /// Refuses a sort key that is not that of the instant: the row would be sorted wrongly.
    pub(super) fn stands_at(&self, at: usize, instant: Time) -> Result<()> {
        let key = self.0.get_ref(at).store_error()?.as_bytes_or_null();
        let is_right = key == Ok(Some(time_key::of(instant).as_bytes()));
        let what = "its sort key is not that of its time";
        is_right.then_some(()).ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt, what))
    }

    pub(super) fn optional_text(&self, at: usize) -> Result<Option<String>> {
        self.0.get(at).store_error()
    }

    pub(super) fn integer(&self, at: usize) -> Result<i64> {
        self.0.get(at).store_error()
    }

    pub(super) fn real(&self, at: usize) -> Result<f64> {
        self.0.get(at).store_error()
    }

    /// A number that is not negative.
    pub(super) fn count(&self, at: usize) -> Result<u64> {
        u64::try_from(self.integer(at)?).map_err(|_| damaged("a number"))
    }

    pub(super) fn parsed<T>(
        &self,
        at: usize,
        what: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        let text = self.0.get_ref(at).store_error()?.as_str().map_err(|_| damaged(what))?;
        parse(text).ok_or_else(|| damaged(what))
    }

    pub(super) fn id<T: std::str::FromStr>(&self, at: usize) -> Result<T> {
        self.parsed(at, "an id", |text| text.parse().ok())
    }

    pub(super) fn optional_id<T: std::str::FromStr>(&self, at: usize) -> Result<Option<T>> {
        self.optional_text(at)?.map(|_| self.id(at)).transpose()
    }

    pub(super) fn time(&self, at: usize) -> Result<Timestamp> {
        self.parsed(at, "a time", |text| Timestamp::parse(text).ok())
    }

    pub(super) fn optional_time(&self, at: usize) -> Result<Option<Timestamp>> {
        self.optional_text(at)?.map(|_| self.time(at)).transpose()
    }

    pub(super) fn bytes(&self, at: usize) -> Result<&[u8]> {
        self.0.get_ref(at).store_error()?.as_blob().map_err(|_| damaged("bytes"))
    }

    pub(super) fn digest(&self, at: usize) -> Result<Digest> {
        let bytes = self.0.get_ref(at).store_error()?.as_blob().map_err(|_| damaged("a digest"))?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| damaged("a digest"))?;
        Ok(bytes.into())
    }

    pub(super) fn optional_digest(&self, at: usize) -> Result<Option<Digest>> {
        match self.0.get_ref(at).store_error()? {
            ValueRef::Null => Ok(None),
            _ => self.digest(at).map(Some),
        }
    }

    pub(super) fn hash(&self, at: usize) -> Result<ContentHash> {
        self.digest(at).map(ContentHash::from)
    }

    /// An actor: its type, and in the next column its id.
    pub(super) fn actor(&self, at: usize) -> Result<ActorKey> {
        let kind = self.parsed(at, "an actor", ActorType::parse)?;
        Ok(ActorKey { kind, id: self.id(at + 1)? })
    }

    pub(super) fn optional_actor(&self, at: usize) -> Result<Option<ActorKey>> {
        self.optional_text(at)?.map(|_| self.actor(at)).transpose()
    }
}

/// An optional actor in two columns.
pub(super) fn actor_columns(actor: Option<&ActorKey>) -> (Option<&str>, Option<&str>) {
    actor.map(|actor| (actor.kind.as_str(), actor.id.as_str())).unzip()
}
