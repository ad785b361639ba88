//! Disks that stand on another disk, and change only some of what is done to it.

/// Writes those methods of [`Disk`](crate::Disk) that hand a call on, as it is, to the disk in a member.
///
/// ```
/// use accord_trees::{Disk, Result, Root};
///
/// /// Folders that nothing is removed from.
/// struct Kept {
///     disk: Root,
/// }
///
/// impl Disk for Kept {
///     accord_trees::handed_on! { disk: place, stat, list, open, make_folder, create, append, truncate,
///     rename, publish, sync, sync_folder, guard }
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
/// Every other method must be written: one that is forgotten does not compile.
#[macro_export]
macro_rules! handed_on {
    (@ $disk:tt place) => {
        $crate::handed_on! { @ $disk fn place() -> &::std::path::Path }
    };
    (@ $disk:tt stat) => {
        $crate::handed_on! { @ $disk fn stat(path: &str) -> $crate::Result<Option<$crate::Stat>> }
    };
    (@ $disk:tt list) => {
        $crate::handed_on! { @ $disk fn list(path: &str) -> $crate::Result<Option<Vec<$crate::Entry>>> }
    };
    (@ $disk:tt open) => {
        $crate::handed_on! { @ $disk fn open(path: &str) -> $crate::Result<Option<Box<dyn $crate::Content>>> }
    };
    (@ $disk:tt make_folder) => {
        $crate::handed_on! { @ $disk fn make_folder(path: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt create) => {
        $crate::handed_on! { @ $disk fn create(path: &str, bytes: &[u8]) -> $crate::Result<bool> }
    };
    (@ $disk:tt append) => {
        $crate::handed_on! { @ $disk fn append(path: &str, bytes: &[u8]) -> $crate::Result<()> }
    };
    (@ $disk:tt truncate) => {
        $crate::handed_on! { @ $disk fn truncate(path: &str, length: u64) -> $crate::Result<()> }
    };
    (@ $disk:tt rename) => {
        $crate::handed_on! { @ $disk fn rename(from: &str, to: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt publish) => {
        $crate::handed_on! { @ $disk fn publish(from: &str, to: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt remove_file) => {
        $crate::handed_on! { @ $disk fn remove_file(path: &str) -> $crate::Result<bool> }
    };
    (@ $disk:tt remove_tree) => {
        $crate::handed_on! { @ $disk fn remove_tree(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt sync) => {
        $crate::handed_on! { @ $disk fn sync(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt sync_folder) => {
        $crate::handed_on! { @ $disk fn sync_folder(path: &str) -> $crate::Result<()> }
    };
    (@ $disk:tt guard) => {
        $crate::handed_on! { @ $disk fn guard(path: &str) -> $crate::Result<Box<dyn Send>> }
    };
    (@ $disk:tt fn $method:ident($($name:ident: $kind:ty),*) -> $gives:ty) => {
        fn $method(&self, $($name: $kind),*) -> $gives {
            $crate::Disk::$method(&self.$disk, $($name),*)
        }
    };
    ($disk:tt: $($method:ident),+ $(,)?) => {
        $($crate::handed_on! { @ $disk $method })+
    };
}
