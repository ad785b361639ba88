//! The polled channels of a socket.
//!
//! Each channel has a task, so that a tool that takes long delays nothing else. A second
//! subscription to a channel replaces the first.

use std::collections::BTreeMap;

use accord_live::Live;
use accord_live_core::frame::{Binding, ChannelSubscribe, ServerFrame};
use accord_live_core::refuse;
use tokio::{sync::mpsc, task::JoinHandle};

/// Answers that wait for the socket. A channel that is ahead waits.
const WAITING: usize = 1;
const MOST_CHANNELS: usize = 64;

/// The polled channels of a socket. They end when it is dropped.
#[derive(Default)]
pub(super) struct Polls {
    channels: BTreeMap<String, Poll>,
    answers: Option<(mpsc::Sender<Answer>, mpsc::Receiver<Answer>)>,
    subscriptions: u64,
}

/// An answer, with the channel and the number of its subscription.
type Answer = (String, u64, ServerFrame);

struct Poll {
    number: u64,
    task: JoinHandle<()>,
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Polls {
    /// Begins to poll a channel, unless it is refused.
    pub(super) async fn subscribe(
        &mut self,
        live: &Live,
        binding: Binding,
        request: ChannelSubscribe,
    ) -> Result<(), ServerFrame> {
        let (session_id, channel) = (request.session_id.clone(), request.channel_name.clone());
        let mut polled = live.subscribe_channel(&binding, request).await?;
        if !self.channels.contains_key(&channel) && self.channels.len() >= MOST_CHANNELS {
            let message = format!("a socket polls at most {MOST_CHANNELS} channels");
            let failure = Box::new(refuse::subscribe_unauthorized(message));
            return Err(ServerFrame::ChannelError { session_id, channel, failure, stack: None });
        }
        self.subscriptions += 1;
        let number = self.subscriptions;
        let (sender, _) = self.answers.get_or_insert_with(|| mpsc::channel(WAITING));
        let (sender, name) = (sender.clone(), channel.clone());
        let task = accord_system::spawn(async move {
            loop {
                let frame = polled.next().await;
                if sender.send((name.clone(), number, frame)).await.is_err() {
                    return;
                }
            }
        });
        self.channels.insert(channel, Poll { number, task });
        Ok(())
    }

    pub(super) fn unsubscribe(&mut self, channel: &str) {
        self.channels.remove(channel);
    }

    /// The next answer of a channel that is still polled.
    pub(super) async fn next(&mut self) -> ServerFrame {
        let Some((_, answers)) = &mut self.answers else { return std::future::pending().await };
        loop {
            let Some((channel, number, frame)) = answers.recv().await else {
                return std::future::pending().await;
            };
            if self.channels.get(&channel).is_some_and(|poll| poll.number == number) {
                return frame;
            }
        }
    }
}
