//! `accord schema`: the JSON Schemas of the documents that Accord reads and writes.

use std::collections::BTreeMap;

use super::contract::SERVICES;
use super::suggestion;
use crate::{CliError, Exit, Result, print_line, print_page};

/// Print the JSON Schema of a document, or list the documents
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The document: case, report, run-status-answer, package and so on
    name: Option<String>,
}

impl SchemaArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let schemas = all();
        match &self.name {
            None => print_page(|page| schemas.keys().for_each(|name| page.line(name))),
            Some(name) => print_line(schemas.get(name).ok_or_else(|| unknown(name, &schemas))?),
        }
    }
}

/// The schemas of the documents of the kit, the requests and answers of the services, and the
/// bodies of a host's routes, as they are printed.
fn all() -> BTreeMap<String, String> {
    let kit = accord_kit::schema::all().into_iter();
    let kit = kit.map(|(name, schema)| (name.to_owned(), format!("{schema:#}")));
    let services = SERVICES.iter().flat_map(|(_, schemas)| schemas());
    let services = services.map(|(name, schema)| (name.to_owned(), schema));
    let host = accord_host::http::schemas().into_iter();
    let host = host.map(|(name, schema)| (name, format!("{schema:#}")));
    kit.chain(services).chain(host).collect()
}

fn unknown(name: &str, schemas: &BTreeMap<String, String>) -> CliError {
    let known = schemas.keys().map(String::as_str);
    CliError::usage(format!("unknown document {name:?}"))
        .help(suggestion(name, known).unwrap_or_else(|| "run `accord schema` for the list".into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use accord_contract::Object;

    use super::all;

    /// `ACCORD_BLESS=1` writes the files again.
    #[test]
    fn the_files_in_docs_are_the_schemas() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        let schemas = all();
        for (name, schema) in &schemas {
            let document: Object = serde_json::from_str(schema).expect("JSON");
            let dialect = document["$schema"].as_str().expect("a dialect");
            assert!(dialect.contains("2020-12"), "{name}: {dialect}");
            let path = folder.join(format!("{name}.schema.json"));
            let text = format!("{schema}\n");
            if std::env::var_os("ACCORD_BLESS").is_some() {
                std::fs::write(&path, &text).expect("written");
            }
            let file = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(file == text, "{} differs from the types", path.display());
        }
        let files = std::fs::read_dir(&folder).expect("a folder").map(|file| {
            let name = file.expect("a file").file_name();
            let name = name.to_str().expect("text").strip_suffix(".schema.json");
            name.expect("a schema").to_owned()
        });
        assert_eq!(files.collect::<BTreeSet<_>>(), schemas.into_keys().collect());
    }
}
