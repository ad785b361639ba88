//! Sessions as resources: `ui://ggui/render/{sessionId}[/{blueprintKey}][#epoch]`.
//!
//! Invariant: a read that is refused and a read of a session that does not exist have the same
//! answer, byte for byte. So a typed error names neither the address nor a reason.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_live_core::resource::ReadCode;
use futures_util::FutureExt as _;
use rmcp::model::{ErrorCode, ErrorData, MetaObject, Resource, ResourceContents};
use serde_json::json;

use accord_mcp::ask::Ask;
use accord_mcp::resource::{ListAsk, ResourcePage, ResourceSet, Template};
use accord_mcp::tool_result::ToolError;

const PREFIX: &str = "ui://ggui/render/";

/// The sessions.
pub(super) static SESSIONS: ResourceSet = ResourceSet {
    templates: &[Template {
        uri: "ui://ggui/render/{sessionId}",
        name: "session",
        title: "Live session",
        description: "What a host of pages needs to mount a session: the document ai.ggui/render \
            in _meta. The key of the UI and #epoch can follow.",
    }],
    media_type: "text/html;profile=mcp-app",
    read: |uri| {
        let is_session = uri.starts_with(PREFIX);
        is_session.then(|| Ask::get(&["accord", "v1", "live", "resource"]).query("uri", Some(uri)))
    },
    contents: |uri, answer| {
        let mut envelope = answer.object()?;
        let text = |value: Option<Value>| value.and_then(|value| Some(value.as_str()?.to_owned()));
        let title = text(envelope.remove("title")).unwrap_or_default();
        let page = text(envelope.remove("page_url"));
        let Some(slice) = envelope.remove("slice") else {
            let message = "the answer of the host has no slice";
            return Err(Failure::new(Code::HostProtocol, message));
        };
        let meta = Object::from_iter([("ai.ggui/render".to_owned(), slice)]);
        Ok(ResourceContents::text(html(&title, page.as_deref()), uri).with_meta(MetaObject(meta)))
    },
    refused: |error| typed(error),
    list: |asked| list(asked).boxed(),
};

/// The error of a read that is one of the protocol's.
fn typed(error: &ToolError) -> Option<ErrorData> {
    let code = ReadCode::parse(error.code())?;
    let data = json!({"code": code.as_str()});
    let message = code.failure().message;
    Some(ErrorData::new(ErrorCode(code.rpc_code()), message, Some(data)))
}

/// A page for a host that mounts HTML: what the session is for, and the link to its page.
fn html(title: &str, page: Option<&str>) -> String {
    let title = escaped(title);
    let link = match page {
        Some(page) => format!("<p><a href=\"{}\">Open the page</a></p>", escaped(page)),
        None => "<p>No server with pages runs here.</p>".to_owned(),
    };
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1>{link}</html>"
    )
}

/// A text in HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// The sessions of the server's project, in one page. Without a project there are none to list.
async fn list(asked: ListAsk<'_>) -> Result<ResourcePage, ToolError> {
    if asked.cursor.is_some() {
        return Ok(ResourcePage::default());
    }
    let body = Object::from_iter([("limit".to_owned(), Value::from(200))]);
    let ask = Ask::post(&["accord", "v1", "live", "tools", "ggui_list_sessions"], body)
        .query("project_id", asked.project);
    let answer = match ask.send(asked.api).await {
        Ok(answer) => answer.object()?,
        Err(error) if error.is(Code::GguiAppMismatch) => return Ok(ResourcePage::default()),
        Err(error) => return Err(error),
    };
    let sessions = answer.get("result").and_then(|result| result.get("sessions"));
    let sessions = sessions.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let resources = sessions.iter().filter_map(|session| {
        let text = |name: &str| session.get(name).and_then(Value::as_str);
        let id = accord_live_core::SessionId::new(text("id")?).ok()?;
        let uri = accord_live_core::resource::Locator::new(id.clone()).to_string();
        let title = text("prompt").filter(|prompt| !prompt.is_empty()).unwrap_or("Live session");
        Some(Resource::new(uri, id.as_str()).with_title(title).with_mime_type(SESSIONS.media_type))
    });
    Ok(ResourcePage { resources: resources.collect(), next_cursor: None })
}
