//! Keys over HTTP.

use accord_base::{Decision, Need};
use accord_contract::codes::Code;
use accord_contract::envelope;
use axum::extract::Path;
use hyper::{Method, StatusCode};

use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::{Context, Correlation, Reply};
use crate::keys::{CreatedKey, Key, KeyRequest};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

envelope! {
    /// All keys.
    pub(crate) struct KeyListEnvelope("KeyListEnvelope") {
        /// The keys, oldest first, including revoked ones.
        required keys: Vec<Key> = "keys", "keys-oldest-first";
    }
}

envelope! {
    /// One key.
    pub(crate) struct KeyEnvelope("KeyEnvelope") {
        /// The key, without the secret.
        required key: Key = "key", "key";
        /// The key itself. Only the answer that creates the key contains it.
        optional secret: String = "secret", "credential";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("keys", "/accord/v1/keys", "Lists the keys, without their secrets.", list)
            .needs(Need::Admin)
            .answers(200, "The keys.", Content::json::<KeyListEnvelope>())
            .refuses(&[Code::AgenticUnauthorized]),
        Route::post(
            "create_key",
            "/accord/v1/keys",
            "Creates a key. Once a key exists, requests from the network need one.",
            create,
        )
        .needs(Need::Decide(Decision::Grant))
        .takes(Content::json::<KeyRequest>())
        .answers(
            201,
            "The key. Its secret is shown only this once.",
            Content::json::<KeyEnvelope>(),
        )
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::WireFieldValue,
            Code::XchainNotForWorkers,
        ]),
        Route::new(
            "revoke_key",
            Method::DELETE,
            "/accord/v1/keys/{key_id}",
            "Revokes a key permanently. Other hosts on the same store refuse it within a second.",
            revoke,
        )
        .needs(Need::Admin)
        .answers(200, "The revoked key.", Content::json::<KeyEnvelope>())
        .refuses(&[Code::AgenticUnauthorized, Code::KeyNotFound]),
    ]
}

async fn list(Context { host, caller, correlation }: Context) -> Reply {
    let envelope =
        alx_envelope!(correlation, KeyListEnvelope { keys: host.keys().list(&caller).await? });
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn create(Context { host, caller, correlation }: Context, document: Document) -> Reply {
    let request: KeyRequest = document.read()?;
    let CreatedKey { key, secret, .. } = host.keys().create(&caller, request).await?;
    let envelope = envelope(&correlation, key, Some(secret));
    Ok(encoded(StatusCode::CREATED, &envelope))
}

async fn revoke(
    Context { host, caller, correlation }: Context,
    Path(key_id): Path<String>,
) -> Reply {
    let key = host.keys().revoke(&caller, &key_id).await?;
    let envelope = envelope(&correlation, key, None);
    Ok(encoded(StatusCode::OK, &envelope))
}

fn envelope(correlation: &Correlation, key: Key, secret: Option<String>) -> KeyEnvelope {
    alx_envelope!(correlation, KeyEnvelope { key, secret })
}
