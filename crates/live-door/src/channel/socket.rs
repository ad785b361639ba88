//! One socket of the channel, from its first frame to its end.
//!
//! Invariants:
//! - frames are handled one after the other, in the order in which they arrive;
//! - the answer to `subscribe` comes before everything that the subscription brings;
//! - what was committed before a frame arrives is delivered before the frame is answered, so that a
//!   ping is a barrier;
//! - every frame that is not handled is answered, or closes the socket.

use std::{pin::Pin, sync::Arc, time::Duration};

use accord_base::{Caller, Door};
use accord_contract::{Code, Failure};
use accord_live::{Delivery, Frame, Subscriber, Subscription};
use accord_live_core::frame::{self, Action, Binding, ClientBody, Close, Gate};
use accord_live_core::frame::{HostContextObserved, ServerFrame};
use accord_live_core::{limits::Limits, tenancy::Identity, token::TokenKind};
use accord_live_core::{session::Sender, version::PROTOCOL_VERSION};
use bytes::Bytes;
use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Sleep, sleep};

use super::access::{Opener, token_holder};
use super::polls::Polls;
use super::web_socket::{Incoming, Lost as Disconnected, WebSocket};
use crate::{AccessWatch, LiveDoor, Lost, Rejection, TokenHolder};
use accord_serving::Permit;

/// The most batches that are delivered before a frame is handled, more than a subscriber may be
/// behind.
const MOST_BATCHES: usize = 64;

pub(super) struct Socket<S> {
    host: LiveDoor,
    web: WebSocket<S>,
    identity: Identity,
    /// Whose rights it has, as soon as that is known.
    holder: Option<TokenHolder>,
    /// The process at the other end, on a host without keys.
    process: Option<Caller>,
    /// Says when it loses them.
    standing: Option<AccessWatch>,
    limits: Limits,
    /// Which frames it may send.
    state: frame::Socket,
    /// The version that its session advertises.
    version: String,
    subscriber: Option<Subscriber>,
    polls: Polls,
    waiting: Option<Waiting>,
}

/// What a socket has until it is subscribed.
struct Waiting {
    _permit: Option<Permit>,
    timer: Option<Pin<Box<Sleep>>>,
}

enum End {
    Close(Close),
    /// The client closed it, or the connection is lost.
    Lost,
}

impl From<Disconnected> for End {
    fn from(_: Disconnected) -> Self {
        Self::Lost
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    pub(super) fn new(
        host: LiveDoor,
        web: WebSocket<S>,
        opener: Opener,
        permit: Option<Permit>,
    ) -> Self {
        let limits = host.live().options().limits;
        let idle = limits.pre_subscribe_idle_ms;
        let timer = (idle > 0).then(|| Box::pin(sleep(Duration::from_millis(idle))));
        let Opener { identity, holder, process } = opener;
        let standing = holder.as_ref().map(|holder| host.watch_access(holder, None));
        Self {
            host,
            web,
            identity,
            holder,
            process,
            standing,
            limits,
            state: frame::Socket::default(),
            version: PROTOCOL_VERSION.to_owned(),
            subscriber: None,
            polls: Polls::default(),
            waiting: Some(Waiting { _permit: permit, timer }),
        }
    }

    pub(super) async fn run(mut self) {
        let end = self.serve().await;
        // It no longer counts as a subscriber while the other side closes.
        drop((self.subscriber, self.polls, self.waiting));
        match end {
            End::Close(close) => self.web.close(close).await,
            End::Lost => self.web.end().await,
        }
    }

    async fn serve(&mut self) -> End {
        let mut closing = std::pin::pin!(self.host.streams().closed());
        loop {
            // The other futures are dropped before a branch goes on.
            let handled = tokio::select! {
                () = &mut closing => Err(End::Close(Close::SERVICE_RESTART)),
                lost = lost(&mut self.standing) => self.shut_out(lost).await,
                () = idle(&mut self.waiting) => {
                    self.host.sockets().rejected(Rejection::Idle);
                    Err(End::Close(Close::PRE_SUBSCRIBE_IDLE))
                }
                incoming = self.web.next(), if !is_replaying(&self.subscriber) => {
                    self.incoming(incoming).await
                }
                delivery = delivery(&mut self.subscriber) => self.deliver(delivery).await,
                frame = self.polls.next() => self.send(&frame, None).await.map_err(End::from),
            };
            if let Err(end) = handled {
                return end;
            }
        }
    }

    async fn incoming(&mut self, incoming: Incoming) -> Result<(), End> {
        match incoming {
            Incoming::Message(bytes) => {
                self.catch_up().await?;
                self.message(bytes).await
            }
            Incoming::TooLarge(size) => {
                let most = self.limits.frame_bytes;
                let is_large = most > 0 && size > most;
                let is_subscribed = self.waiting.is_none();
                Err(self.too_large(match is_large || is_subscribed {
                    true => Close::FRAME_TOO_LARGE,
                    false => Close::PRE_SUBSCRIBE_PAYLOAD,
                }))
            }
            Incoming::Malformed(close) => Err(End::Close(close)),
            Incoming::End => Err(End::Lost),
        }
    }

    /// Delivers what is there already.
    async fn catch_up(&mut self) -> Result<(), End> {
        for _ in 0..MOST_BATCHES {
            let Some(delivery) = delivery(&mut self.subscriber).now_or_never() else { break };
            self.deliver(delivery).await?;
        }
        Ok(())
    }

    fn too_large(&self, close: Close) -> End {
        if self.waiting.is_some() {
            self.host.sockets().rejected(Rejection::Payload);
        }
        End::Close(close)
    }

    async fn message(&mut self, bytes: Bytes) -> Result<(), End> {
        let frame = match frame::parse(&bytes, self.waiting.is_none(), &self.limits) {
            Ok(frame) => frame,
            Err(frame::Rejected::Close(close)) => return Err(self.too_large(close)),
            Err(frame::Rejected::Answer { request_id, failure }) => {
                return Ok(self.send(&ServerFrame::Error(failure), request_id.as_deref()).await?);
            }
        };
        // They may take as long as a commit.
        drop(bytes);
        match self.state.gate(&frame) {
            Gate::Ignore => return Ok(()),
            Gate::Refuse(failure) => {
                let request_id = frame.request_id.as_deref();
                return Ok(self.send(&ServerFrame::Error(failure), request_id).await?);
            }
            Gate::Pass => {}
        }
        let request_id = frame.request_id.as_deref();
        let answer = match frame.body {
            ClientBody::Ping => Some(ServerFrame::Pong),
            ClientBody::Subscribe(request) => return self.subscribe(&request, request_id).await,
            ClientBody::Action(action) => Some(self.act(action).await?),
            ClientBody::HostContext(observed) => self.observe(observed).await?,
            ClientBody::ChannelSubscribe(request) => {
                let binding = self.binding();
                self.polls.subscribe(self.host.live(), binding, request).await.err()
            }
            ClientBody::ChannelUnsubscribe(request) => {
                self.polls.unsubscribe(&request.channel_name);
                None
            }
        };
        if let Some(answer) = answer {
            self.send(&answer, request_id).await?;
        }
        Ok(())
    }

    async fn subscribe(&mut self, request: &frame::Subscribe, id: Option<&str>) -> Result<(), End> {
        if let Some(token) = &request.ws_token {
            self.take_holder(token).await?;
        }
        self.check_key().await?;
        let live = self.host.live();
        match live.subscribe(&self.identity, request, id).await {
            Ok(Subscription { ack, subscriber }) => {
                self.version = live.version_of(&request.session_id);
                let app = &subscriber.binding().app_id;
                let follow = |holder: &TokenHolder| self.host.watch_access(holder, Some(app));
                self.standing = self.holder.as_ref().map(follow);
                self.state.is_spent = true;
                self.state.binding = Some(subscriber.binding().clone());
                self.subscriber = Some(subscriber);
                self.waiting = None;
                self.web.set_limit(self.limits.frame_bytes);
                Ok(self.web.send(std::iter::once(ack.text)).await?)
            }
            Err(refusal) => {
                self.state.is_spent |= refusal.spends;
                self.send(&ServerFrame::Error(refusal.failure), id).await?;
                match refusal.closes {
                    true => Err(End::Close(Close::UPGRADE_REQUIRED)),
                    false => Ok(()),
                }
            }
        }
    }

    /// Takes over the holder of the token of a subscription. A key that opened the socket counts
    /// before it, unless a page of this server asked for the token.
    async fn take_holder(&mut self, token: &str) -> Result<(), End> {
        match token_holder(&self.host, token, TokenKind::Ws).await {
            Ok(Some(mut holder)) => {
                if let Some(process) = &self.process {
                    holder.caller = holder.caller.with_process_of(process);
                }
                if self.holder.is_none() || holder.login.is_some() {
                    self.holder = Some(holder);
                }
                Ok(())
            }
            Err(failure) if failure.code == Code::GguiUnauthenticated => {
                self.shut_out(Lost::key()).await
            }
            // A store that cannot be read refuses the operation itself.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Who sends the actions, as far as the credential says, and through which door. An agent can
    /// answer its own question with its own key: then the ledger must name the agent.
    fn sender(&self) -> Result<Sender, Failure> {
        let Some(TokenHolder { caller, login, actor }) = &self.holder else {
            return Ok(Sender { door: Some(Door::Channel), ..Sender::default() });
        };
        // A page of this server opened the socket, for the person who signed in there.
        let door = if login.is_some() { Door::Page } else { Door::Channel };
        Sender::of(caller, actor.as_ref(), door)
    }

    async fn act(&mut self, action: Action) -> Result<ServerFrame, End> {
        self.check_key().await?;
        let sender = match self.sender() {
            Ok(sender) => sender,
            Err(refused) => return Ok(ServerFrame::Error(Box::new(refused))),
        };
        Ok(match self.host.live().act(&self.binding(), action, sender).await {
            Ok(ack) => ServerFrame::Acted(ack),
            Err(failure) => ServerFrame::Error(Box::new(failure)),
        })
    }

    async fn observe(&mut self, seen: HostContextObserved) -> Result<Option<ServerFrame>, End> {
        self.check_key().await?;
        let observed = self.host.live().observe_host(&self.binding(), seen).await;
        Ok(observed.err().map(|failure| ServerFrame::Error(Box::new(failure))))
    }

    /// What it is subscribed to. The gate passes these frames only then.
    fn binding(&self) -> Binding {
        self.state.binding.clone().expect("the gate has checked that it is subscribed")
    }

    /// Ends the socket of a key that is no longer valid.
    async fn check_key(&mut self) -> Result<(), End> {
        let Some(holder) = &self.holder else { return Ok(()) };
        match self.host.keys().accepts(&holder.caller).await {
            Ok(false) => self.shut_out(Lost::key()).await,
            // A store that cannot be read refuses the operation itself.
            Ok(true) | Err(_) => Ok(()),
        }
    }

    async fn shut_out(&mut self, Lost { failure, close }: Lost) -> Result<(), End> {
        self.send(&ServerFrame::Error(Box::new(failure)), None).await?;
        Err(End::Close(close))
    }

    async fn deliver(&mut self, delivery: Result<Delivery, Failure>) -> Result<(), End> {
        match delivery {
            Ok(Delivery::Frames(frames)) => {
                Ok(self.web.send(frames.into_iter().map(|frame| frame.text)).await?)
            }
            Ok(Delivery::End(end)) => {
                self.web.send(end.frame.map(|Frame { text, .. }| text).into_iter()).await?;
                Err(End::Close(end.close))
            }
            Err(failure) => {
                tracing::warn!(code = %failure.code, "a live socket ends: {}", failure.message);
                self.send(&ServerFrame::Error(Box::new(failure)), None).await?;
                Err(End::Close(Close::INTERNAL))
            }
        }
    }

    async fn send(&mut self, frame: &ServerFrame, id: Option<&str>) -> Result<(), Disconnected> {
        let text: Arc<str> = frame.encode(&self.version, id).to_string().into();
        self.web.send(std::iter::once(text)).await
    }
}

/// Returns when a socket has lost its rights.
async fn lost(standing: &mut Option<AccessWatch>) -> Lost {
    match standing {
        Some(standing) => standing.lost().await,
        None => std::future::pending().await,
    }
}

fn is_replaying(subscriber: &Option<Subscriber>) -> bool {
    subscriber.as_ref().is_some_and(Subscriber::is_replaying)
}

/// Returns when a socket has waited too long for its subscription.
async fn idle(waiting: &mut Option<Waiting>) {
    match waiting.as_mut().and_then(|waiting| waiting.timer.as_mut()) {
        Some(timer) => timer.await,
        None => std::future::pending().await,
    }
}

async fn delivery(subscriber: &mut Option<Subscriber>) -> Result<Delivery, Failure> {
    match subscriber {
        Some(subscriber) => subscriber.next().await,
        None => std::future::pending().await,
    }
}
