//! Whom to judge: an adapter's command, a server, an implementation that says what it claims, or Accord.

use std::path::PathBuf;

use accord_contract::codes::{Code, Failure};
use accord_kit::case::{Case, Task};
use accord_kit::driver::{Adapter, Http, HttpOptions, LongLived, PerCase};
use accord_kit::verifier::Target;
use accord_kit::{Invocation, Protocol};

use super::super::conformance::{sendable, token_of_environment};
use super::ourselves::Ourselves;
use crate::error::CliError;

/// Whom to judge.
#[derive(Debug, clap::Args)]
pub(super) struct Whom {
    /// The adapter to judge, as a command with its arguments; Accord's own when absent
    #[arg(long, value_name = "COMMAND", conflicts_with = "look")]
    command: Option<String>,

    /// The adapter reads one case a line instead of being started for each case
    #[arg(long, requires = "command")]
    lines: bool,

    /// The folder of an implementation that says what it claims and how its adapter is started, in
    /// .PROTOCOL-conformance/capabilities.json; for protocols with tiers
    #[arg(long, value_name = "DIR", conflicts_with_all = ["look", "command", "server"])]
    target: Option<PathBuf>,

    #[command(flatten)]
    server: Server,
}

/// A server to judge over HTTP.
#[derive(Debug, clap::Args)]
#[group(id = "server", conflicts_with_all = ["look", "command"])]
struct Server {
    /// The server to judge, by its base URL, for protocols that are spoken over HTTP; a host of our
    /// own when absent
    #[arg(long, group = "reached")]
    url: Option<String>,

    /// The base URL of an implementation that says what it claims and carries cases out; for
    /// protocols with tiers
    #[arg(long, value_name = "URL", group = "reached", conflicts_with = "url")]
    remote: Option<String>,

    /// The key that requests carry; with --remote, ACCORD_CONFORMANCE_TOKEN when absent
    #[arg(long, value_name = "KEY", requires = "reached", value_parser = sendable)]
    token: Option<String>,

    /// A second key that does not reach what the run writes, to see that it does not
    #[arg(long, value_name = "KEY", requires_all = ["url", "token"], value_parser = sendable)]
    second_token: Option<String>,

    /// A project to read; nothing is written then
    #[arg(long, value_name = "ID", requires = "url")]
    project: Option<String>,
}

impl Whom {
    /// Whether it is somebody who says what it claims.
    pub(super) fn claims(&self) -> bool {
        self.target.is_some() || self.server.remote.is_some()
    }

    /// A host of our own, where a server is to be judged and none is named.
    pub(super) fn ourselves(&self, protocol: &Protocol) -> Result<Option<Ourselves>, CliError> {
        let is_named = self.server.url.is_some() || self.command.is_some() || self.claims();
        match protocol.routes().is_some() && !is_named {
            true => Ourselves::start().map(Some),
            false => Ok(None),
        }
    }

    /// Whom to judge. Accord judges itself through a process too, as it would
    /// judge anybody else.
    pub(super) fn adapter(
        &self,
        protocol: &Protocol,
        ourselves: Option<&Ourselves>,
    ) -> Result<Box<dyn Adapter>, CliError> {
        if let Some(host) = ourselves {
            return Ok(Box::new(Http::new(host.options()).map_err(Failure::from)?));
        }
        if let Some(target) = self.target(protocol)? {
            return Ok(Box::new(target));
        }
        if let Some(url) = &self.server.url {
            let mut options = HttpOptions::new(url);
            options.token = self.server.token.clone();
            options.second_token = self.server.second_token.clone();
            options.scope = self.server.project.clone();
            return Ok(Box::new(Http::new(options).map_err(Failure::from)?));
        }
        match &self.command {
            Some(command) => self.started(command),
            None => accord(protocol.name()),
        }
    }

    /// The words that name the same again. Keys stay out of what is printed.
    pub(super) fn words(&self) -> Vec<String> {
        let target = self.target.as_ref();
        let target = target.map(|folder| folder.display().to_string());
        let named = [
            ("--command", self.command.as_ref()),
            ("--target", target.as_ref()),
            ("--url", self.server.url.as_ref()),
            ("--remote", self.server.remote.as_ref()),
            ("--project", self.server.project.as_ref()),
        ];
        let mut words = Vec::new();
        for (flag, value) in named {
            words.extend(
                value
                    .map(|value| [flag.to_owned(), value.clone()])
                    .into_iter()
                    .flatten(),
            );
        }
        if self.lines {
            words.push("--lines".to_owned());
        }
        words
    }

    /// The words that give the same keys again. Their values stay out of what is printed: the shell is to put
    /// them in.
    pub(super) fn keys(&self) -> String {
        let mut words = String::new();
        if self.server.token.is_some() {
            words.push_str(" --token \"$ACCORD_KEY\"");
        }
        if self.server.second_token.is_some() {
            words.push_str(" --second-token \"$ACCORD_SECOND_KEY\"");
        }
        words
    }

    /// Refuses a program where only a server can be judged.
    pub(super) fn refuse_program_for_server(&self, protocol: &Protocol) -> Result<(), CliError> {
        let over_http = |case: &Case| matches!(case.task, Task::Exchange(_));
        if self.command.is_none() || !protocol.cases().iter().all(over_http) {
            return Ok(());
        }
        let message = format!(
            "{} is judged over HTTP, and --command names a program",
            protocol.name()
        );
        Err(CliError::new(Code::Usage, message).help(
            "start the server and name it with --url, or leave --command out to judge accord's own host",
        ))
    }

    /// The implementation that says what it claims, where one is named.
    fn target(&self, protocol: &Protocol) -> Result<Option<Target>, CliError> {
        if self.claims() && !protocol.cases().iter().any(|case| case.tier.is_some()) {
            let message = format!("{} has no tiers that could be claimed", protocol.name());
            let error = CliError::new(Code::Usage, message);
            return Err(error.help("name whom to judge, with --url or --command"));
        }
        let target = match (&self.target, &self.server.remote) {
            (Some(folder), _) => Some(Target::in_folder(folder, protocol)),
            (None, Some(url)) => {
                let mut options = HttpOptions::fixtures(url);
                options.token = match &self.server.token {
                    Some(token) => Some(token.clone()),
                    None => token_of_environment()?,
                };
                Some(Target::at_url(&options))
            }
            (None, None) => None,
        };
        Ok(target.transpose().map_err(Failure::from)?)
    }

    fn started(&self, command: &str) -> Result<Box<dyn Adapter>, CliError> {
        let words = shell_words::split(command).map_err(|error| {
            CliError::new(Code::Usage, format!("--command cannot be read: {error}"))
        })?;
        let Some((program, args)) = words.split_first() else {
            return Err(CliError::new(Code::Usage, "--command names no program"));
        };
        let invocation = Invocation::new(program, args);
        Ok(if self.lines {
            Box::new(LongLived::new(invocation))
        } else {
            Box::new(PerCase::new(invocation))
        })
    }
}

fn accord(protocol: &str) -> Result<Box<dyn Adapter>, CliError> {
    let accord = std::env::current_exe().map_err(|error| {
        CliError::new(
            Code::KitAdapterNotFound,
            format!("accord cannot find its own program: {error}"),
        )
    })?;
    if !accord_adapters::protocols().contains(&protocol) {
        return Err(CliError::new(
            Code::Usage,
            format!("accord has no adapter of its own for {protocol}"),
        )
        .help("name whom to judge, with --command, --target, --url or --remote"));
    }
    let invocation = Invocation::new(accord, ["adapter", protocol, "--lines"]);
    Ok(Box::new(LongLived::new(invocation)))
}
