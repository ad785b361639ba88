//! Sessions as resources: `ui://ggui/render/{sessionId}[/{blueprintKey}][#epoch]`, and
//! `ui://ggui/render`, which shows the session that a host tells it.
//!
//! Invariant: a read that is refused and a read of a session that does not exist have the same
//! answer, byte for byte. So a typed error names neither the address nor a reason.

use accord_api::{Json, NoBody, Verbatim};
use accord_contract::{Code, Object, Value};
use accord_live_core::operations::tools::{GguiMountEnvelope, GguiSessionListEnvelope};
use accord_live_core::operations::tools::{ListSessions, ReadResource, ResourceQuery, ToolQuery};
use accord_live_core::resource::{Locator, ReadCode, SHELL};
use accord_live_core::tools::{ListSessionsRequest, SessionSummary};
use accord_pages::frame;
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
        description: "The page of a session for the frame of a host, with the document \
            ai.ggui/render in _meta. The key of the UI and #epoch can follow.",
    }],
    media_type: "text/html;profile=mcp-app",
    read: |uri| {
        let is_mounted = uri == SHELL || uri.starts_with(PREFIX);
        is_mounted.then(|| ask::<ReadResource>(ResourceQuery { uri: uri.to_owned() }, NoBody))
    },
    contents: |uri, answer| {
        let GguiMountEnvelope { slice, origin, title, .. } = answer.read::<Json<_>>()?.0;
        let ui = json!({"csp": policy(origin.as_deref()), "prefersBorder": true});
        let mut meta = Object::from_iter([("ui".to_owned(), ui)]);
        let slice = Some(slice).filter(|slice| !slice.is_empty());
        let text = frame(&title, slice.as_ref()).into_string();
        if let Some(slice) = slice {
            meta.insert("ai.ggui/render".to_owned(), Value::Object(slice));
        }
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

/// What the document of a frame may load: nothing of others, and of this server what ggui's own
/// runtime loads, if a host uses that one.
fn policy(origin: Option<&str>) -> Value {
    let domains = |origins: &[&str]| Value::from_iter(origins.iter().copied());
    let Some(origin) = origin else {
        return json!({"connectDomains": [], "resourceDomains": []});
    };
    let socket = origin.replacen("http", "ws", 1);
    json!({"connectDomains": domains(&[origin, &socket]), "resourceDomains": domains(&[origin])})
}

fn shell() -> Resource {
    Resource::new(SHELL, "render")
        .with_title("Live sessions")
        .with_description("Shows the session that a host tells it, in a frame of the host.")
        .with_mime_type(SESSIONS.media_type)
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
        Err(error) if error.is(Code::GguiAppMismatch) => {
            return Ok(ResourcePage { resources: vec![shell()], next_cursor: None });
        }
        Err(error) => return Err(error),
    };
    let resource = |session: &SessionSummary| {
        let uri = Locator::new(session.session_id.clone()).to_string();
        let title = session.prompt().filter(|prompt| !prompt.is_empty()).unwrap_or("Live session");
        Resource::new(uri, session.session_id.as_str())
            .with_title(title)
            .with_mime_type(SESSIONS.media_type)
    };
    let shell = shell();
    let resources = std::iter::once(shell).chain(listed.sessions.iter().map(resource)).collect();
    Ok(ResourcePage { resources, next_cursor: None })
}
