//! What agents read.

use accord_base::Need;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_live_core::tools::{
    GadgetList, ListSessionsRequest, SearchBlueprintsRequest, SessionRequest, ThemeList,
};
use futures_util::FutureExt as _;

use super::{route, tool};
use crate::http::Route;

message! {
    /// The arguments of a tool that takes none.
    pub(crate) struct NoArguments("GguiNoArguments", open) {}
}

/// UIs that are listed without a search.
const FEATURED: u64 = 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        route::<SessionRequest, _>(
            "ggui_get_session",
            tool!("ggui_get_session"),
            "Shows a session: its counters and times, its UI with contract and code, its props.",
            |asked, request| {
                async move {
                    let app = asked.app_of(&request.session_id).await?;
                    asked.host.live().session(&asked.caller, &app, &request.session_id).await
                }
                .boxed()
            },
        )
        .needs(Need::Read)
        .refuses(&[Code::AgenticSessionNotFound]),
        route::<ListSessionsRequest, _>(
            "ggui_list_sessions",
            tool!("ggui_list_sessions"),
            "Lists the sessions of a project that have not expired, the newest first, without what \
             is large.",
            |asked, request| {
                async move {
                    let app = asked.app().await?;
                    asked.host.live().sessions(&asked.caller, &app, request).await
                }
                .boxed()
            },
        )
        .needs(Need::Read),
        route::<SessionRequest, _>(
            "ggui_get_render_source",
            tool!("ggui_get_render_source"),
            "Shows the component code and the contract of the UI of a session.",
            |asked, request| {
                async move {
                    let app = asked.app_of(&request.session_id).await?;
                    asked.host.live().render_source(&asked.caller, &app, &request.session_id).await
                }
                .boxed()
            },
        )
        .needs(Need::Read)
        .refuses(&[Code::AgenticSessionNotFound]),
        route::<NoArguments, GadgetList>(
            "ggui_list_gadgets",
            tool!("ggui_list_gadgets"),
            "Lists the packages of gadgets that a contract can use.",
            |asked, _| {
                async move { Ok(GadgetList::new(&asked.host.live().options().gadgets)) }.boxed()
            },
        )
        .needs(Need::Read),
        route::<NoArguments, ThemeList>(
            "ggui_list_themes",
            tool!("ggui_list_themes"),
            "Lists the themes that a render can name.",
            |asked, _| {
                async move {
                    let themes = asked.host.live().options().themes.clone();
                    Ok(ThemeList::new(themes))
                }
                .boxed()
            },
        )
        .needs(Need::Read),
        route::<SearchBlueprintsRequest, _>(
            "ggui_search_blueprints",
            tool!("ggui_search_blueprints"),
            "Finds UIs that were rendered before, by the words of their intent or by their \
             contract.",
            |asked, request| {
                async move {
                    let app = asked.app().await?;
                    asked.host.live().blueprints(&asked.caller, &app, request).await
                }
                .boxed()
            },
        )
        .needs(Need::Read),
        route::<NoArguments, _>(
            "ggui_list_featured_blueprints",
            tool!("ggui_list_featured_blueprints"),
            "Lists the ten UIs that were rendered last.",
            |asked, _| {
                async move {
                    let newest = SearchBlueprintsRequest::newest(FEATURED);
                    let app = asked.app().await?;
                    asked.host.live().blueprints(&asked.caller, &app, newest).await
                }
                .boxed()
            },
        )
        .needs(Need::Read),
    ]
}
