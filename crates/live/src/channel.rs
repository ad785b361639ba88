//! Polled channels: the server calls a tool of its own for a subscriber, again and again.

use std::{collections::BTreeSet, pin::Pin, sync::Arc, time::Duration};

use accord_contract::{Failure, Object, Value};
use accord_live_core::frame::{Binding, ChannelSubscribe, ServerFrame};
use accord_live_core::session::{ChannelFacts, ChannelSubscription, subscribe_channel};
use accord_live_core::{AppId, SessionId, contract::CompiledContract};
use accord_store::LiveSessionRow;

use super::{Live, unit::UnitResult};

/// The tools of this server that channels may poll.
pub trait LocalTools: Send + Sync {
    fn names(&self) -> BTreeSet<String>;

    fn call(&self, app: &AppId, tool: &str, arguments: Object) -> ToolCall;
}

pub type ToolCall = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolError {
    /// What is wrong, for the subscriber.
    pub message: String,
    /// Where it failed. Secrets in it are redacted.
    pub stack: Option<String>,
}

/// A subscription to a polled channel. Polling ends when it is dropped.
pub struct Polled {
    live: Live,
    tools: Arc<dyn LocalTools>,
    subscription: ChannelSubscription,
    is_first: bool,
}

impl Live {
    /// Sets the tools that channels may poll. Only the first call counts.
    pub fn set_local_tools(&self, tools: Arc<dyn LocalTools>) {
        drop(self.inner.tools.set(tools));
    }

    /// Subscribes to a polled channel. The error is a `channel_error` frame with the refusal of the
    /// core's `subscribe_channel`, or of the store.
    pub async fn subscribe_channel(
        &self,
        binding: &Binding,
        request: ChannelSubscribe,
    ) -> Result<Polled, ServerFrame> {
        let (session_id, channel) = (request.session_id.clone(), request.channel_name.clone());
        let subscribed = async {
            let (row, contract) = self.session_and_contract(&binding.session_id).await?;
            let tools = self.inner.tools.get();
            let names = tools.map(|tools| tools.names());
            let session = row.map(|row| row.session);
            let facts = ChannelFacts {
                binding,
                session: session.as_ref().filter(|session| session.app_id == binding.app_id),
                contract: &contract,
                local_tools: names.as_ref(),
                now: self.now(),
            };
            let subscription = subscribe_channel(request, facts)?;
            let tools = tools.expect("a server without tools refuses every channel");
            let (live, tools) = (self.clone(), Arc::clone(tools));
            Ok(Polled { live, tools, subscription, is_first: true })
        };
        subscribed.await.map_err(|failure: Failure| {
            let failure = Box::new(failure);
            ServerFrame::ChannelError { session_id, channel, failure, stack: None }
        })
    }

    /// The row of a session and its contract; an empty contract without a session.
    async fn session_and_contract(
        &self,
        session: &SessionId,
    ) -> UnitResult<(Option<LiveSessionRow>, Arc<CompiledContract>)> {
        let (live, session) = (self.clone(), session.clone());
        self.read(move |unit| {
            let row = unit.live_session(&session)?;
            let contract = match &row {
                Some(row) => live.inner.contract_of(unit, row)?,
                None => live.inner.contracts.of_ui(&Object::new())?,
            };
            Ok((row, contract))
        })
        .await
    }
}

impl Polled {
    /// Calls the tool: at once for the first time, later after the interval. A call that is
    /// cancelled is not repeated before the next interval.
    pub async fn next(&mut self) -> ServerFrame {
        if !std::mem::take(&mut self.is_first) {
            tokio::time::sleep(Duration::from_millis(self.subscription.interval_ms)).await;
        }
        let ChannelSubscription { app_id, tool, args, .. } = &self.subscription;
        let answer = match self.tools.call(app_id, tool, args.clone()).await {
            Ok(answer) => answer,
            Err(ToolError { message, stack }) => {
                return self.subscription.failed(&message, stack.as_deref(), &[]);
            }
        };
        match self.live.session_and_contract(&self.subscription.session_id).await {
            Ok((_, contract)) => {
                self.subscription.answered(answer, false, &contract, self.live.now())
            }
            Err(error) => self.subscription.failed(&Failure::from(error).message, None, &[]),
        }
    }
}

impl std::fmt::Debug for Polled {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Polled");
        shown.field("subscription", &self.subscription).finish_non_exhaustive()
    }
}
