//! What agents read.

use accord_live_core::operations::tools;
use accord_live_core::tools::{GadgetList, SearchBlueprintsRequest, ThemeList};

use super::tool;
use crate::Route;

/// UIs that are listed without a search.
const FEATURED: u64 = 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        tool(tools::GetSession, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            asked.host.live().session(&asked.caller, &app, &request.session_id).await
        }),
        tool(tools::ListSessions, |asked, request| async move {
            let app = asked.app().await?;
            asked.host.live().sessions(&asked.caller, &app, request).await
        }),
        tool(tools::GetRenderSource, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            asked.host.live().render_source(&asked.caller, &app, &request.session_id).await
        }),
        tool(tools::ListGadgets, |asked, _| async move {
            Ok(GadgetList::new(&asked.host.live().options().gadgets))
        }),
        tool(tools::ListThemes, |asked, _| async move {
            Ok(ThemeList::new(asked.host.live().options().themes.clone()))
        }),
        tool(tools::SearchBlueprints, |asked, request| async move {
            let app = asked.app().await?;
            let query = request.query.clone().unwrap_or_default();
            let found = asked.host.live().blueprints(&asked.caller, &app, request).await?;
            Ok(found.found_for(query))
        }),
        tool(tools::ListFeaturedBlueprints, |asked, _| async move {
            let newest = SearchBlueprintsRequest::newest(FEATURED);
            let app = asked.app().await?;
            asked.host.live().blueprints(&asked.caller, &app, newest).await
        }),
    ]
}
