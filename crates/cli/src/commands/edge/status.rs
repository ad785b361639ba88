//! `accord edge status`.

use std::path::Path;

use accord_contract::{Code, Timestamp};
use accord_edge::{Edges, Joined, sources_in};
use serde_json::json;

use super::{TreeArgs, changed_mark, joined_of, kind_of};
use crate::render::{Page, Times, clean};
use crate::{CliError, Exit, Result, print_either};

/// Show which hub this folder is joined to, and what waits to be sent
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// All work trees of this user that are joined
    #[arg(long)]
    all: bool,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tree: TreeArgs,
}

impl StatusArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let edges = Edges::of_user()?;
        let joined: Vec<Joined> = match self.all {
            true => edges.all(),
            false => self.tree.joined(&edges)?.into_iter().map(|(_, joined)| joined).collect(),
        };
        let mut documents = Vec::new();
        let mut page = Page::new();
        for joined in &joined {
            documents.push(show(&edges, joined, &mut page)?);
        }
        if joined.is_empty() {
            page.line("no work tree of this user is joined");
        }
        let json = self.json.then(|| format!(r#"{{"edges":[{}]}}"#, documents.join(",")));
        print_either(json, |out| out.line(page.as_str().trim_end()))
    }
}

/// A line about each edge of this folder, for `accord status`.
pub(crate) fn lines_here() -> Vec<String> {
    let found = Edges::of_user().map_err(CliError::from).and_then(|edges| {
        let sources = sources_in(Path::new("."))?;
        joined_of(&edges, sources)
    });
    let found = match found {
        Ok(found) => found,
        Err(refused) if refused.code() == Some(Code::EdgeMarkChanged) => {
            // A line of the status is short.
            let code = Code::EdgeMarkChanged;
            return vec![format!("{code}: nothing is sent; run accord edge status")];
        }
        Err(refused) if refused.code() == Some(Code::EdgeDuplicated) => {
            return vec![refused.to_string()];
        }
        Err(_) => return Vec::new(),
    };
    found.iter().map(|(_, joined)| line(joined)).collect()
}

fn line(joined: &Joined) -> String {
    let join = &joined.join;
    let about = format!("{} joined to {} at {}", kind_of(join.source), join.project, join.url);
    let Ok((sent, waiting)) = joined.progress() else { return about };
    let waiting = match waiting {
        Some(0) => "nothing waits to be sent".to_owned(),
        Some(waiting) => format!("{} to send", counted_entries(waiting)),
        None => "another process sends now".to_owned(),
    };
    match sent.and_then(|sent| sent.trouble) {
        Some(trouble) => format!("{about}; {waiting}; {trouble}"),
        None => format!("{about}; {waiting}"),
    }
}

fn counted_entries(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        number => format!("{number} entries"),
    }
}

fn show(edges: &Edges, joined: &Joined, page: &mut Page) -> Result<String> {
    let join = &joined.join;
    let changed = edges.find(join.root.as_ref(), join.source).err();
    let changed = changed.filter(|refused| refused.code == Code::EdgeMarkChanged);
    let changed = changed.map(|refused| changed_mark(&refused.into()));
    let (sent, waiting) = joined.progress()?;
    let position = sent.as_ref().map_or(0, |sent| sent.position);
    let contact: Option<&Timestamp> = sent.as_ref().map(|sent| &sent.at);
    let trouble = sent.as_ref().and_then(|sent| sent.trouble.clone());
    page.line(clean(&format!("{} {}", kind_of(join.source), join.root)));
    page.labelled("hub", &format!("{}, project {}", join.url, join.project));
    page.labelled("edge", join.edge_id.as_str());
    page.labelled("sends", join.send.as_str());
    let waits = match waiting {
        Some(0) => "nothing waits".to_owned(),
        Some(1) => "1 entry waits".to_owned(),
        Some(waiting) => format!("{} wait", counted_entries(waiting)),
        None => "another process sends now".to_owned(),
    };
    page.labelled("outbox", &format!("{position} at the hub; {waits}"));
    let at = contact.map_or_else(|| "never".to_owned(), |at| Times::default().at(Some(at)));
    page.labelled("last contact", &at);
    page.labelled_some("trouble", trouble.as_deref());
    page.labelled_some("mark", changed.as_deref());
    let document = json!({
        "edge_id": join.edge_id.as_str(),
        "root": join.root,
        "source": join.source.as_str(),
        "url": join.url,
        "project": join.project.as_str(),
        "send": join.send.as_str(),
        "position": position,
        "waiting": waiting,
        "last_contact_at": contact.map(Timestamp::as_str),
        "incarnation": sent.as_ref().map(|sent| sent.incarnation.as_str()),
        "trouble": trouble,
        "mark": changed,
    });
    Ok(document.to_string())
}
