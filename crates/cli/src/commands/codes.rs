//! `accord codes`: the registry of failure codes.

use accord_contract::codes::{self, Category, RetryClass};
use accord_contract::compat::Direction;
use accord_contract::snapshot::Builder;
use accord_contract::{Code, Extensible, Protocol, Wire as _, WireCode, message};

use super::suggestion;
use crate::render::Page;
use crate::{CliError, Exit, Result, print_either};

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
    pub(crate) fn run(self) -> Result<Exit> {
        let selected = match &self.code {
            None => Code::ALL.to_vec(),
            Some(name) => vec![Code::parse(name).ok_or_else(|| unknown(name))?],
        };
        let document = || {
            let entries: Vec<CodeEntry> = selected.iter().map(entry).collect();
            let is_one = self.code.is_some();
            format!("{:#}", if is_one { entries[0].encode() } else { entries.encode() })
        };
        print_either(self.json.then(document), |page| match self.code {
            Some(_) => explain(page, selected[0]),
            None => {
                let meaning = |code: &Code| (code.as_str(), code.meaning().to_owned());
                page.terms(&selected.iter().map(meaning).collect::<Vec<_>>());
            }
        })
    }
}

fn explain(page: &mut Page, code: Code) {
    // What is code in Markdown needs no mark here.
    let plain = |text: &str| text.replace('`', "");
    page.heading(code.as_str());
    page.paragraph(&plain(code.meaning()));
    page.gap();
    let properties = codes::properties(code);
    let names: Vec<String> = properties.iter().map(|(name, _)| plain(name)).collect();
    let texts = properties.iter().map(|(_, text)| plain(text));
    let terms: Vec<_> = names.iter().map(String::as_str).zip(texts).collect();
    page.terms(&terms);
}

fn entry(code: &Code) -> CodeEntry {
    CodeEntry {
        code: (*code).into(),
        protocol: code.protocol().into(),
        category: code.category().into(),
        retry: code.retry().into(),
        http_status: code.http_status().into(),
        meaning: code.meaning().to_owned(),
    }
}

fn unknown(name: &str) -> CliError {
    let known = Code::ALL.iter().map(|code| code.as_str());
    CliError::usage(format!("unknown failure code {name:?}"))
        .help(suggestion(name, known).unwrap_or_else(|| "run `accord codes` for the list".into()))
}
