//! What a worker tells its hub of the files that its agent changed: the same as an edge would,
//! within the same limits, and without credentials.

use accord_api::operations::edges::EdgeSend;
use accord_contract::{Value, Wire as _};
use accord_outbox::evidence;
use accord_outbox::{Patterns, redact};
use accord_tasks::worker::ChangedFile;
use accord_tasks_core::operations::TaskChanges;

/// The document about files that an agent changed.
pub fn described(files: Vec<ChangedFile>) -> Option<TaskChanges> {
    let of = |file: ChangedFile| {
        let ChangedFile { path, size, sha256, diff, is_binary } = file;
        let path = redact(Value::String(path)).as_str().unwrap_or_default().to_owned();
        evidence::ChangedFile { path, size, sha256, diff, is_binary }
    };
    let files: Vec<evidence::ChangedFile> = files.into_iter().map(of).collect();
    let mut document = evidence::files(&files, EdgeSend::Diff, &Patterns::default());
    document.remove("excluded_files");
    TaskChanges::from_document(Value::Object(document)).ok()
}
