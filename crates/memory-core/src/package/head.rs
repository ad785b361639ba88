//! The members of a package that its row repeats, read without the others.

use std::borrow::Cow;

use accord_contract::Failure;
use serde::Deserialize;

use super::broken;

/// The members of a stored package that a row repeats.
#[derive(Clone, Debug, Deserialize)]
pub struct PackageHead<'t> {
    #[serde(borrow)]
    pub package_id: Cow<'t, str>,
    #[serde(borrow)]
    pub project_id: Cow<'t, str>,
    #[serde(borrow)]
    pub status: Cow<'t, str>,
    #[serde(borrow)]
    pub package_type: Cow<'t, str>,
    #[serde(borrow)]
    pub review_type: Cow<'t, str>,
    #[serde(borrow)]
    pub created_at: Cow<'t, str>,
    #[serde(borrow)]
    pub created_by: HeadActor<'t>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct HeadActor<'t> {
    #[serde(borrow)]
    pub id: Cow<'t, str>,
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'t, str>,
    /// The session in which it was created; some clients write an empty text for none.
    #[serde(borrow)]
    pub session_id: Option<Cow<'t, str>>,
}

impl<'t> PackageHead<'t> {
    /// Reads the head of a stored text. Fails with `integrity_error` when the text is not a
    /// package.
    pub fn read(stored: &'t str) -> Result<Self, Failure> {
        serde_json::from_str(stored).map_err(|error| broken(&error.to_string()))
    }
}
