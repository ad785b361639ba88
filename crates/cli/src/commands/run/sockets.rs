//! What the workers of turns reach: the memory and the live sessions of one project, through the
//! socket of their attempt. Their results are files, so a repository without a host or a data
//! folder needs no socket.

use std::sync::Arc;

use accord_base::ProjectId;
use accord_base::worker::AttemptSockets;
use accord_contract::Code;
use accord_host::Api;
use accord_host::serve::AttemptSocket;
use accord_runs::Environment;
use tokio::runtime::{Builder, Runtime};

use crate::host::{
    IfMissing, ProjectArg, SharedFolder, Target, TargetArgs, TaskPlace, holds_data, project_id,
};
use crate::render::clean;
use crate::{Result, print_note};

/// The environment with sockets for workers, if there is something to reach. They are served until
/// the runtime is dropped. The work does not depend on them.
pub(super) fn with_sockets(environment: Environment) -> (Environment, Option<Runtime>) {
    let opened = reached().map(|reached| {
        reached.zip(Builder::new_multi_thread().worker_threads(2).enable_all().build().ok())
    });
    let ((api, project), runtime) = match opened {
        Ok(Some(opened)) => opened,
        Ok(None) => return (environment, None),
        Err(error) => {
            print_note(clean(&format!("workers reach no memory: {error}")));
            return (environment, None);
        }
    };
    let handle = runtime.handle().clone();
    let sockets =
        AttemptSockets::new(move |attempt| AttemptSocket::open(Arc::clone(&api), attempt, &handle));
    (environment.with_sockets(project, sockets), Some(runtime))
}

/// The host that the commands of a worker would use, and its project.
fn reached() -> Result<Option<(Arc<dyn Api>, ProjectId)>> {
    let target = TargetArgs::default();
    let reached = match target.target() {
        // A bare repository has no place for one.
        Err(error) if error.code() == Some(Code::StoreMissing) => return Ok(None),
        reached => reached?,
    };
    let api: Arc<dyn Api> = match reached {
        Target::Folder(folder) if !holds_data(&folder) => return Ok(None),
        Target::Folder(folder) => {
            let place = TaskPlace::Folder(folder);
            Arc::new(SharedFolder::new(target.clone(), IfMissing::Fail, place)?)
        }
        _ => target.connect(IfMissing::Fail)?.api,
    };
    let project = match ProjectArg::default().get(&target)? {
        Some(project) => project,
        None => target.connect(IfMissing::Fail)?.only_project()?,
    };
    Ok(Some((api, project_id(&project)?)))
}
