//! MCP over a pair of byte streams, such as standard input and output.

use std::sync::Arc;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Object;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::ask::Ask;
use super::call::CallContext;
use super::lines::Lines;
use super::server::{ApiSource, Server};
use super::toolset::Toolbox;
use crate::Api;

/// Serves the client that started this process over standard input and output, until it closes
/// them.
pub async fn serve_stdio(
    api: Arc<dyn Api>,
    toolbox: Toolbox,
    context: CallContext,
) -> Result<(), Failure> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    serve(api, toolbox, context, input, output).await
}

/// Serves one client until its input ends, then ends the session that it left open. `context` has
/// the defaults of calls.
pub async fn serve(
    api: Arc<dyn Api>,
    toolbox: Toolbox,
    context: CallContext,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Failure> {
    let api_source = ApiSource::Always(Arc::clone(&api));
    let server = Arc::new(Server::new(Arc::new(toolbox), api_source, context));
    let (ends, lines) = Lines::over(input, output).split();
    let running = match rmcp::serve_server(Arc::clone(&server), ends).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => {
            lines.finish().await;
            return Ok(());
        }
        Err(error) => {
            lines.finish().await;
            tracing::error!(%error, "the client did not start with initialize");
            let message = "the client did not start with initialize";
            return Err(Failure::new(Code::McpRequestInvalid, message));
        }
    };
    let ended = running.waiting().await;
    if let Ok(QuitReason::JoinError(error)) | Err(error) = ended {
        tracing::error!(%error, "a call was interrupted");
    }
    lines.finish().await;
    if let Some(session) = server.open_session() {
        let path = ["v1", "sessions", session.session_id.as_str()];
        let ask = Ask::patch(&path, Object::new());
        if ask.send(&*api).await.is_err() {
            tracing::warn!(session = %session.session_id, "the session could not be ended");
        }
    }
    Ok(())
}
