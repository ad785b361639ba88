//! `accord leave`.

use accord_contract::Code;
use accord_contract::text::counted;
use accord_edge::{Edges, Joined, Source};
use serde_json::json;

use super::hub::HubClient;
use super::{TreeArgs, must_be_person, not_joined};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_either, print_note};

/// End the join of this folder; the hub keeps what it has, unless it is erased
#[derive(Debug, clap::Args)]
pub(crate) struct LeaveArgs {
    /// Also remove the copy of the hub: requests, results, and the data of events
    #[arg(long)]
    erase: bool,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tree: TreeArgs,
}

impl LeaveArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        must_be_person()?;
        let edges = Edges::of_user()?;
        let (mut documents, mut lines) = (Vec::new(), Vec::new());
        for (source, joined) in self.joined(&edges)? {
            let events = leave(&joined, self.erase)?;
            joined.remove()?;
            let (root, url) = (source.root().display().to_string(), &joined.join.url);
            documents.push(json!({
                "edge_id": joined.join.edge_id.as_str(), "root": root, "erased": self.erase,
                "events": events,
            }));
            lines.push(match self.erase {
                true => format!(
                    "{root} left {url}, which removed its requests, its results and the data of {}",
                    counted(events, "event")
                ),
                false => format!("{root} left {url}, which keeps what it has"),
            });
        }
        let json = self.json.then(|| json!({"edges": documents}).to_string());
        print_either(json, |page| lines.iter().for_each(|line| page.line(clean(line))))
    }
}

impl LeaveArgs {
    /// The edges of the folder, also where a mark was changed.
    fn joined(&self, edges: &Edges) -> Result<Vec<(Source, Joined)>> {
        let mut found = Vec::new();
        for source in self.tree.sources()? {
            let joined = match edges.find(source.root(), source.kind()) {
                Err(refused) if refused.code == Code::EdgeMarkChanged => {
                    let known = edges.joined_at(source.root(), source.kind())?;
                    Some(known.ok_or(refused)?)
                }
                found => found?,
            };
            found.extend(joined.map(|joined| (source, joined)));
        }
        match found.is_empty() {
            true => Err(not_joined(&self.tree.folder())),
            false => Ok(found),
        }
    }
}

/// Leaves at the hub. A hub that does not answer is only needed to erase.
pub(super) fn leave(joined: &Joined, erase: bool) -> Result<u64> {
    match HubClient::of(&joined.join)?.leave(erase) {
        Ok(events) => Ok(events),
        Err(refused) if refused.code == Code::EdgeNotFound => Ok(0),
        Err(refused) if erase => Err(CliError::from(refused)),
        Err(refused) => {
            print_note(clean(&format!(
                "warning: the hub does not know that {} left ({}); it shows the last contact",
                joined.join.edge_id, refused.code
            )));
            Ok(0)
        }
    }
}
