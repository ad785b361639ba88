//! Sessions as resources: `ui://ggui/render/{sessionId}[/{blueprintKey}][#epoch]`.
//!
//! Invariant: a read that is refused and a read of a session that does not exist have the same
//! answer, byte for byte. So a typed error names neither the address nor a reason.

use accord_api::{Json, NoBody, Verbatim};
use accord_contract::{Code, Object, Value};
use accord_live_core::operations::tools::{GguiMountEnvelope, GguiSessionListEnvelope};
use accord_live_core::operations::tools::{ListSessions, ReadResource, ResourceQuery, ToolQuery};
use accord_live_core::resource::{Locator, ReadCode};
use accord_live_core::tools::{ListSessionsRequest, SessionDocument};
use futures_util::FutureExt as _;
use rmcp::model::{ErrorCode, ErrorData, MetaObject, Resource, ResourceContents};
use serde_json::json;

use super::ask;
use accord_mcp::{ListRequest, ResourcePage, ResourceSet, Template, ToolError, call::id};

const PREFIX: &str = "ui://ggui/render/";

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
        is_session.then(|| ask::<ReadResource>(ResourceQuery { uri: uri.to_owned() }, NoBody))
    },
    contents: |uri, answer| {
        let GguiMountEnvelope { slice, title, page_url, .. } = answer.read::<Json<_>>()?.0;
        let meta = Object::from_iter([("ai.ggui/render".to_owned(), Value::Object(slice))]);
        let text = html(&title, page_url.as_deref());
        Ok(ResourceContents::text(text, uri).with_meta(MetaObject(meta)))
    },
    refused: |error| typed(error),
    list: |asked| list(asked).boxed(),
};

/// The error of a read that is one of the protocol's.
fn typed(error: &ToolError) -> Option<ErrorData> {
    let code = ReadCode::parse(error.code())?;
    let data = json!({"code": code.as_str()});
    Some(ErrorData::new(ErrorCode(code.rpc_code()), code.failure().message, Some(data)))
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
async fn list(asked: ListRequest<'_>) -> Result<ResourcePage, ToolError> {
    if asked.cursor.is_some() {
        return Ok(ResourcePage::default());
    }
    let (host_name, host_session_id, extra) = (None, None, Object::new());
    let request = ListSessionsRequest { host_name, host_session_id, limit: Some(200), extra };
    let project = asked.project.map(|project| id("project_id", project)).transpose()?;
    let query = ToolQuery { project, actor: None };
    let sent = ask::<ListSessions>(query, Verbatim::from(&request)).send(asked.api).await;
    let listed = match sent {
        Ok(answer) => answer.read::<Json<GguiSessionListEnvelope>>()?.0.result,
        Err(error) if error.is(Code::GguiAppMismatch) => return Ok(ResourcePage::default()),
        Err(error) => return Err(error),
    };
    let resource = |session: &SessionDocument| {
        let uri = Locator::new(session.id.clone()).to_string();
        let title = session.prompt().filter(|prompt| !prompt.is_empty()).unwrap_or("Live session");
        Resource::new(uri, session.id.as_str())
            .with_title(title)
            .with_mime_type(SESSIONS.media_type)
    };
    let resources = listed.sessions.iter().map(resource).collect();
    Ok(ResourcePage { resources, next_cursor: None })
}
