//! `accord schema`: the JSON Schemas of the kit's documents.

use accord_contract::codes::Code;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Print the JSON Schema of a conformance document, or list the documents
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The document: case, report, event, baseline and so on
    name: Option<String>,
}

impl SchemaArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let schemas = accord_kit::schema::all();
        let mut output = Output::stdout();
        match &self.name {
            None => {
                for (name, _) in &schemas {
                    output.line(name)?;
                }
            }
            Some(wanted) => {
                let found = schemas.iter().find(|(name, _)| name == wanted);
                let (_, schema) = found.ok_or_else(|| unknown(wanted))?;
                output.line(format!("{schema:#}"))?;
            }
        }
        output.finish()?;
        Ok(Exit::Yes)
    }
}

fn unknown(name: &str) -> CliError {
    CliError::new(Code::Usage, format!("unknown document {name:?}"))
        .help("run `accord schema` for the list")
}
