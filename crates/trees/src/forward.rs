//! Disks that wrap another disk and change only some of its operations.

/// Implements the named methods of [`Disk`](crate::Disk) by calling the disk in a member.
///
/// ```
/// use accord_trees::{Disk, Result, Root};
///
/// /// A disk that never removes anything.
/// struct Kept {
///     disk: Root,
/// }
///
/// impl Disk for Kept {
///     accord_trees::forward! { disk: root_path, stat, list, open, make_folder, create, append,
///     truncate, rename, move_to, publish, sync, sync_folder, sync_tree, guard, try_guard }
///
///     fn remove_file(&self, _: &str) -> Result<bool> {
///         Ok(false)
///     }
///
///     fn remove_tree(&self, _: &str) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
///
/// With `disk after note: …`, each method calls `self.note()` first. Methods not named must
/// be written out: a missing one does not compile. Only `keep_folders` (none), `lanes` (one) and
/// `move_if_free` (calls `stat` and `move_to`) have defaults.
#[macro_export]
macro_rules! forward {
    (@ $how:tt root_path) => {
        $crate::forward! { @ $how fn root_path() -> &::std::path::Path }
    };
    (@ $how:tt stat) => {
        $crate::forward! { @ $how fn stat(path: &str) -> $crate::Result<Option<$crate::Stat>> }
    };
    (@ $how:tt list) => {
        $crate::forward! {
            @ $how fn list(path: &str) -> $crate::Result<Option<Vec<$crate::Entry>>>
        }
    };
    (@ $how:tt open) => {
        $crate::forward! {
            @ $how fn open(path: &str) -> $crate::Result<Option<Box<dyn $crate::Content>>>
        }
    };
    (@ $how:tt make_folder) => {
        $crate::forward! { @ $how fn make_folder(path: &str) -> $crate::Result<bool> }
    };
    (@ $how:tt create) => {
        $crate::forward! { @ $how fn create(path: &str, bytes: &[u8]) -> $crate::Result<bool> }
    };
    (@ $how:tt append) => {
        $crate::forward! { @ $how fn append(path: &str, bytes: &[u8]) -> $crate::Result<()> }
    };
    (@ $how:tt truncate) => {
        $crate::forward! { @ $how fn truncate(path: &str, length: u64) -> $crate::Result<()> }
    };
    (@ $how:tt rename) => {
        $crate::forward! { @ $how fn rename(from: &str, to: &str) -> $crate::Result<()> }
    };
    (@ $how:tt move_to) => {
        $crate::forward! { @ $how fn move_to(from: &str, to: &str) -> $crate::Result<()> }
    };
    (@ $how:tt move_if_free) => {
        $crate::forward! {
            @ $how fn move_if_free(from: &str, to: &str) -> $crate::Result<$crate::Moved>
        }
    };
    (@ $how:tt publish) => {
        $crate::forward! { @ $how fn publish(from: &str, to: &str) -> $crate::Result<bool> }
    };
    (@ $how:tt remove_file) => {
        $crate::forward! { @ $how fn remove_file(path: &str) -> $crate::Result<bool> }
    };
    (@ $how:tt remove_tree) => {
        $crate::forward! { @ $how fn remove_tree(path: &str) -> $crate::Result<()> }
    };
    (@ $how:tt sync) => {
        $crate::forward! { @ $how fn sync(path: &str) -> $crate::Result<()> }
    };
    (@ $how:tt sync_folder) => {
        $crate::forward! { @ $how fn sync_folder(path: &str) -> $crate::Result<()> }
    };
    (@ $how:tt sync_tree) => {
        $crate::forward! { @ $how fn sync_tree() -> $crate::Result<()> }
    };
    (@ $how:tt guard) => {
        $crate::forward! { @ $how fn guard(path: &str) -> $crate::Result<Box<dyn Send>> }
    };
    (@ $how:tt try_guard) => {
        $crate::forward! {
            @ $how fn try_guard(path: &str) -> $crate::Result<Option<Box<dyn Send>>>
        }
    };
    (@ $how:tt keep_folders) => {
        $crate::forward! { @ $how fn keep_folders() -> Box<dyn Send> }
    };
    (@ $how:tt lanes) => {
        $crate::forward! { @ $how fn lanes() -> usize }
    };
    (@ [$disk:tt $($first:ident)?] fn $method:ident($($name:ident: $kind:ty),*) -> $gives:ty) => {
        fn $method(&self, $($name: $kind),*) -> $gives {
            $(self.$first();)?
            $crate::Disk::$method(&self.$disk, $($name),*)
        }
    };
    ($disk:tt: $($method:ident),+ $(,)?) => {
        $($crate::forward! { @ [$disk] $method })+
    };
    ($disk:tt after $first:ident: $($method:ident),+ $(,)?) => {
        $($crate::forward! { @ [$disk $first] $method })+
    };
}
