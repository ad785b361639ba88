//! MCP over a pair of byte streams, such as standard input and output.

use std::sync::Arc;

use accord_contract::{Code, Failure};
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::{ApiSource, Server};
use super::{CallContext, Toolbox, boxed::BoxedTransport, connection::Connection};
use super::{lines::copy_lines, transport::Checked};
use accord_serving::Api;

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
    let connection = Connection::lasting();
    let server = Server {
        toolbox: Arc::new(toolbox),
        api_source: ApiSource::Always(api),
        defaults: CallContext { confirms: true, ..context },
        connection: Arc::clone(&connection),
    };
    let confirmations = connection.confirmations.clone();
    let ((input, output), lines) = copy_lines(input, output, confirmations.clone());
    let transport = Checked::new(AsyncRwTransport::new(input, output), confirmations);
    let transport = BoxedTransport::new(transport);
    let running = match rmcp::serve_server(server, transport).await {
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
    connection.end().await;
    Ok(())
}
