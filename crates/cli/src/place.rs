//! Which of several places a command uses.

use std::path::Path;
use std::sync::Once;

use crate::print_note;
use crate::render::clean;

/// Names the place that a command found, if there is another one in a folder above it. An agent
/// that can write into a subfolder can make a place there that hides the real one.
pub(crate) fn note_other_above(used: &Path, what: &str, is_one: impl Fn(&Path) -> bool) {
    static NOTED: Once = Once::new();
    let Ok(used) = used.canonicalize() else { return };
    let is_data = used.file_name().is_some_and(|name| name == accord_host::upkeep::DATA_FOLDER);
    let own = used.ancestors().skip(if is_data { 2 } else { 1 });
    if let Some(other) = own.into_iter().find(|folder| is_one(folder)) {
        let (used, other) = (used.display(), other.display());
        let note = format!("using {what} {used}; there is another one above, in {other}");
        NOTED.call_once(|| print_note(clean(&note)));
    }
}
