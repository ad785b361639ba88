//! Settings that are kept with the data: names and values, of the store or of a project.

use accord_base::ProjectId;

use crate::Result;

/// What a setting holds for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Scope<'a> {
    /// The whole store.
    Store,
    /// One project.
    Project(&'a ProjectId),
}

/// Reads settings.
pub trait Settings {
    /// The value of a setting.
    fn setting(&self, scope: Scope<'_>, name: &str) -> Result<Option<String>>;

    /// All settings of a scope, in the order of their names.
    fn settings(&self, scope: Scope<'_>) -> Result<Vec<(String, String)>>;
}

/// Writes settings.
pub trait SettingWrites {
    /// Sets a setting, or removes it.
    ///
    /// # Errors
    /// With a conflict when there is no such project.
    fn put_setting(&mut self, scope: Scope<'_>, name: &str, value: Option<&str>) -> Result<()>;
}
