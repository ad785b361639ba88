//! What the live sessions of a host need of the rest of it.

use std::path::PathBuf;

use accord_base::{Caller, ProjectId};
use accord_contract::{Failure, Value};
use accord_live_door::Surroundings;
use accord_memory::Memory;
use accord_memory_core::query::ProjectQuery;
use accord_system::spawn_blocking;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::mcp;
use crate::upkeep::takes_writes;

pub(super) struct HostSurroundings {
    pub(super) memory: Memory,
    /// The file of the store; none for an engine elsewhere, which is not asked.
    pub(super) database: Option<PathBuf>,
}

impl HostSurroundings {
    async fn list(&self, caller: &Caller, limit: u32) -> Vec<String> {
        let asked = ProjectQuery { include_archived: false, limit, after: None, max_tokens: None };
        let page = self.memory.projects(caller, asked).await;
        let texts = page.map(|page| page.items).unwrap_or_default();
        let id = |text: &String| {
            let project: Value = serde_json::from_str(text).ok()?;
            Some(project.get("project_id")?.as_str()?.to_owned())
        };
        texts.iter().filter_map(id).collect()
    }
}

impl Surroundings for HostSurroundings {
    fn ensure_project<'a>(
        &'a self,
        caller: &'a Caller,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        self.memory.ensure_project(caller, project).boxed()
    }

    fn projects<'a>(&'a self, caller: &'a Caller, most: u32) -> BoxFuture<'a, Vec<String>> {
        self.list(caller, most).boxed()
    }

    fn can_write(&self) -> BoxFuture<'_, bool> {
        let database = self.database.clone();
        let ask = async move {
            match database {
                // A file system can be slow to answer.
                Some(database) => spawn_blocking(move || takes_writes(&database)).await,
                None => Ok(true),
            }
        };
        ask.map(|answer| answer.unwrap_or(false)).boxed()
    }

    fn tool_names(&self) -> Vec<&'static str> {
        mcp::tool_names()
    }
}
