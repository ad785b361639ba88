//! The tools of pages. A refusal of the protocol is a result, `{ok: false, code, message}`.

use accord_base::{Decision, Need};
use accord_contract::codes::{Code, Failure};
use accord_live_core::AppId;
use accord_live_core::tools::{
    DeclareToolsRequest, Outcome, PullAnswer, PullRequest, RefreshTokenRequest, RuntimeAnswer,
    SubmitActionRequest, SyncContextRequest, TelemetryRequest,
};
use futures_util::FutureExt as _;

use super::{Asked, CHANGES, route, tool};
use crate::http::Route;
use crate::live::TokenHolder;

pub(super) fn routes() -> Vec<Route> {
    vec![
        route::<SubmitActionRequest, RuntimeAnswer>(
            "ggui_runtime_submit_action",
            tool!("ggui_runtime_submit_action"),
            "Records what a person did on a page, for the agent of the session. The same actionId \
             is recorded once.",
            |asked, request| {
                async move {
                    let host = &asked.host;
                    named(&asked, &request.app_id)?;
                    answered(host.live().submit_action(&asked.caller, request).await)
                }
                .boxed()
            },
        )
        .needs(Need::Decide(Decision::Answer))
        .refuses(CHANGES),
        route::<SyncContextRequest, RuntimeAnswer>(
            "ggui_runtime_sync_context",
            tool!("ggui_runtime_sync_context"),
            "Records the values of the context slots of a page. They replace those of before.",
            |asked, request| {
                async move {
                    named(&asked, &request.app_id)?;
                    answered(asked.host.live().sync_context(&asked.caller, request).await)
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES),
        route::<PullRequest, PullAnswer>(
            "ggui_runtime_pull",
            tool!("ggui_runtime_pull"),
            "Reads the ledger of a session after a number; where there is nothing, waits as long \
             as the request says.",
            |asked, request| async move { pull(&asked, request).await }.boxed(),
        )
        .needs(Need::Read)
        .refuses(&[Code::AgenticSessionNotFound, Code::GguiInvalidSinceSequence]),
        route::<RefreshTokenRequest, RuntimeAnswer>(
            "ggui_runtime_refresh_ws_token",
            tool!("ggui_runtime_refresh_ws_token"),
            "Makes a new wsToken from an old one, for as long again as it was valid.",
            |asked, request| {
                async move {
                    let host = &asked.host;
                    let is_revoked = match host.live().made_token(&request.envelope) {
                        // A key of another project must not keep a token alive that it came by.
                        Some(claims) => {
                            named(&asked, &claims.app_id).is_err()
                                || TokenHolder::of(host, &claims).await.is_err()
                        }
                        None => false,
                    };
                    answered(host.live().refresh_token(&request, is_revoked).await)
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES),
        route::<TelemetryRequest, RuntimeAnswer>(
            "ggui_runtime_telemetry",
            tool!("ggui_runtime_telemetry"),
            "Writes what a page observed about itself to the log of the server (level debug).",
            |asked, request| {
                async move {
                    let live = asked.host.live();
                    Ok(live.record_telemetry(&asked.caller, request).answer())
                }
                .boxed()
            },
        )
        .needs(Need::Write),
        route::<DeclareToolsRequest, RuntimeAnswer>(
            "ggui_runtime_declare_tool_catalog",
            tool!("ggui_runtime_declare_tool_catalog"),
            "Says which tools the host of a page offers. Later renders of the project check their \
             actions against the input schemas.",
            |asked, request| {
                async move {
                    named(&asked, &request.app_id)?;
                    answered(asked.host.live().declare_tools(&asked.caller, request).await)
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES),
    ]
}

async fn pull(asked: &Asked, request: PullRequest) -> Result<PullAnswer, Failure> {
    let app = asked.app_of(&request.session_id).await?;
    let (host, caller) = (&asked.host, &asked.caller);
    let once = request.at_once();
    tokio::select! {
        page = host.live().pull(caller, &app, request) => page,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => host.live().pull(caller, &app, once).await,
    }
}

/// Checks that the project of a call, if it names one, is the app of its arguments.
fn named(asked: &Asked, app: &AppId) -> Result<(), Failure> {
    match asked.visible(Some(app.clone())) {
        Some(_) => Ok(()),
        None => Err(accord_live_core::refuse::app_mismatch(
            "the key does not cover the app, or the call is about another project",
        )),
    }
}

fn answered(outcome: Result<Outcome, Failure>) -> Result<RuntimeAnswer, Failure> {
    Ok(outcome?.answer())
}
