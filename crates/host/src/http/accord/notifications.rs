//! What people are told, over HTTP.

use accord_api::operations::notifications::{
    NotificationRulesEnvelope, SetNotifications, ShowNotifications,
};
use accord_api::{Call, Json};
use accord_serving::acting::door_of;
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};
use crate::notify::PersonRules;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, call: Call<ShowNotifications>| {
            let door = door_of(&caller, call.query.door);
            let shown = host.notification_rules(&caller, call.query.actor.as_deref(), door).await?;
            let PersonRules { person: actor, rules, version } = shown;
            let version = Some(version);
            Ok(Json(alx_envelope!(
                correlation,
                NotificationRulesEnvelope { actor, rules, version }
            )))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<SetNotifications>| {
            let door = door_of(&caller, call.query.door);
            let set = host
                .set_notification_rules(&caller, call.query.actor.as_deref(), door, call.body.0)
                .await?;
            let PersonRules { person: actor, rules, version } = set;
            let version = Some(version);
            Ok(Json(alx_envelope!(
                correlation,
                NotificationRulesEnvelope { actor, rules, version }
            )))
        }),
    ]
}
