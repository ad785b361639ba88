//! Reads of resources.

use accord_contract::{Object, Value};
use accord_live_core::resource::{
    Code, ContextSlot, Delivery, Locator, ReadCode, ReadFacts, Readable, Slice, Substrate, read,
};
use accord_live_core::session::Session;
use accord_live_core::token::{Secret, TokenKind};
use serde_json::json;

use super::parts::{APP, NOW, app, session, time};
use crate::{BadCall, Call, Outcome};

const HEAD: u64 = 4;

/// Reads a resource, and compares a refusal with a miss.
pub(super) fn resource_read(call: &Call) -> Outcome {
    let Ok(locator) = Locator::parse(call.text("uri")?) else {
        return Ok(json!({"malformed": true}));
    };
    let outcome = attempt(call, &locator, call.flag("exists", true)?)?;
    let miss = attempt(call, &locator, false)?;
    Ok(match &outcome {
        Ok(slice) => json!({"mountable": slice.is_mountable(), "slice": slice.document()}),
        Err(code) => {
            let text = |code: &ReadCode| format!("{} {:?}", code.rpc_code(), code.failure());
            json!({
                "mountable": false,
                "code": code.as_str(),
                "rpcCode": code.rpc_code(),
                "sameAsMiss": miss.as_ref().err().map(text) == Some(text(code)),
            })
        }
    })
}

type Read = Result<Slice, ReadCode>;

fn attempt(call: &Call, locator: &Locator, exists: bool) -> Result<Read, BadCall> {
    let mut session = session()?;
    session.head.epoch = HEAD;
    let caller = app(call.optional_text("caller")?.unwrap_or(APP))?;
    let epoch = locator.epoch.unwrap_or(HEAD).to_string();
    let props = match call.optional_object("epochs")? {
        Some(epochs) => epochs.get(&epoch).map(Value::to_string),
        None => Some("{}".to_owned()),
    };
    let size = call.optional_count("codeBytes")?.unwrap_or(10);
    let slice = mounted(call.optional_text("ui")?.unwrap_or("kind"), &session, size)?;
    let public = call.optional_text("public")?.map(|ui| mounted(ui, &session, size));
    let public = public.transpose()?.flatten();
    let mut slice = slice;
    if let (Some(slice), Some(spec)) = (&mut slice, call.optional_object("contextSpec")?) {
        let ui = Object::from_iter([("contextSpec".to_owned(), Value::Object(spec.clone()))]);
        slice.context_slots = ContextSlot::of(&ui, call.optional_object("context")?);
    }
    let found = Readable { session, props_json: props, slice };
    let facts = ReadFacts {
        app_id: &caller,
        substrate: Substrate {
            has_identities: call.flag("identities", true)?,
            has_blueprints: call.flag("blueprints", true)?,
        },
        found: exists.then_some(found),
        public,
        now: time(NOW)?,
    };
    Ok(read(locator, facts))
}

/// A slice that mounts something; `None` if its UI is gone.
fn mounted(ui: &str, session: &Session, code_bytes: u64) -> Result<Option<Slice>, BadCall> {
    let mut slice = Slice::new(session, "https://host.example/runtime.js");
    match ui {
        "gone" => return Ok(None),
        "none" => {}
        "kind" => slice.code = Some(Code::Kind("no-credentials".into())),
        "inline" => {
            let code = "x".repeat(usize::try_from(code_bytes).unwrap_or(usize::MAX));
            slice.code = Code::inline(&code, "0123456789abcdef");
        }
        "channel" => {
            let secret = Secret::new("conformance");
            let (id, app) = (&session.id, &session.app_id);
            let token = secret.mint(TokenKind::Ws, id, app, time(NOW)?, [7; 12]);
            slice.delivery = Some(Delivery::new("https://host.example", id, token));
        }
        _ => return Err(BadCall::kind("ui", "kind, channel, inline, none or gone")),
    }
    Ok(Some(slice))
}
