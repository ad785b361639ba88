//! The routes of governed runs.

use std::time::Duration;

use accord_api::{Call, Json, Operation as _};
use accord_base::Author;
use accord_contract::Failure;
use accord_runs_core::operations::joined::{
    JoinedRunEnvelope, JoinedRunHistory, JoinedRunsEnvelope, ListJoinedRuns, ReadJoinedRun,
    ReadRunPrompt, RunHistoryEnvelope, RunWaitEnvelope, StageRunResult, TURNS, WaitForRun,
};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;
use tokio::time::{Instant, sleep_until};

use crate::elsewhere::{self, Missing};
use crate::find::{find, repositories, shown};
use crate::{Context, Route};

const PROMPT: Missing = Missing {
    what: "prompts are not sent",
    command: "accord run status, which names the prompt of each turn",
};
const RESULT: Missing = Missing { what: "results are staged there", command: "accord run stage" };
/// How long a request waits if it does not say it, in seconds.
const WAIT: u32 = 25;

/// Every route.
pub fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ListJoinedRuns>| {
            let edges = host.edges().edges(&caller, &call.path.project).await?;
            let runs = repositories(edges).iter().map(shown).collect();
            Ok(Json(alx_envelope!(correlation, JoinedRunsEnvelope { runs })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ReadJoinedRun>| {
            let run = find(&host, &caller, &call.path).await?.shown();
            Ok(Json(alx_envelope!(correlation, JoinedRunEnvelope { run })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<JoinedRunHistory>| {
            let found = find(&host, &caller, &call.path).await?;
            let last = call.query.last.unwrap_or(TURNS) as usize;
            let turns = elsewhere::history(&found, &call.path.run, last);
            let run = found.shown();
            Ok(Json(alx_envelope!(correlation, RunHistoryEnvelope { run, turns })))
        }),
        serve(async |Context { host, caller, .. }, call: Call<ReadRunPrompt>| {
            let found = find(&host, &caller, &call.path).await?;
            Err(elsewhere::refuse(&found.edge, &PROMPT))
        }),
        serve(wait),
        serve(async |Context { host, caller, .. }, call: Call<StageRunResult>| {
            caller.authorize(StageRunResult::NEED, &call.path.project, Author::unnamed())?;
            let found = find(&host, &caller, &call.path).await?;
            Err(elsewhere::refuse(&found.edge, &RESULT))
        }),
    ]
}

/// Waits until the run has another version. Each commit of the host is a reason to look.
async fn wait(
    Context { host, caller, correlation }: Context,
    call: Call<WaitForRun>,
) -> Result<Json<RunWaitEnvelope>, Failure> {
    let mut commits = host.edges().commits();
    let seconds = call.query.wait_seconds.unwrap_or(WAIT);
    let ends = Instant::now() + Duration::from_secs(seconds.into());
    let mut since = call.query.since;
    let mut is_last = false;
    loop {
        let run = find(&host, &caller, &call.path).await?.shown();
        let changed = run.version != *since.get_or_insert_with(|| run.version.clone());
        if changed || is_last {
            return Ok(Json(alx_envelope!(correlation, RunWaitEnvelope { changed, run })));
        }
        tokio::select! {
            heard = commits.changed() => is_last = heard.is_err(),
            () = sleep_until(ends) => is_last = true,
            // A host that shuts down keeps no client waiting.
            () = host.streams().closed() => is_last = true,
        }
    }
}
