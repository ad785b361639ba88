//! The inbox over HTTP.

use accord_api::operations::inbox::{
    InboxEnvelope, InboxItemEnvelope, ListInbox, MarkInboxItem, ShowInboxItem,
};
use accord_api::{Call, Json};
use accord_serving::acting::door_of;
use accord_serving::alx_envelope;
use accord_serving::operation::{serve, serve_response};

use crate::http::{Context, Route};
use crate::inbox::{Page, follow};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ListInbox>| {
            let page = host.inbox(&caller, call.query).await?;
            let Page { items, next_cursor, as_of, counts } = page;
            Ok(Json(alx_envelope!(
                correlation,
                InboxEnvelope { items, next_cursor, as_of, counts }
            )))
        }),
        serve_response(follow),
        serve(async |Context { host, caller, correlation }, call: Call<ShowInboxItem>| {
            let actor = call.query.actor.as_deref();
            let item = host.inbox_item(&caller, &call.path.item, actor).await?;
            Ok(Json(alx_envelope!(correlation, InboxItemEnvelope { item })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<MarkInboxItem>| {
            let door = door_of(&caller, call.query.door);
            let (actor, request) = (call.query.actor.as_deref(), call.body.0);
            let item = host.mark_inbox(&caller, &call.path.item, actor, (door, request)).await?;
            Ok(Json(alx_envelope!(correlation, InboxItemEnvelope { item })))
        }),
    ]
}
