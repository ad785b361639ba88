//! `accord hook`: the briefing of the memory, for a coding agent whose session begins.

use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::sync::mpsc;
use std::time::Duration;

use accord_api::body::OneOf;
use accord_base::tokens;
use accord_memory_core::operations::{Orient, OrientParams};
use accord_memory_core::query::OrientFormat;
use accord_system::now;
use accord_wiring::hook::{Start, answer, heading, shortened};

use crate::host::{IfMissing, ProjectArg, TargetArgs, in_project};
use crate::{Exit, Result, print_line};

/// The client waits for the hook.
const LIMIT: Duration = Duration::from_secs(1);

/// An event is a few hundred bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The smallest briefing.
const LEAST_TOKENS: u32 = 300;

/// Print the briefing of the memory, when a coding agent begins a session
///
/// `accord init` writes this command into the settings of an agent, which starts it with the event
/// on standard input. It prints the briefing in the form of that agent, within a second. It prints
/// nothing if the event is another one, or if there is no memory or no answer; the exit code is 0.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The maximum size of the briefing in tokens, at least 400; never more than 8,000 characters
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(400..))]
    max_tokens: u32,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    target: TargetArgs,
}

impl HookArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        // The client would show notes to the person, or take them for an error.
        if let Ok(nothing) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stderr(nothing.as_fd());
        }
        let (sender, receiver) = mpsc::channel();
        // At the limit, this thread ends with the process.
        std::thread::spawn(move || sender.send(self.answer()));
        match receiver.recv_timeout(LIMIT) {
            // A client that has closed its side needs no answer.
            Ok(Some(text)) => Ok(print_line(text).unwrap_or(Exit::Yes)),
            Ok(None) | Err(_) => Ok(Exit::Yes),
        }
    }

    fn answer(&self) -> Option<String> {
        let mut event = String::new();
        std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut event).ok()?;
        let start = Start::read(&event)?;
        if let Some(folder) = &start.folder {
            std::env::set_current_dir(folder).ok()?;
        }
        let host = self.target.connect(IfMissing::Fail).ok()?;
        let project = self.project.required(&self.target, &host).ok()?;
        let heading = heading(&project, &now().to_string());
        let own = u32::try_from(tokens(&heading)).ok()?;
        let room = self.max_tokens.saturating_sub(own).max(LEAST_TOKENS);
        let asked = OrientParams {
            format: Some(OrientFormat::Briefing),
            max_tokens: Some(room),
            ..OrientParams::default()
        };
        let answered = host.ask::<Orient>(in_project(&project).ok()?, asked).ok()?;
        let OneOf::Other(briefing) = answered.answer else { return None };
        Some(answer(start.caller, &shortened(&format!("{heading}{}", briefing.text))))
    }
}
