//! The tools of pages. A refusal of the protocol is a result, `{ok: false, code, message}`.

use accord_contract::Failure;
use accord_live_core::tools::{Outcome, PullAnswer, PullRequest, RuntimeAnswer};
use accord_live_core::{AppId, operations::tools, refuse};

use super::{Asked, tool};
use crate::{Route, TokenHolder};

pub(super) fn routes() -> Vec<Route> {
    vec![
        tool(tools::SubmitAction, |asked, request| async move {
            named(&asked, &request.app_id)?;
            answered(asked.host.live().submit_action(&asked.caller, request).await)
        }),
        tool(tools::SyncContext, |asked, request| async move {
            named(&asked, &request.app_id)?;
            answered(asked.host.live().sync_context(&asked.caller, request).await)
        }),
        tool(tools::Pull, pull),
        tool(tools::RefreshWsToken, |asked, request| async move {
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
        }),
        tool(tools::Telemetry, |asked, request| async move {
            Ok(asked.host.live().record_telemetry(&asked.caller, request).answer())
        }),
        tool(tools::DeclareToolCatalog, |asked, request| async move {
            named(&asked, &request.app_id)?;
            answered(asked.host.live().declare_tools(&asked.caller, request).await)
        }),
    ]
}

async fn pull(asked: Asked, request: PullRequest) -> Result<PullAnswer, Failure> {
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
    let message = "the key does not cover the app, or the call is about another project";
    asked.visible(Some(app.clone())).map(drop).ok_or_else(|| refuse::app_mismatch(message))
}

fn answered(outcome: Result<Outcome, Failure>) -> Result<RuntimeAnswer, Failure> {
    Ok(outcome?.answer())
}
