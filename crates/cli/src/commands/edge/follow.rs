//! `accord edge`: sends what is new while it runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use accord_api::operations::edges::EdgeSend;
use accord_contract::Code;
use accord_edge::{Edges, Joined, Pass, Source, sources_in};

use super::applies::{AsCommands, line as decision_line};
use super::hub::HubClient;
use super::status::StatusArgs;
use super::{TreeArgs, joined_of, must_be_person};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_line, print_note};

/// How often the files of a source are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// How often the hub is asked where it is while nothing happens: it may have been restored.
const CONTACT: Duration = Duration::from_secs(15);
/// The same where the hub may decide.
const DECISIONS: Duration = Duration::from_secs(5);
/// The same where output is sent: the last lines of an agent that waits are sent by then.
const OUTPUT: Duration = Duration::from_secs(4);
/// When a decision is tried again, for example because a worker runs.
const AGAIN: Duration = Duration::from_secs(1);
/// The first and the longest pause after a failure.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Send what happens in this joined folder to its hub, and apply what people decided there, until
/// Ctrl-C
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EdgeArgs {
    #[command(subcommand)]
    command: Option<EdgeCommand>,

    /// Send what is new now, apply what was decided, and end
    #[arg(long)]
    once: bool,

    /// Send for all work trees of this user that are joined
    #[arg(long, conflicts_with = "repo")]
    all: bool,

    #[command(flatten)]
    tree: TreeArgs,
}

#[derive(Debug, clap::Subcommand)]
enum EdgeCommand {
    Status(StatusArgs),
}

/// An edge, and when it is looked at again.
struct Followed {
    source: Source,
    joined: Joined,
    /// The state of the files at the last pass that succeeded.
    seen: Option<String>,
    contact: Instant,
    pause: Duration,
    trouble: Option<String>,
    /// Whether a decision of the hub is tried again soon.
    is_again: bool,
}

impl EdgeArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        if let Some(EdgeCommand::Status(args)) = self.command {
            return args.run();
        }
        must_be_person()?;
        let edges = Edges::of_user()?;
        let found = match self.all {
            true => all(&edges),
            false => self.tree.joined(&edges)?,
        };
        if self.once {
            return self.send_once(&found);
        }
        let mut followed: Vec<Followed> = found.into_iter().map(Followed::new).collect();
        for each in &followed {
            let join = &each.joined.join;
            print_note(clean(&format!("sending {} to {}", join.root, join.url)));
        }
        loop {
            let mut failed = None;
            let mut left = Vec::new();
            for mut each in followed {
                match each.look() {
                    Ok(()) => left.push(each),
                    Err(refused) => failed = Some(self.unless_alone(&each.joined, refused)?),
                }
            }
            followed = left;
            if let Some(refused) = failed.filter(|_| followed.is_empty()) {
                return Err(refused);
            }
            std::thread::sleep(LOOK);
        }
    }

    fn send_once(&self, found: &[(Source, Joined)]) -> Result<Exit> {
        let mut failed = None;
        for (source, joined) in found {
            let sent = HubClient::of(&joined.join)
                .and_then(|hub| Ok(joined.pass_and_apply(source, &hub, &AsCommands)?));
            if let Ok(Some(pass)) = &sent {
                for decided in &pass.decided {
                    print_line(decision_line(joined, decided))?;
                }
            }
            match sent {
                Ok(pass) => drop(print_line(clean(&line(joined, pass)))?),
                Err(refused) => failed = Some(self.unless_alone(joined, refused)?),
            }
        }
        failed.map_or(Ok(Exit::Yes), Err)
    }

    /// Fails with the failure of an edge; with `--all`, the others go on, and it is said.
    fn unless_alone(&self, joined: &Joined, refused: CliError) -> Result<CliError> {
        if !self.all {
            return Err(refused);
        }
        let code = refused.code().map_or("", Code::as_str);
        let root = &joined.join.root;
        print_note(clean(&format!("{root}: {code}: {refused}; the other edges go on")));
        Ok(refused)
    }
}

/// Every joined work tree that can be opened. The others are named.
fn all(edges: &Edges) -> Vec<(Source, Joined)> {
    let mut found = Vec::new();
    for joined in edges.all() {
        let root = PathBuf::from(&joined.join.root);
        let opened = sources_in(&root).map_err(CliError::from).and_then(|mut sources| {
            sources.retain(|source| source.kind() == joined.join.source);
            joined_of(edges, sources)
        });
        match opened {
            Ok(opened) if !opened.is_empty() => found.extend(opened),
            other => {
                let why = other.err().map(|it| {
                    let code = it.code().map_or("", Code::as_str);
                    format!("{code}: {it}")
                });
                let (why, root) = (why.as_deref().unwrap_or("it is not there"), &joined.join.root);
                print_note(clean(&format!("{root}: {why}; the other edges go on")));
            }
        }
    }
    found
}

impl Followed {
    fn new((source, joined): (Source, Joined)) -> Self {
        let (contact, pause) = (Instant::now(), Duration::ZERO);
        Self { source, joined, seen: None, contact, pause, trouble: None, is_again: false }
    }

    /// Sends if something changed, or if it is time. What cannot be sent waits in the outbox.
    fn look(&mut self) -> Result<()> {
        let now = self.source.stamp_of(self.joined.join.send);
        let is_due = self.contact.elapsed()
            >= self.pause.max(match self.trouble {
                Some(_) => Duration::ZERO,
                None if self.is_again => AGAIN,
                None if self.joined.join.send == EdgeSend::Output => OUTPUT,
                None if self.joined.join.decide.iter().flatten().next().is_some() => DECISIONS,
                None => CONTACT,
            });
        let is_new = self.seen.as_ref() != Some(&now);
        if self.trouble.is_some() && is_new && !is_due {
            // The hub does not answer. What happens is kept all the same.
            if self.joined.collect_only(&self.source).is_ok_and(|done| done.is_some()) {
                self.seen = Some(now);
            }
            return Ok(());
        }
        if !is_new && !is_due {
            return Ok(());
        }
        let hub = HubClient::of(&self.joined.join)?;
        self.contact = Instant::now();
        match self.joined.pass_and_apply(&self.source, &hub, &AsCommands) {
            Ok(Some(pass)) => {
                self.is_again = pass.later.is_some();
                for decided in &pass.decided {
                    print_line(decision_line(&self.joined, decided))?;
                }
                if self.trouble.take().is_some() || pass.applied > 0 {
                    print_line(clean(&line(&self.joined, Some(pass))))?;
                }
                (self.seen, self.pause) = (Some(now), Duration::ZERO);
            }
            // Another process sends now.
            Ok(None) => {}
            Err(failure) if is_final(failure.code) => return Err(CliError::from(failure)),
            Err(failure) => {
                self.pause = (self.pause * 2).clamp(BACKOFF.0, BACKOFF.1);
                self.seen = Some(now);
                let trouble = format!("{}: {}", failure.code, failure.message);
                if self.trouble.as_ref() != Some(&trouble) {
                    print_note(clean(&format!("{trouble}; what is new waits, and is tried again")));
                }
                self.trouble = Some(trouble);
            }
        }
        Ok(())
    }
}

/// Whether a person must do something before anything can be sent.
fn is_final(code: Code) -> bool {
    matches!(
        code,
        Code::EdgeBehind
            | Code::EdgeDamaged
            | Code::EdgeLeft
            | Code::EdgeOfAnotherKey
            | Code::EdgeNotFound
            | Code::EdgeDuplicated
            | Code::NotForWorkers
            | Code::AofPersonRequired
    )
}

fn line(joined: &Joined, pass: Option<Pass>) -> String {
    let root = &joined.join.root;
    match pass {
        Some(pass) => format!("{root}: {} sent, {} waiting", pass.applied, pass.waiting),
        None => format!("{root}: another process sends now"),
    }
}
