//! What a host needs to mount a session: `ai.ggui/render`.

use accord_contract::{Object, Value};
use accord_live::Found;
use accord_live_core::resource::{Code, ContextSlot, Delivery, Slice};
use accord_live_core::token::TokenKind;
use accord_pages::assets;

use crate::LiveDoor;

/// The slice of a session, with a new token of these claims; without claims there is none. `base`
/// is the address at which the reader reaches this server; without one there is no channel. `None`
/// if the code of the UI is gone.
pub(crate) fn slice(
    host: &LiveDoor,
    base: Option<&str>,
    found: &Found,
    claims: Option<Object>,
) -> Option<Slice> {
    let (session, ui) = (&found.session, &found.content.ui);
    let text = |name: &str| ui.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let module = || format!("{}{}", base.unwrap_or_default(), assets::frame_path());
    let overridden = host.overrides().of(&session.id).renderer_url;
    let mut slice = Slice::new(session, overridden.unwrap_or_else(module));
    if let Some(hash) = text("x-codeHash") {
        let code = text("componentCode")?;
        slice.code = match base {
            Some(base) => Some(Code::Url(format!("{base}/code/{hash}.js"), hash.to_owned())),
            None => Code::inline(code, hash),
        };
    }
    let app = &session.app_id;
    let token = claims
        .and_then(|claims| host.live().mint_token_with(TokenKind::Ws, &session.id, app, claims));
    slice.delivery = base.zip(token).map(|(base, token)| Delivery::new(base, &session.id, token));
    slice.props_json.clone_from(&found.props_json);
    slice.context_slots = ContextSlot::of(ui, found.content.context.as_ref());
    slice.theme_id = text("themeId").map(str::to_owned);
    Some(slice)
}
