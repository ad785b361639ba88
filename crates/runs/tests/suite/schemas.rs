//! The published schemas of the answers are what the types say.

use std::fs;
use std::path::Path;

#[test]
fn the_schemas_in_docs_are_made_from_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, schema) in accord_runs_core::operations::answers::schemas() {
        let path = folder.join(format!("{name}.schema.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("ACCORD_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "{} is not what the types say; ACCORD_BLESS=1 writes it again",
            path.display()
        );
    }
}
