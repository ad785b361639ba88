//! Polled channels. This server calls no tools, so every subscription to one is refused.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;
use accord_live_core::frame::{Binding, ChannelSubscribe, ServerFrame};
use accord_live_core::session::{ChannelFacts, subscribe_channel};

use super::Live;

impl Live {
    /// Answers a subscription to a polled channel: `SUBSCRIBE_UNAUTHORIZED` for another session,
    /// else `CHANNEL_NOT_LOCAL`.
    ///
    /// # Errors
    /// Never in practice: an empty contract is valid.
    pub fn subscribe_channel(
        &self,
        binding: &Binding,
        request: ChannelSubscribe,
    ) -> Result<ServerFrame, Failure> {
        let contract = self.inner.contracts.of_ui(&Object::new())?;
        let (session_id, channel) = (request.session_id.clone(), request.channel_name.clone());
        let facts = ChannelFacts {
            binding,
            session: None,
            contract: &contract,
            local_tools: None,
            now: self.now(),
        };
        match subscribe_channel(request, facts) {
            Err(failure) => {
                let failure = Box::new(failure);
                Ok(ServerFrame::ChannelError { session_id, channel, failure, stack: None })
            }
            Ok(_) => unreachable!("a server without tools refuses"),
        }
    }
}
