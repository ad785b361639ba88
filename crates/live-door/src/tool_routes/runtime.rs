//! The tools of pages. A refusal of the protocol is a result, `{ok: false, code, message}`.

use accord_contract::Failure;
use accord_live_core::operations::pages::LivePage;
use accord_live_core::tools::RuntimePageRequest;
use accord_live_core::tools::{Outcome, PullAnswer, PullRequest, RuntimeAnswer};
use accord_live_core::{AppId, operations::tools, refuse};

use super::{Asked, mount::page_url, tool};
use crate::{Route, TokenHolder, pages::page_of};

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
            let app = asked.app().await?;
            asked.host.live().declare_tools(&asked.caller, &app, request).await
        }),
        tool(tools::RuntimePage, page),
    ]
}

/// What a frame shows.
async fn page(asked: Asked, request: RuntimePageRequest) -> Result<LivePage, Failure> {
    let app = asked.app_of(&request.session_id).await?;
    let (host, id) = (&asked.host, &request.session_id);
    let missing = || refuse::tool_session_not_found("there is no such session");
    let found = host.live().found(id, None).await?.ok_or_else(missing)?;
    let mut page = page_of(host, &found).await?;
    page.app_id = Some(app);
    page.page_url = page_url(host, id);
    let messages = host.live().messages_after(id, request.from_seq.unwrap_or(0)).await?;
    page.messages = Some(messages);
    Ok(page)
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
