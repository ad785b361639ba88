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
///     accord_trees::forward! { disk: root_path, stat, list, open, make_folder, create,
///     append, truncate, rename, move_to, publish, sync, sync_folder, sync_tree, guard,
///     try_guard }
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
/// All other methods must be written out: a missing one does not compile. Only `keep_folders`,
/// `lanes` and `move_if_free` have defaults: the first keeps none, the second is one, the third
/// calls `stat` and `move_to`.
#[macro_export]
macro_rules! forward {
    (@ $disk:tt root_path) => {
        $crate::forward! { @ $disk fn root_path() -> &::std::path::Path }
    };
    (@ $disk:tt stat) => {
        $crate::forward! { @ $disk fn stat(path: &str) -> $crate::Result<Option<$crate::Stat>> }
    };
    (@ $disk:tt list) => {
        $crate::forward! {
            @ $disk fn list(path: &str) -> $crate::Result<Option<Vec<$crate::Entry>>>
        }
    };
    (@ $disk:tt open) => {
        $crate::forward! {
            @ $disk fn open(path: &str) -> $crate::Result<Option<Box<dyn $crate::Content>>>
        }
    };
    (@ $disk:tt make_folder) => {
        $crate::forward! { @ $disk fn make_folder(path: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt create) => {
        $crate::forward! { @ $disk fn create(path: &str, bytes: &[u8]) -> $crate::Result<bool> }
    };
    (@ $disk:tt append) => {
        $crate::forward! { @ $disk fn append(path: &str, bytes: &[u8]) -> $crate::Result<()> }
    };
    (@ $disk:tt truncate) => {
        $crate::forward! { @ $disk fn truncate(path: &str, length: u64) -> $crate::Result<()> }
    };
    (@ $disk:tt rename) => {
        $crate::forward! { @ $disk fn rename(from: &str, to: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt move_to) => {
        $crate::forward! { @ $disk fn move_to(from: &str, to: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt move_if_free) => {
        $crate::forward! {
            @ $disk fn move_if_free(from: &str, to: &str) -> $crate::Result<$crate::Moved>
        }
    };
    (@ $disk:tt publish) => {
        $crate::forward! { @ $disk fn publish(from: &str, to: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt remove_file) => {
        $crate::forward! { @ $disk fn remove_file(path: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt remove_tree) => {
        $crate::forward! { @ $disk fn remove_tree(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt sync) => {
        $crate::forward! { @ $disk fn sync(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt sync_folder) => {
        $crate::forward! { @ $disk fn sync_folder(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt sync_tree) => {
        $crate::forward! { @ $disk fn sync_tree() -> $crate::Result<()> }
    };
    (@ $disk:tt guard) => {
        $crate::forward! { @ $disk fn guard(path: &str) -> $crate::Result<Box<dyn Send>> }
    };
    (@ $disk:tt try_guard) => {
        $crate::forward! {
            @ $disk fn try_guard(path: &str) -> $crate::Result<Option<Box<dyn Send>>>
        }
    };
    (@ $disk:tt keep_folders) => {
        $crate::forward! { @ $disk fn keep_folders() -> Box<dyn Send> }
    };
    (@ $disk:tt lanes) => {
        $crate::forward! { @ $disk fn lanes() -> usize }
    };
    (@ $disk:tt fn $method:ident($($name:ident: $kind:ty),*) -> $gives:ty) => {
        fn $method(&self, $($name: $kind),*) -> $gives {
            $crate::Disk::$method(&self.$disk, $($name),*)
        }
    };
    ($disk:tt: $($method:ident),+ $(,)?) => {
        $($crate::forward! { @ $disk $method })+
    };
}
