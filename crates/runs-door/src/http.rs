//! The routes of governed runs.

use std::time::Duration;

use accord_api::{Call, Json, Operation as _};
use accord_base::Author;
use accord_contract::Failure;
use accord_runs_core::operations::joined::{
    JoinedRunEnvelope, JoinedRunHistory, JoinedRunsEnvelope, ListJoinedRuns, ReadJoinedRun,
    ReadRunPrompt, RunHistoryEnvelope, RunPromptEnvelope, RunStageEnvelope, RunWaitEnvelope,
    StageRunResult, TURNS, WaitForRun,
};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;
use tokio::time::{Instant, sleep_until};

use crate::elsewhere::{self, Missing};
use crate::find::{find, runs};
use crate::{Context, Route, here};

const PROMPT: Missing = Missing {
    what: "prompts are not sent",
    command: "accord run status, which names the prompt of each turn",
};
const RESULT: Missing = Missing { what: "results are staged there", command: "accord run stage" };
/// How long a request waits if it does not say it, in seconds.
const WAIT: u32 = 25;
/// How often a request that waits looks at an open repository.
const PAUSE: Duration = Duration::from_millis(500);

/// Every route.
pub fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ListJoinedRuns>| {
            let runs = runs(&host, &caller, &call.path.project).await?;
            Ok(Json(alx_envelope!(correlation, JoinedRunsEnvelope { runs })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ReadJoinedRun>| {
            let found = find(&host, &caller, &call.path).await?;
            let run = found.shown(&host, &call.path.project).await?;
            Ok(Json(alx_envelope!(correlation, JoinedRunEnvelope { run })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<JoinedRunHistory>| {
            let (project, named) = (&call.path.project, &call.path.run);
            let found = find(&host, &caller, &call.path).await?;
            let last = call.query.last.unwrap_or(TURNS) as usize;
            let of = (found.edge.edge_id.as_str() != named).then(|| named.clone());
            let run = found.shown(&host, project).await?;
            let read = of.clone();
            let here = here::with(&host, project, &found.edge, move |opened| {
                here::history(opened, read.as_deref(), last)
            });
            let here = here.await?;
            let turns = here.unwrap_or_else(|| elsewhere::history(&found, of.as_deref(), last));
            Ok(Json(alx_envelope!(correlation, RunHistoryEnvelope { run, turns })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ReadRunPrompt>| {
            let found = find(&host, &caller, &call.path).await?;
            let turn = call.query.turn;
            let read = here::with(&host, &call.path.project, &found.edge, move |opened| {
                here::prompt(opened, turn.as_deref())
            });
            let read = read.await?.ok_or_else(|| elsewhere::refuse(&found.edge, &PROMPT))?;
            let (turn_id, role) = (read.turn.id().to_string(), Some(read.turn.role().to_owned()));
            let prompt = read.text;
            Ok(Json(alx_envelope!(correlation, RunPromptEnvelope { turn_id, role, prompt })))
        }),
        serve(wait),
        serve(async |Context { host, caller, correlation }, call: Call<StageRunResult>| {
            caller.authorize(StageRunResult::NEED, &call.path.project, Author::unnamed())?;
            let found = find(&host, &caller, &call.path).await?;
            let request = call.body.0;
            let staged = here::with(&host, &call.path.project, &found.edge, move |opened| {
                // It examines the process of the caller.
                caller.refuse_worker()?;
                here::stage(opened, request)
            });
            let staged = staged.await?.ok_or_else(|| elsewhere::refuse(&found.edge, &RESULT))?;
            Ok(Json(alx_envelope!(correlation, RunStageEnvelope { staged })))
        }),
    ]
}

/// Waits until the run has another version. Each commit of the host is a reason to look; an open
/// repository is looked at all the time.
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
        let run = find(&host, &caller, &call.path).await?.shown(&host, &call.path.project).await?;
        let changed = run.version != *since.get_or_insert_with(|| run.version.clone());
        if changed || is_last {
            return Ok(Json(alx_envelope!(correlation, RunWaitEnvelope { changed, run })));
        }
        let look = run.here.then_some(PAUSE).map_or(ends, |pause| ends.min(Instant::now() + pause));
        tokio::select! {
            heard = commits.changed() => is_last = heard.is_err(),
            () = sleep_until(look) => is_last = Instant::now() >= ends,
            // A host that shuts down keeps no client waiting.
            () = host.streams().closed() => is_last = true,
        }
    }
}
