//! `accord join`.

use std::path::Path;

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::EdgeSend;
use accord_contract::{Code, Failure, Wire as _};
use accord_edge::{Edges, Joined, Joining, Preview, Source, SourceKind};
use serde_json::json;

use super::hub::HubClient;
use super::leave::leave;
use super::{TreeArgs, kind_of, must_be_person};
use crate::commands::person::human;
use crate::commands::words;
use crate::host::{Actor, project_id, setting};
use crate::render::{Page, clean};
use crate::{CliError, Exit, Result, print_either};

/// Join this governed repository or task tree to a project of a hub, which then shows what happens
/// and what waits
#[derive(Debug, clap::Args)]
#[command(after_help = SENDS)]
pub(crate) struct JoinArgs {
    /// The URL of the hub
    #[arg(value_name = "URL")]
    url: String,

    /// The project of the hub
    #[arg(long, value_name = "ID")]
    project: String,

    /// What is sent; each word includes the ones before it
    #[arg(long, value_name = "WHAT", default_value = "summary", value_parser = send)]
    send: EdgeSend,

    /// Leave out files with this pattern: their names, hashes and content; can be repeated
    #[arg(long, value_name = "GLOB", value_parser = words)]
    exclude: Vec<String>,

    /// What the hub may decide: run.gate, run.completion, run.block, run.proposal, run.stop,
    /// task.review, task.deadletter. Gates with credentials are always decided here
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = decidable)]
    #[arg(requires = "deciders")]
    decide: Vec<EdgeDecidable>,

    /// The people who may decide that on the hub, such as human:lead
    #[arg(long, value_name = "human:NAME", value_delimiter = ',', value_parser = human)]
    #[arg(requires = "decide")]
    deciders: Vec<Actor>,

    /// The hub is on this machine and runs as this user: it may read the governed repository, also
    /// what is not sent, and stage results in it
    #[arg(long)]
    open_to_hub: bool,

    /// The name that the hub shows [default: the name of the folder]
    #[arg(long, value_name = "TEXT", value_parser = words)]
    name: Option<String>,

    /// Ask the hub whether it would take the join, print what would be sent now, and join nothing
    #[arg(long)]
    dry_run: bool,

    /// Join as a new edge: for a copy of a joined folder
    #[arg(long)]
    new: bool,

    /// This folder is the joined one that its mark names: it was moved to another file system, or
    /// restored from a backup
    #[arg(long, conflicts_with = "new")]
    moved: bool,

    /// The key for the hub; prefer ACCORD_KEY, which the process list does not show
    #[arg(long)]
    key: Option<String>,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tree: TreeArgs,
}

const SENDS: &str = "What is sent:
  events   types, ids and times of events, and that something waits
  summary  also what events, requests and results say, and names, sizes and hashes of files
  diff     also differences of texts: at most 64 KiB of a file and 256 KiB of an item
  output   also what agents of turns print while they work, and the end of that of accepted turns
Credentials are removed. Nothing from before the join is sent, except what waits for a person.";

fn send(text: &str) -> Result<EdgeSend, String> {
    EdgeSend::parse(text).ok_or_else(|| "it is events, summary, diff or output".to_owned())
}

fn decidable(text: &str) -> Result<EdgeDecidable, String> {
    EdgeDecidable::parse(text).ok_or_else(|| {
        let all: Vec<&str> = EdgeDecidable::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("it is one of {}", all.join(", "))
    })
}

impl JoinArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        must_be_person()?;
        if self.send == EdgeSend::Events && !self.decide.is_empty() {
            let message = "a person on the hub decides about what they see: --send summary or more";
            return Err(CliError::usage(message));
        }
        let (edges, sources) = (Edges::of_user()?, self.tree.sources()?);
        let (mut done, mut is_refused) = (Vec::new(), false);
        for source in &sources {
            let joining = self.joining(source)?;
            if self.dry_run {
                let (shown, refused) = self.preview(&edges, joining, source)?;
                is_refused |= refused;
                done.push(shown);
            } else {
                done.push(self.join(&edges, joining, source)?);
            }
        }
        let documents: Vec<&str> = done.iter().map(|(document, _)| document.as_str()).collect();
        let json = self.json.then(|| format!(r#"{{"edges":[{}]}}"#, documents.join(",")));
        print_either(json, |page| {
            for (_, shown) in &done {
                page.line(shown.as_str().trim_end());
            }
        })?;
        Ok(if is_refused { Exit::No } else { Exit::Yes })
    }

    fn joining(&self, source: &Source) -> Result<Joining> {
        let last = source.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Joining {
            url: self.url.trim_end_matches('/').to_owned(),
            project: project_id(&self.project)?,
            key: self.key.clone().or_else(|| setting("ACCORD_KEY")),
            name: self.name.clone().unwrap_or(last),
            send: self.send,
            exclude: self.exclude.clone(),
            decide: self.decide.clone(),
            deciders: self.deciders.iter().map(ToString::to_string).collect(),
            open_to_hub: self.open_to_hub && source.kind() == SourceKind::Runs,
        })
    }

    /// What a join would do, and whether the hub refuses it.
    fn preview(
        &self,
        edges: &Edges,
        joining: Joining,
        source: &Source,
    ) -> Result<((String, Page), bool)> {
        let Preview { join, before, entries } = edges.preview(joining.clone(), source)?;
        let refused = HubClient::of(&join)?.join(&join, true).err();
        let entries: Vec<_> = entries.iter().map(|entry| entry.encode()).collect();
        let document = json!({
            "root": source.root().display().to_string(),
            "source": source.kind().as_str(),
            "project": joining.project.as_str(),
            "url": joining.url.as_str(),
            "send": joining.send.as_str(),
            "exclude": joining.exclude,
            "decide": joining.decide.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
            "deciders": joining.deciders,
            "open_to_hub": joining.open_to_hub,
            "not_sent_from_before": before,
            "sent_now": entries,
            "hub_refuses": refused.as_ref().map(|it| json!({
                "code": it.code.as_str(), "message": it.message,
            })),
        });
        let mut page = Page::new();
        let (kind, root) = (kind_of(source.kind()), source.root().display());
        page.line(clean(&format!("{kind} {root}: nothing was sent, and nothing is joined")));
        self.describe(&mut page, &joining, before);
        page.labelled(
            "hub says",
            &match &refused {
                None => "the project exists, and this key may join".to_owned(),
                Some(refused) => format!("{}: {}", refused.code, refused.message),
            },
        );
        page.line(match entries.len() {
            0 => "nothing would be sent now".to_owned(),
            1 => "1 entry would be sent now:".to_owned(),
            count => format!("{count} entries would be sent now:"),
        });
        for entry in &entries {
            for line in format!("{entry:#}").lines() {
                page.line(format!("  {}", clean(line)));
            }
        }
        Ok(((document.to_string(), page), refused.is_some()))
    }

    fn describe(&self, page: &mut Page, joining: &Joining, before: u64) {
        page.labelled("hub", &format!("{}, project {}", joining.url, joining.project));
        let about = match joining.send {
            EdgeSend::Events => "events: types, ids and times",
            EdgeSend::Summary => {
                "summary: what events, requests and results say; names, sizes and hashes of \
                 files; no differences"
            }
            EdgeSend::Diff => {
                "diff: what events, requests and results say; names, sizes and hashes of files; \
                 differences of texts, within limits"
            }
            EdgeSend::Output => {
                "output: what events, requests and results say; names, sizes and hashes of \
                 files; differences of texts; what agents of turns print"
            }
        };
        page.labelled("sends", about);
        if !joining.exclude.is_empty() {
            page.labelled("excluded", &joining.exclude.join(", "));
        }
        if !joining.decide.is_empty() {
            let kinds: Vec<&str> = joining.decide.iter().map(|kind| kind.as_str()).collect();
            let (kinds, who) = (kinds.join(", "), joining.deciders.join(", "));
            page.labelled("decides", &format!("{kinds}; on the hub: {who}"));
            let by = "accord edge, accord run loop --wait, and accord task work, while they run; a \
                      stop also by accord run loop and step";
            page.labelled_whole("applied by", by);
        }
        if joining.open_to_hub {
            let what = "a hub on this machine, of this user: it reads the repository itself, also \
                        what is not sent, and stages results in it";
            page.labelled_whole("open to", what);
        }
        let before = match before {
            1 => "1 event or result".to_owned(),
            before => format!("{before} events and results"),
        };
        page.labelled("not sent", &format!("{before} from before the join"));
    }

    fn join(&self, edges: &Edges, joining: Joining, source: &Source) -> Result<(String, Page)> {
        let known = self.known(edges, source)?;
        let is_other = known.as_ref().is_some_and(|known| {
            (&known.join.url, &known.join.project) != (&joining.url, &joining.project)
        });
        if let Some(known) = known.as_ref().filter(|_| is_other && !self.new) {
            return Err(already_joined(source.root(), known));
        }
        let (joined, is_new) = match known {
            Some(mut known) if !self.new => {
                let before = known.join.clone();
                known.choose(joining.clone(), source.root())?;
                self.tell(&known).inspect_err(|_| drop(known.restore(before)))?;
                (known, false)
            }
            known => {
                let joined = edges.join(joining.clone(), source)?;
                self.tell(&joined).inspect_err(|_| drop(joined.discard()))?;
                if let Some(old) = known {
                    leave(&old, false)?;
                    old.discard()?;
                }
                (joined, true)
            }
        };
        joined.mark()?;
        let (kind, root) = (kind_of(source.kind()), source.root().display());
        let mut page = Page::new();
        let word = if is_new { "joined" } else { "is joined; the choices were updated" };
        page.line(clean(&format!("{kind} {root} {word}")));
        self.describe(&mut page, &joining, joined.join.before);
        page.labelled("edge", joined.join.edge_id.as_str());
        let sent = joined.pass(source, &HubClient::of(&joined.join)?)?;
        let applied = sent.map_or(0, |sent| sent.applied);
        page.labelled("sent", &format!("{applied} new, as of now"));
        let next =
            "accord edge   (sends while it runs; accord run and accord task send at their end)";
        page.labelled("next", next);
        let document = json!({
            "edge_id": joined.join.edge_id.as_str(),
            "root": source.root().display().to_string(),
            "source": source.kind().as_str(),
            "new": is_new,
            "sent": applied,
        });
        Ok((document.to_string(), page))
    }

    /// The edge that the tree is, also if its mark was changed. A copy is none if it is to be new,
    /// and so is a folder with the mark of another one.
    fn known(&self, edges: &Edges, source: &Source) -> Result<Option<Joined>> {
        match edges.find(source.root(), source.kind()) {
            Err(refused) if refused.code == Code::EdgeDuplicated && self.new => Ok(None),
            Err(refused) if refused.code == Code::EdgeMarkChanged => {
                let known = edges.joined_at(source.root(), source.kind())?;
                let moved = || edges.moved_to(source.root(), source.kind());
                match known.or_else(|| self.moved.then(moved).flatten()) {
                    None if !self.new => Err(refused.into()),
                    known => Ok(known),
                }
            }
            found => Ok(found?),
        }
    }

    /// Joins it at the hub.
    fn tell(&self, joined: &Joined) -> Result<()> {
        let hub = HubClient::of(&joined.join)?;
        hub.connection.note_unencrypted();
        Ok(hub.join(&joined.join, false)?)
    }
}

fn already_joined(root: &Path, known: &Joined) -> CliError {
    let (project, url) = (&known.join.project, &known.join.url);
    let message = format!("{} is joined to the project {project} at {url}", root.display());
    Failure::new(Code::AlreadyJoined, message)
        .with("url", url.as_str())
        .with("project", project.as_str())
        .suggesting("leave it first: accord leave")
        .into()
}
