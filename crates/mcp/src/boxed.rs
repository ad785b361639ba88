//! A transport of any kind.
//!
//! rmcp's code is compiled once for each type of transport, and it is much. So byte streams and the
//! sessions of HTTP share one type.

use std::io;

use futures_util::future::{BoxFuture, FutureExt as _};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

pub(crate) struct BoxedTransport(Box<dyn AnyTransport>);

impl BoxedTransport {
    pub(crate) fn new(transport: impl Transport<RoleServer> + 'static) -> Self {
        Self(Box::new(transport))
    }
}

impl Transport<RoleServer> for BoxedTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.0.send_any(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<ClientJsonRpcMessage>> + Send {
        self.0.receive_any()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), io::Error>> + Send {
        self.0.close_any()
    }
}

/// [`Transport`], without the types of its futures and its error.
trait AnyTransport: Send {
    fn send_any(&mut self, message: ServerJsonRpcMessage) -> BoxFuture<'static, io::Result<()>>;

    fn receive_any(&mut self) -> BoxFuture<'_, Option<ClientJsonRpcMessage>>;

    fn close_any(&mut self) -> BoxFuture<'_, io::Result<()>>;
}

impl<T: Transport<RoleServer>> AnyTransport for T {
    fn send_any(&mut self, message: ServerJsonRpcMessage) -> BoxFuture<'static, io::Result<()>> {
        let sending = self.send(message);
        async { sending.await.map_err(io::Error::other) }.boxed()
    }

    fn receive_any(&mut self) -> BoxFuture<'_, Option<ClientJsonRpcMessage>> {
        self.receive().boxed()
    }

    fn close_any(&mut self) -> BoxFuture<'_, io::Result<()>> {
        async { self.close().await.map_err(io::Error::other) }.boxed()
    }
}
