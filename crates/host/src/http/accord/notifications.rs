//! What people are told, over HTTP.

use accord_api::operations::notifications::{
    NotificationRulesEnvelope, SetNotifications, ShowNotifications,
};
use accord_api::{Call, Json};
use accord_serving::acting::door_of;
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ShowNotifications>| {
            let door = door_of(&caller, call.query.door);
            let (actor, rules) =
                host.notification_rules(&caller, call.query.actor.as_deref(), door).await?;
            Ok(Json(alx_envelope!(correlation, NotificationRulesEnvelope { actor, rules })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<SetNotifications>| {
            let door = door_of(&caller, call.query.door);
            let (actor, rules) = host
                .set_notification_rules(&caller, call.query.actor.as_deref(), door, call.body.0)
                .await?;
            Ok(Json(alx_envelope!(correlation, NotificationRulesEnvelope { actor, rules })))
        }),
    ]
}
