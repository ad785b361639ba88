//! `accord adapter`: Accord as an implementation that answers the kit's cases.

use std::io::Write as _;

use accord_adapters::Adapter;
use accord_adapters::agentxchain::workspaces;
use accord_contract::fixture::{AdapterResult, Status};
use accord_contract::{Code, Wire as _};

use crate::input::{DEFAULT_MAX_BYTES, InputArgs, InputLine};
use crate::interrupt::{Interrupted, stop_programs_on_signal};
use crate::{CliError, Exit, Output, Result, print_line};

/// Answer conformance cases as an adapter: one case, or one case per line
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 pass, 1 fail, 2 error, 3 not implemented; \
with --lines, 0 when the input ends.")]
pub(crate) struct AdapterArgs {
    /// The protocol
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(accord_adapters::protocols()))]
    protocol: String,

    /// Read one case per line and write one result per line, until the input ends
    #[arg(long)]
    lines: bool,

    /// Answer with a seeded fault, to test the kit
    #[cfg(feature = "faults")]
    #[arg(long, value_name = "NAME", hide = true)]
    fault: Option<String>,
}

impl AdapterArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        // A fixture can start programs in process groups of their own, and works in a folder.
        let interrupted = stop_programs_on_signal(workspaces)?;
        let adapter = self.adapter()?;
        if self.lines {
            return serve_lines(adapter.as_ref(), &interrupted);
        }
        // Steps come line by line, with one process or many.
        if adapter.has_steps() {
            return serve_one(adapter.as_ref(), &interrupted);
        }
        let result = match standard_input().read() {
            Ok(case) => adapter.answer(&case),
            Err(error) => AdapterResult::without_outcome(Status::Error, error.to_string()),
        };
        interrupted.block_if_set();
        print_line(result.encode().to_string())?;
        Ok(Exit::Other(result.status.exit_code()))
    }

    fn adapter(&self) -> Result<Box<dyn Adapter>> {
        #[cfg(feature = "faults")]
        if let Some(name) = &self.fault {
            use accord_adapters::faults::{Faulty, faults_of};
            let mut faults = faults_of(&self.protocol).iter();
            let fault = faults
                .find(|fault| fault.name == name)
                .ok_or_else(|| CliError::usage(format!("no fault is called {name:?}")))?;
            return Ok(Box::new(Faulty::new(self.honest()?.into(), *fault)));
        }
        self.honest()
    }

    fn honest(&self) -> Result<Box<dyn Adapter>> {
        accord_adapters::adapter(&self.protocol).ok_or_else(|| {
            CliError::usage(format!("accord has no adapter for {:?}", self.protocol))
        })
    }
}

/// Answers line by line. Each answer is flushed before the next case is read.
fn serve_lines(adapter: &dyn Adapter, interrupted: &Interrupted) -> Result<Exit> {
    let mut lines = standard_input().lines()?;
    let mut output = Output::stdout();
    while let Some(line) = lines.next()? {
        let answer = match line {
            InputLine::Text(case) => (adapter.answer_step(&case))
                .unwrap_or_else(|| adapter.answer(&case).encode().to_string()),
            InputLine::TooLong => {
                let message = format!("the case is longer than {DEFAULT_MAX_BYTES} bytes");
                AdapterResult::without_outcome(Status::Error, message).encode().to_string()
            }
        };
        interrupted.block_if_set();
        output.line(answer)?;
        output.flush().map_err(CliError::from_output)?;
    }
    Ok(Exit::Yes)
}

/// Answers one case, or the steps of one case that is judged by a folder. A case may have several
/// lines; a step has one.
fn serve_one(adapter: &dyn Adapter, interrupted: &Interrupted) -> Result<Exit> {
    let mut lines = standard_input().lines()?;
    let mut output = Output::stdout();
    let (mut case, mut has_steps) = (Vec::new(), false);
    while let Some(line) = lines.next()? {
        let InputLine::Text(line) = line else {
            let message = format!("a line is longer than {DEFAULT_MAX_BYTES} bytes");
            return Err(CliError::new(Code::InputTooLarge, message));
        };
        if let Some(answer) = adapter.answer_step(&line).filter(|_| case.is_empty()) {
            has_steps = true;
            interrupted.block_if_set();
            output.line(answer)?;
            output.flush().map_err(CliError::from_output)?;
            continue;
        }
        case.extend_from_slice(&line);
        case.push(b'\n');
    }
    if has_steps && case.trim_ascii().is_empty() {
        return Ok(Exit::Yes);
    }
    let result = adapter.answer(&case);
    output.line(result.encode().to_string())?;
    output.finish()?;
    Ok(Exit::Other(result.status.exit_code()))
}

fn standard_input() -> InputArgs {
    InputArgs { file: "-".into(), max_bytes: DEFAULT_MAX_BYTES }
}
