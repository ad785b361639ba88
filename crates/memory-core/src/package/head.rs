//! What a row repeats of a package, read without reading the rest.

use std::borrow::Cow;

use accord_contract::codes::Failure;
use serde::Deserialize;

use super::broken;

/// The members of a stored package that say which it is, who may see it, and where it stands.
#[derive(Clone, Debug, Deserialize)]
pub struct PackageHead<'t> {
    /// The package's id.
    #[serde(borrow)]
    pub package_id: Cow<'t, str>,
    /// The project that owns it.
    #[serde(borrow)]
    pub project_id: Cow<'t, str>,
    /// Where it stands.
    #[serde(borrow)]
    pub status: Cow<'t, str>,
    /// What kind of package it is.
    #[serde(borrow)]
    pub package_type: Cow<'t, str>,
    /// Who reviews it.
    #[serde(borrow)]
    pub review_type: Cow<'t, str>,
    /// When it was made.
    #[serde(borrow)]
    pub created_at: Cow<'t, str>,
    /// Who made it.
    #[serde(borrow)]
    pub created_by: HeadActor<'t>,
}

/// Who made a package.
#[derive(Clone, Debug, Deserialize)]
pub struct HeadActor<'t> {
    /// The actor's id.
    #[serde(borrow)]
    pub id: Cow<'t, str>,
    /// What kind of actor it is.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'t, str>,
    /// The session in which it was made; empty where some client wrote that for none.
    #[serde(borrow)]
    pub session_id: Option<Cow<'t, str>>,
}

impl<'t> PackageHead<'t> {
    /// Reads the head of a stored text.
    ///
    /// # Errors
    /// With `integrity_error` when the text is no package any more.
    pub fn read(stored: &'t str) -> Result<Self, Failure> {
        serde_json::from_str(stored).map_err(|error| broken(&error.to_string()))
    }
}
