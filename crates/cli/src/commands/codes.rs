//! `accord codes`: the registry of failure codes.

use accord_contract::codes::{self, Category, Code, Protocol, RetryClass, WireCode};
use accord_contract::compat::Direction;
use accord_contract::snapshot::Builder;
use accord_contract::wire::{Extensible, Value, Wire as _, message};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

message! {
    /// One failure code.
    pub(crate) struct CodeEntry("CodeEntry", closed) {
        /// The code.
        required code: WireCode = "code", "failure-code";
        /// Who defined it.
        required protocol: Extensible<Protocol> = "protocol", "protocol-name";
        /// Its stable category.
        required category: Extensible<Category> = "category", "failure-category";
        /// When a request that failed with it may be sent again.
        required retry: Extensible<RetryClass> = "retry", "retry-class";
        /// Its HTTP status.
        required http_status: u64 = "httpStatus", "http-status";
        /// What it means and what to do.
        required meaning: String = "meaning", "text-for-people";
    }
}

/// Adds the entries to a snapshot.
pub(crate) fn add_to(snapshot: Builder) -> Builder {
    snapshot.message::<CodeEntry>(Direction::Response)
}

/// List the failure codes, or explain one
#[derive(Debug, clap::Args)]
pub(crate) struct CodesArgs {
    /// The code to explain
    code: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CodesArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let selected = match &self.code {
            None => Code::ALL.to_vec(),
            Some(name) => vec![Code::parse(name).ok_or_else(|| unknown(name))?],
        };
        let mut output = Output::stdout();
        if self.json {
            let entries: Vec<_> = selected.iter().map(entry).collect();
            let document = match self.code {
                Some(_) => entries[0].clone(),
                None => Value::from(entries),
            };
            output.line(format!("{document:#}"))?;
        } else if self.code.is_some() {
            output.bytes(codes::page(selected[0]).as_bytes())?;
        } else {
            let width = selected.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
            for code in selected {
                output.line(format!("{:width$}  {}", code.as_str(), code.meaning()))?;
            }
        }
        output.finish()?;
        Ok(Exit::Yes)
    }
}

fn entry(code: &Code) -> Value {
    CodeEntry {
        code: (*code).into(),
        protocol: code.protocol().into(),
        category: code.category().into(),
        retry: code.retry().into(),
        http_status: code.http_status().into(),
        meaning: code.meaning().to_owned(),
    }
    .encode()
}

fn unknown(name: &str) -> CliError {
    let meant = Code::ALL.iter().find(|code| code.as_str().eq_ignore_ascii_case(name));
    let help = match meant {
        Some(code) => format!("did you mean {code}?"),
        None => "run `accord codes` for the list".to_owned(),
    };
    CliError::new(Code::Usage, format!("unknown failure code {name:?}")).help(help)
}
