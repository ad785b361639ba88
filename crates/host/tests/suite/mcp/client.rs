//! A small MCP client over a stream.

use std::sync::Arc;

use accord_contract::Failure;
use accord_host::Api;
use accord_host::mcp::{self, CallContext, TOOLSETS, Toolbox};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A client that has begun.
pub(crate) struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<Result<(), Failure>>,
    next: u64,
    /// What the server said about itself.
    pub(crate) welcome: Value,
}

impl Client {
    /// Begins with a server that reaches `api`.
    pub(crate) async fn begin(api: Arc<dyn Api>) -> Self {
        Self::with(api, CallContext::default()).await
    }

    /// The same, with a standing.
    pub(crate) async fn with(api: Arc<dyn Api>, standing: CallContext) -> Self {
        Self::of(TOOLSETS[0].name, api, standing).await
    }

    /// The same, with some tools or a set of tools.
    pub(crate) async fn of(tools: &str, api: Arc<dyn Api>, standing: CallContext) -> Self {
        Self::beginning(tools, api, standing, initialize()).await
    }

    /// The same, as a host that shows pages.
    pub(crate) async fn with_pages(tools: &str, api: Arc<dyn Api>, standing: CallContext) -> Self {
        let mut begin = initialize();
        let pages = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
        begin["capabilities"] = json!({"extensions": {"io.modelcontextprotocol/ui": pages}});
        Self::beginning(tools, api, standing, begin).await
    }

    async fn beginning(
        tools: &str,
        api: Arc<dyn Api>,
        standing: CallContext,
        begin: Value,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let toolbox = Toolbox::join(TOOLSETS).unwrap().only(tools.split(',')).unwrap();
        let server = tokio::spawn(mcp::serve(api, toolbox, standing, input, output));
        let (output, input) = tokio::io::split(ours);
        let mut client =
            Self { input, output: BufReader::new(output), server, next: 0, welcome: Value::Null };
        client.welcome = client.ask("initialize", begin).await["result"].clone();
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    /// Sends a request and gives its id.
    pub(crate) async fn begin_ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a request and gives the whole answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin_ask(method, params).await;
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        let answer: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and gives its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.ask("tools/call", params).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that refuses, and gives what it says.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"]["error"].clone()
    }

    /// Sends a request that is refused, and gives the error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["error"].is_object(), "{answer}");
        answer["error"].clone()
    }

    /// Goes away, and gives how the server ended.
    pub(crate) async fn leave(mut self) -> Result<(), Failure> {
        self.input.shutdown().await.unwrap();
        drop(self.input);
        drop(self.output);
        self.server.await.unwrap()
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}

/// The parameters with which a client begins.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test-client", "version": "1"}
    })
}

/// The text of a result, which has one.
#[track_caller]
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}
