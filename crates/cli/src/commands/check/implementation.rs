//! The implementation to test: an adapter command, a server, a target with capabilities, or Accord.

use std::path::PathBuf;

use accord_contract::{Code, Failure};
use accord_kit::case::{Case, Task};
use accord_kit::driver::{
    Adapter, ChannelServer, Combined, ControlOptions, Http, HttpOptions, LongLived, PerCase,
};
use accord_kit::verifier::Target;
use accord_kit::{Invocation, Protocol};

use super::super::conformance::{sendable, token_or_environment};
use super::own_host::OwnHost;
use crate::{CliError, Result};

/// The implementation to test.
#[derive(Debug, clap::Args)]
pub(super) struct ImplementationArgs {
    /// The adapter, as a command with arguments [default: Accord's own]
    #[arg(long, value_name = "COMMAND", conflicts_with = "inspect")]
    command: Option<String>,

    /// Start the adapter once, and send one case per line
    #[arg(long, requires = "command")]
    lines: bool,

    /// The folder of an implementation with .PROTOCOL-conformance/capabilities.json, which declares
    /// its claims and its adapter; for protocols with tiers
    #[arg(long, value_name = "DIR", conflicts_with_all = ["inspect", "command", "server"])]
    target: Option<PathBuf>,

    /// Keep the folder that each case leaves behind, below this folder; for protocols that are
    /// tested by folders
    #[arg(long, value_name = "DIR", conflicts_with_all = ["inspect", "target", "server"])]
    keep_folders: Option<PathBuf>,

    /// The program of a Chromium, for cases about what a person sees [default: the one in PATH;
    /// without one, these cases are skipped]
    #[arg(
        long, value_name = "PATH",
        conflicts_with_all = ["inspect", "command", "target", "remote"]
    )]
    browser: Option<PathBuf>,

    #[command(flatten)]
    server: Server,
}

/// A server to test over HTTP.
#[derive(Debug, clap::Args)]
#[group(id = "server", conflicts_with_all = ["inspect", "command"])]
struct Server {
    /// The base URL of a server, for protocols over HTTP [default: a temporary host of Accord]
    #[arg(long, group = "reached")]
    url: Option<String>,

    /// The base URL of an implementation that declares its claims and executes cases; for
    /// protocols with tiers
    #[arg(long, value_name = "URL", group = "reached", conflicts_with = "url")]
    remote: Option<String>,

    /// The key for requests [default with --remote: ACCORD_CONFORMANCE_TOKEN]
    #[arg(long, value_name = "KEY", requires = "reached", value_parser = sendable)]
    token: Option<String>,

    /// A second key without access to the data of the run, to test that access is refused
    #[arg(long, value_name = "KEY", requires_all = ["url", "token"], value_parser = sendable)]
    second_token: Option<String>,

    /// A project for read-only cases; nothing is written
    #[arg(long, value_name = "ID", requires = "url")]
    project: Option<String>,

    /// The base URL of the server's conformance control, which sets up the sessions of cases over a
    /// channel; without it, these cases are skipped
    #[arg(long, value_name = "URL", requires = "url")]
    control: Option<String>,

    /// The token of the conformance control [default: ACCORD_CONFORMANCE_TOKEN]
    #[arg(long, value_name = "TOKEN", requires = "control", value_parser = sendable)]
    control_token: Option<String>,

    /// The path of the server's MCP endpoint, if the protocol has a channel [default: the
    /// protocol's]
    #[arg(long, value_name = "PATH", requires = "url")]
    mcp: Option<String>,

    /// Remove the projects of the run at its end, and report what stays; the key needs admin for
    /// all projects
    #[arg(long, requires = "url", conflicts_with = "project")]
    cleanup: bool,
}

impl ImplementationArgs {
    /// Whether the implementation declares its claims.
    pub(super) fn has_claims(&self) -> bool {
        self.target.is_some() || self.server.remote.is_some()
    }

    /// A temporary host, if a server is to be tested and none is given.
    pub(super) fn own_host(&self, protocol: &Protocol) -> Result<Option<OwnHost>> {
        let is_named = self.server.url.is_some() || self.command.is_some() || self.has_claims();
        let has_server = protocol.routes().is_some() || protocol.channel().is_some();
        if !has_server || is_named {
            return Ok(None);
        }
        OwnHost::start(protocol.channel().is_some()).map(Some)
    }

    /// The adapter. Accord tests itself through a process too, like any other implementation.
    pub(super) fn adapter(
        &self,
        protocol: &Protocol,
        own_host: Option<&OwnHost>,
    ) -> Result<Box<dyn Adapter>> {
        if let Some(host) = own_host
            && let Some(control) = host.control()
        {
            let server = ChannelServer::new(host.options(), Some(&control));
            let server = server.map_err(Failure::from)?.mcp(LIVE_TOOLS).browser(self.browser()?);
            // The cases that call functions go to the adapter.
            let adapter = self.accord(protocol.name())?;
            return Ok(Box::new(Combined::new(Box::new(server), adapter)));
        }
        if let Some(host) = own_host {
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
            options.cleanup = self.server.cleanup;
            if protocol.channel().is_some() {
                let control = self.control()?;
                let server = ChannelServer::new(options, control.as_ref());
                let server = server.map_err(Failure::from)?.browser(self.browser()?);
                return Ok(match &self.server.mcp {
                    Some(path) => Box::new(server.mcp(path)),
                    None => Box::new(server),
                });
            }
            return Ok(Box::new(Http::new(options).map_err(Failure::from)?));
        }
        match &self.command {
            Some(command) => self.started(command),
            None => self.accord(protocol.name()),
        }
    }

    /// The conformance control of the server, if one is given.
    fn control(&self) -> Result<Option<ControlOptions>> {
        let Some(url) = &self.server.control else { return Ok(None) };
        let mut control = ControlOptions::new(url);
        control.token = token_or_environment(self.server.control_token.as_ref())?;
        Ok(Some(control))
    }

    /// The Chromium for the cases about pages. A named one that is not there is an error; none at
    /// all is not.
    fn browser(&self) -> Result<Option<PathBuf>> {
        let named = self.browser.as_deref();
        match accord_kit::browser::find(named) {
            Ok(program) => Ok(Some(program)),
            Err(_) if named.is_none() => Ok(None),
            Err(error) => Err(CliError::usage(format!("--browser: {error}"))
                .help("give the path of a Chromium, or leave --browser out to look in PATH")),
        }
    }

    /// Refuses --browser for a protocol without pages.
    pub(super) fn refuse_unused_browser(&self, protocol: &Protocol) -> Result<()> {
        if self.browser.is_none() || protocol.channel().is_some() {
            return Ok(());
        }
        let message =
            format!("{} has no cases about pages, so it needs no browser", protocol.name());
        Err(CliError::usage(message).help("leave --browser out"))
    }

    /// How to remove the projects that a run leaves on a server.
    pub(super) fn removal(&self) -> Option<String> {
        let url = self.server.url.as_ref()?;
        let words = ["accord", "project", "remove", "--conformance", "--url", url];
        let command = shell_words::join(words);
        Some(match self.server.cleanup {
            false => format!("`{command}` removes them from a host of Accord; so does --cleanup"),
            true => "`accord project archive ID` archives one; the server's operator decides what \
                     is removed"
                .to_owned(),
        })
    }

    /// The flags that select the same implementation again, without keys: they are printed.
    pub(super) fn flags(&self) -> Vec<String> {
        let shown = |path: &PathBuf| path.display().to_string();
        let (target, browser) = (self.target.as_ref().map(shown), self.browser.as_ref().map(shown));
        let named = [
            ("--command", self.command.as_ref()),
            ("--target", target.as_ref()),
            ("--url", self.server.url.as_ref()),
            ("--remote", self.server.remote.as_ref()),
            ("--project", self.server.project.as_ref()),
            ("--control", self.server.control.as_ref()),
            ("--mcp", self.server.mcp.as_ref()),
            ("--browser", browser.as_ref()),
        ];
        let mut words = Vec::new();
        for (flag, value) in named {
            words.extend(value.map(|value| [flag.to_owned(), value.clone()]).into_iter().flatten());
        }
        words.extend(self.lines.then(|| "--lines".to_owned()));
        words.extend(self.server.cleanup.then(|| "--cleanup".to_owned()));
        words
    }

    /// The flags for the same keys. Variables of the shell stand for the values, which must not be
    /// printed.
    pub(super) fn key_flags(&self) -> String {
        let keys = [
            (&self.server.token, " --token \"$ACCORD_KEY\""),
            (&self.server.second_token, " --second-token \"$ACCORD_SECOND_KEY\""),
            (&self.server.control_token, " --control-token \"$ACCORD_CONFORMANCE_TOKEN\""),
        ];
        keys.into_iter().filter(|(key, _)| key.is_some()).map(|(_, words)| words).collect()
    }

    /// Refuses --command for a protocol that is tested over HTTP.
    pub(super) fn refuse_program_for_server(&self, protocol: &Protocol) -> Result<()> {
        let over_http = |case: &Case| matches!(case.task, Task::Exchange(_));
        if self.command.is_none() || !protocol.cases().iter().all(over_http) {
            return Ok(());
        }
        let message =
            format!("{} is tested over HTTP, and --command gives a program", protocol.name());
        Err(CliError::usage(message).help(
            "start the server and use --url, or leave --command out to test the host of accord",
        ))
    }

    /// The implementation that declares its claims, if one is given.
    fn target(&self, protocol: &Protocol) -> Result<Option<Target>> {
        if self.has_claims() && !protocol.cases().iter().any(|case| case.tier.is_some()) {
            let error = CliError::usage(format!("{} has no tiers to claim", protocol.name()));
            return Err(error.help("give the implementation with --url or --command"));
        }
        let target = match (&self.target, &self.server.remote) {
            (Some(folder), _) => Some(Target::in_folder(folder, protocol)),
            (None, Some(url)) => {
                let mut options = HttpOptions::fixtures(url);
                options.token = token_or_environment(self.server.token.as_ref())?;
                Some(Target::at_url(&options))
            }
            (None, None) => None,
        };
        Ok(target.transpose().map_err(Failure::from)?)
    }

    fn started(&self, command: &str) -> Result<Box<dyn Adapter>> {
        let words = shell_words::split(command)
            .map_err(|error| CliError::usage(format!("cannot parse --command: {error}")))?;
        let Some((program, args)) = words.split_first() else {
            return Err(CliError::usage("--command is empty"));
        };
        let invocation = Invocation::new(program, args);
        if self.lines {
            return Ok(self.long_lived(invocation));
        }
        let adapter = PerCase::new(invocation);
        Ok(match &self.keep_folders {
            Some(folder) => Box::new(adapter.keep_folders(folder.clone())),
            None => Box::new(adapter),
        })
    }

    fn long_lived(&self, invocation: Invocation) -> Box<dyn Adapter> {
        let adapter = LongLived::new(invocation);
        match &self.keep_folders {
            Some(folder) => Box::new(adapter.keep_folders(folder.clone())),
            None => Box::new(adapter),
        }
    }

    fn accord(&self, protocol: &str) -> Result<Box<dyn Adapter>> {
        let accord = std::env::current_exe().map_err(|error| {
            let message = format!("accord cannot find its own program: {error}");
            CliError::new(Code::KitAdapterNotFound, message)
        })?;
        if !accord_adapters::protocols().contains(&protocol) {
            let message = format!("accord has no adapter of its own for {protocol}");
            return Err(CliError::usage(message)
                .help("give the implementation with --command, --target, --url or --remote"));
        }
        Ok(self.long_lived(Invocation::new(accord, ["adapter", protocol, "--lines"])))
    }
}

/// Where a host of Accord has the tools of live sessions.
const LIVE_TOOLS: &str = "/mcp/live";
