//! A data folder that the first write creates, or the store of one that has only tasks.
//!
//! Invariant: a write that is refused leaves no folder behind. So it is first made in memory; only
//! one that succeeds there is made in the folder. The host does the same for a first task.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use accord_contract::Failure;
use accord_host::http::{Host, local_api};
use accord_host::{Api, Request, Response};
use axum::body::{Body, HttpBody as _, to_bytes};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::Method;
use tokio::sync::Mutex;

use super::folder::{full_path, settings_of};
use super::open::{holds_data, open_or_connect};
use crate::print_note;
use crate::render::clean;

/// The largest body that is sent twice. A larger one, or one of unknown size, is an import, which
/// refuses single lines.
const MOST: u64 = 16 << 20;

/// The host of a folder that does not exist yet, or has no store yet.
pub(super) struct NewFolder {
    folder: PathBuf,
    /// A host in memory, which knows the projects that have tasks, and nothing else.
    trial: Arc<dyn Api>,
    /// The host of the folder, once it exists.
    created: Mutex<Option<Arc<dyn Api>>>,
}

impl NewFolder {
    pub(super) fn new(folder: PathBuf) -> Result<Self, Failure> {
        let trial = local_api(&Host::in_memory(&folder, settings_of(&folder)?)?);
        Ok(Self { folder, trial, created: Mutex::default() })
    }

    async fn create(&self) -> Result<Arc<dyn Api>, Failure> {
        let has_tasks = holds_data(&self.folder);
        let (api, _) = open_or_connect(&self.folder).await?;
        match has_tasks {
            true => print_note(clean(&format!("new store in {}", full_path(&self.folder)))),
            false => say_new(&self.folder),
        }
        Ok(api)
    }
}

impl Api for NewFolder {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        async move {
            let mut created = self.created.lock().await;
            if let Some(api) = &*created {
                return api.call(request).await;
            }
            let (parts, mut body) = request.into_parts();
            if body.size_hint().exact().is_some_and(|size| size <= MOST) {
                let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
                let again = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
                let answer = self.trial.call(again).await?;
                if parts.method == Method::GET || !answer.status().is_success() {
                    return Ok(answer);
                }
                body = Body::from(bytes);
            }
            let api = created.insert(self.create().await?);
            api.call(Request::from_parts(parts, body)).await
        }
        .boxed()
    }
}

/// The tasks of a folder that does not exist yet: says so when it does.
pub(super) struct NewTasks {
    folder: PathBuf,
    api: Arc<dyn Api>,
    is_said: AtomicBool,
}

impl NewTasks {
    pub(super) fn new(folder: &Path, api: Arc<dyn Api>) -> Self {
        Self { folder: folder.to_owned(), api, is_said: AtomicBool::new(false) }
    }
}

impl Api for NewTasks {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        async move {
            let answer = self.api.call(request).await;
            if self.folder.exists() && !self.is_said.swap(true, Ordering::Relaxed) {
                say_new(&self.folder);
            }
            answer
        }
        .boxed()
    }
}

fn say_new(folder: &Path) {
    print_note(clean(&format!("new data folder {}", full_path(folder))));
}
