//! The messages of a client on a pair of byte streams, before the server sees them.
//!
//! A request that the server would answer wrongly is refused here: one whose id is that of a
//! request without an answer, and one that fits no method.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest};
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::{confirmation::Confirmations, in_flight::InFlight, malformed};

/// A transport that refuses some requests itself.
pub(crate) struct Checked<T> {
    inner: T,
    in_flight: InFlight,
    confirmations: Confirmations,
}

impl<T> Checked<T> {
    pub(crate) fn new(inner: T, confirmations: Confirmations) -> Self {
        Self { inner, in_flight: InFlight::default(), confirmations }
    }

    /// Why a message must not reach the server.
    fn refusal(&self, message: &ClientJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let error = match &request.request {
                    ClientRequest::CustomRequest(custom) => {
                        malformed::error(&custom.method, custom.params.as_ref())
                    }
                    _ => {
                        let failure = self.in_flight.insert(&request.id).err()?;
                        let message = format!("{}: {}", failure.code.as_str(), failure.message);
                        ErrorData::invalid_request(message, None)
                    }
                };
                Some(ServerJsonRpcMessage::error(error, Some(request.id.clone())))
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A request that was cancelled gets no answer.
                    self.in_flight.remove(id);
                    self.confirmations.remove(id);
                }
                None
            }
            _ => None,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Checked<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let message = match message {
            ServerJsonRpcMessage::Response(response) => {
                // Before it is sent: the client may use the id again as soon as it has the answer.
                self.in_flight.remove(&response.id);
                ServerJsonRpcMessage::Response(response)
            }
            ServerJsonRpcMessage::Error(mut error) => {
                if let Some(id) = &error.id {
                    self.in_flight.remove(id);
                }
                error.error = malformed::explained(error.error);
                ServerJsonRpcMessage::Error(error)
            }
            other => other,
        };
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            let Some(refusal) = self.refusal(&message) else {
                return Some(message);
            };
            // In a task, because this future may be dropped before the refusal is written.
            let sending = self.inner.send(refusal);
            accord_system::spawn(async { drop(sending.await) });
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
