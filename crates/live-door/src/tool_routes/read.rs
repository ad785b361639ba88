//! What agents read.

use accord_live_core::operations::tools::{GetRenderSource, GetSession, ListFeaturedBlueprints};
use accord_live_core::operations::tools::{
    ListGadgets, ListSessions, ListThemes, SearchBlueprints,
};
use accord_live_core::tools::{GadgetList, SearchBlueprintsRequest, ThemeList};

use super::tool;
use crate::Route;

/// UIs that are listed without a search.
const FEATURED: u64 = 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        tool(GetSession, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            asked.host.live().session(&asked.caller, &app, &request.session_id).await
        }),
        tool(ListSessions, |asked, request| async move {
            let app = asked.app().await?;
            asked.host.live().sessions(&asked.caller, &app, request).await
        }),
        tool(GetRenderSource, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            asked.host.live().render_source(&asked.caller, &app, &request.session_id).await
        }),
        tool(ListGadgets, |asked, _| async move {
            Ok(GadgetList::new(&asked.host.live().options().gadgets))
        }),
        tool(ListThemes, |asked, _| async move {
            Ok(ThemeList::new(asked.host.live().options().themes.clone()))
        }),
        tool(SearchBlueprints, |asked, request| async move {
            let app = asked.app().await?;
            asked.host.live().blueprints(&asked.caller, &app, request).await
        }),
        tool(ListFeaturedBlueprints, |asked, _| async move {
            let newest = SearchBlueprintsRequest::newest(FEATURED);
            let app = asked.app().await?;
            asked.host.live().blueprints(&asked.caller, &app, newest).await
        }),
    ]
}
