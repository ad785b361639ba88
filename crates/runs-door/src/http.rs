//! The routes of governed runs.

use std::time::Duration;

use accord_api::{Call, Json, Operation as _};
use accord_base::Author;
use accord_contract::Failure;
use accord_runs_core::operations::joined::{
    JoinedRunEnvelope, JoinedRunHistory, JoinedRunsEnvelope, ListJoinedRuns, ReadJoinedRun,
    ReadRunOutput, ReadRunPrompt, RunHistoryEnvelope, RunOutputEnvelope, RunPromptEnvelope,
    RunStageEnvelope, RunWaitEnvelope, StageRunResult, TURNS, WaitForRun,
};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;
use tokio::time::{Instant, sleep_until};

use crate::elsewhere::{self, Missing, Printed};
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
        serve(async |Context { host, caller, correlation }, call: Call<ReadRunOutput>| {
            let found = find(&host, &caller, &call.path).await?;
            let run = found.shown(&host, &call.path.project).await?;
            let (turn, from) = (call.query.turn.as_deref(), call.query.from.unwrap_or(0));
            let Printed { turn_id, output, next } = elsewhere::output(&found, turn, from.into())?;
            let active = run.turns.iter().any(|turn| Some(&turn.turn_id) == turn_id.as_ref());
            Ok(Json(alx_envelope!(
                correlation,
                RunOutputEnvelope { run, turn_id, output, next, active }
            )))
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

/// Waits until the run has another version. A commit to the project is a reason to look. The files
/// of an open repository are looked at all the time, and the repository when they changed.
async fn wait(
    Context { host, caller, correlation }: Context,
    call: Call<WaitForRun>,
) -> Result<Json<RunWaitEnvelope>, Failure> {
    let project = &call.path.project;
    let seconds = call.query.wait_seconds.unwrap_or(WAIT);
    let ends = Instant::now() + Duration::from_secs(seconds.into());
    let mut commits = None;
    let mut since = call.query.since.clone();
    loop {
        let is_over = Instant::now() >= ends || host.streams().are_closing();
        // Who may not read the project is refused before anything is followed.
        let found = find(&host, &caller, &call.path).await?;
        let run = found.shown(&host, project).await?;
        let changed = run.version != *since.get_or_insert_with(|| run.version.clone());
        if changed || is_over {
            return Ok(Json(alx_envelope!(correlation, RunWaitEnvelope { changed, run })));
        }
        if commits.is_none() {
            // Once more: something may have been committed since.
            commits = Some(host.edges().commits(project));
            continue;
        }
        let commits = commits.as_mut().expect("it is set above");
        loop {
            let pause = run.here.then_some(PAUSE);
            let look = pause.map_or(ends, |pause| ends.min(Instant::now() + pause));
            tokio::select! {
                () = commits.next() => break,
                // A host that shuts down keeps no client waiting.
                () = host.streams().closed() => break,
                () = sleep_until(look) => {}
            }
            let is_same = match run.here {
                true => {
                    here::version(&host, project, &found.edge).await? == Some(run.version.clone())
                }
                false => true,
            };
            if !is_same || Instant::now() >= ends {
                break;
            }
        }
    }
}
