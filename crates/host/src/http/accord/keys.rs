//! Keys over HTTP, and who the caller is.

use accord_api::operations::keys::{
    CallerName, CreateKey, Key, KeyEnvelope, KeyListEnvelope, ListKeys, Me, MeEnvelope, RevokeKey,
};
use accord_api::{Call, Json};
use accord_base::{ActorKey, KeyActor};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Correlation, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { caller, correlation, .. }, _: Call<Me>| {
            let access = caller.access();
            let actor = access.actor().cloned();
            Ok(Json(alx_envelope!(
                correlation,
                MeEnvelope {
                    caller: CallerName::from(&caller.kind()).into(),
                    actor: actor.map(|ActorKey { id, kind }| KeyActor { id, kind }),
                    act_as: access.may_act_as_others(),
                    verbs: access.verbs().map(Into::into).collect(),
                    projects: access.projects().map(|ids| ids.iter().cloned().collect()),
                }
            )))
        }),
        serve(async |Context { host, caller, correlation }, _: Call<ListKeys>| {
            let keys = host.keys().list(&caller).await?;
            Ok(Json(alx_envelope!(correlation, KeyListEnvelope { keys })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<CreateKey>| {
            let created = host.keys().create(&caller, call.body.0).await?;
            Ok(envelope(&correlation, created.key, Some(created.secret)))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<RevokeKey>| {
            let key = host.keys().revoke(&caller, &call.path.key).await?;
            Ok(envelope(&correlation, key, None))
        }),
    ]
}

fn envelope(correlation: &Correlation, key: Key, secret: Option<String>) -> Json<KeyEnvelope> {
    Json(alx_envelope!(correlation, KeyEnvelope { key, secret }))
}
