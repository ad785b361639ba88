//! Keys over HTTP.

use accord_api::Call;
use accord_api::body::Json;
use accord_api::operations::keys::{
    CreateKey, Key, KeyEnvelope, KeyListEnvelope, ListKeys, RevokeKey,
};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Correlation, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![
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
