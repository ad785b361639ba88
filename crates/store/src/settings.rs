//! Settings in the store: names and values, of the whole store or of a project.

use accord_base::ProjectId;

use crate::Result;

/// The setting of the store with the id of its incarnation: a store that was restored from a backup
/// has another one than before. It is absent until it is needed.
pub const INCARNATION: &str = "incarnation";
/// The store setting with the names of the incarnations before, separated by spaces: those of the
/// stores that this one was restored from.
pub const INCARNATIONS_BEFORE: &str = "incarnation.before";

/// The scope of a setting.
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
    /// Sets a setting, or removes it. It is a conflict when the project does not exist.
    fn put_setting(&mut self, scope: Scope<'_>, name: &str, value: Option<&str>) -> Result<()>;
}
