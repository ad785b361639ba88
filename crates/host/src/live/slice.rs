//! What a host needs to mount a session: `ai.ggui/render`.

use accord_contract::wire::Value;
use accord_live::Found;
use accord_live_core::resource::{Code, Delivery, Slice};
use accord_live_core::token::TokenKind;

use crate::http::Host;

/// The slice of a session, with a new token. `base` is the address at which the reader reaches the
/// host. `None` if the code of the UI is gone.
pub(crate) fn slice(host: &Host, base: &str, found: &Found) -> Option<Slice> {
    let (session, ui) = (&found.session, &found.content.ui);
    let text = |name: &str| ui.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = escaped(session.id.as_str());
    let overridden = host.live_overrides().of(&session.id).renderer_url;
    let runtime = overridden.unwrap_or_else(|| format!("{base}/live/{id}"));
    let mut slice = Slice::new(session, runtime);
    if let Some(hash) = text("x-codeHash") {
        // Without its text the code cannot be mounted.
        text("componentCode")?;
        slice.code = Some(Code::Url(format!("{base}/code/{hash}.js"), hash.to_owned()));
    }
    let token = host.live().mint_token(TokenKind::Ws, &session.id, &session.app_id);
    slice.delivery = token.map(|token| {
        let socket = format!("{}/ws", base.replacen("http", "ws", 1));
        let api = format!("{base}/api/sessions/{id}");
        Delivery::new(socket, token, format!("{api}/events"), format!("{api}/stream"))
    });
    slice.props_json.clone_from(&found.props_json);
    slice.context_slots.clone_from(&found.content.context);
    slice.theme = text("themeId").map(Value::from);
    Some(slice)
}

/// An id as a segment of a path.
fn escaped(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
