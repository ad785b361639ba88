//! One entry of Accord in a file: what it is, how it gets in, how it gets out.

use accord_contract::Failure;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bytes::Text;
use crate::document::Dialect;
use crate::{json, markdown, table};

/// An entry. The value of a name is the whole entry.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A member of an object in JSON.
    Member { path: Vec<String>, value: Value },
    /// A handler in the list of hooks of an event, in JSON.
    Hook { path: Vec<String>, value: Value },
    /// A table in TOML.
    Table { path: Vec<String>, value: Value },
    /// A block of Markdown between two markers.
    Block { body: String },
    /// A file that is Accord's as a whole.
    File { text: String },
}

/// An entry as it was written, so that it can be taken out again.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Written {
    #[serde(flatten)]
    pub(crate) entry: Entry,
    /// The objects and arrays that were made for it, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<Vec<String>>,
    /// The text that was appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<String>,
}

/// What an edit does to a text.
#[derive(Clone, Debug)]
pub(crate) enum Edited {
    /// The entry is there already.
    Same,
    /// A new text, with the entry as it is written now.
    Changed(String, Written),
    /// Somebody changed the entry; it is kept as it is.
    Kept(String),
}

/// How an edit treats what it finds.
pub(crate) struct Terms<'a> {
    pub(crate) path: &'a str,
    pub(crate) dialect: Dialect,
    /// The entry that Accord wrote before.
    pub(crate) written: Option<&'a Written>,
    /// Replaces what somebody changed.
    pub(crate) force: bool,
}

impl Entry {
    /// Adds the entry, or brings an older one up to date.
    pub(crate) fn put(&self, text: &Text, terms: &Terms<'_>) -> Result<Edited, Failure> {
        match self {
            Self::Member { path, value } => json::put_member(text, path, value, terms),
            Self::Hook { path, value } => json::put_hook(text, path, value, terms),
            Self::Table { path, value } => table::put(text, path, value, terms),
            Self::Block { body } => markdown::put(text, body, terms),
            Self::File { text: whole } => Ok(put_file(text, whole, terms)),
        }
    }

    /// Takes the entry out, if it is still what was written.
    pub(crate) fn take(&self, text: &Text, terms: &Terms<'_>) -> Result<Edited, Failure> {
        match self {
            Self::Member { path, value } => json::take_member(text, path, value, terms),
            Self::Hook { path, value } => json::take_hook(text, path, value, terms),
            Self::Table { path, value } => table::take(text, path, value, terms),
            Self::Block { .. } => markdown::take(text, terms),
            // The removal of a whole file compares its hash.
            Self::File { .. } => Ok(Edited::Kept("somebody changed it".to_owned())),
        }
    }

    pub(crate) fn written(&self) -> Written {
        Written { entry: self.clone(), made: Vec::new(), added: None }
    }
}

fn put_file(text: &Text, whole: &str, terms: &Terms<'_>) -> Edited {
    let entry = Entry::File { text: whole.to_owned() };
    let is_ours = match terms.written {
        Some(Written { entry: Entry::File { text: old }, .. }) => *old == text.text,
        _ => text.text.is_empty(),
    };
    if text.text == whole {
        return Edited::Same;
    }
    match is_ours || terms.force {
        true => Edited::Changed(whole.to_owned(), entry.written()),
        false => Edited::Kept("somebody changed it".to_owned()),
    }
}
