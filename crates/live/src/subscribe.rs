//! Subscribing to a session: over the channel, or over an event stream.

use accord_contract::{Failure, Field, Value, rule};
use accord_live_core::frame::{ServerFrame, Subscribe};
use accord_live_core::session::{At, StreamRow, SubscribeFacts, SubscribeRefusal, Subscribed};
use accord_live_core::session::{check_since_sequence, is_truncated, subscribe};
use accord_live_core::tenancy::{self, Identity};
use accord_live_core::{SessionId, refuse};

use super::subscriber::{Frame, StreamReplay, Subscriber};
use super::unit::{Snapshot, UnitError};
use super::{Live, hub::Purpose, project_of};

/// How often a session may change between its write and its snapshot.
const ATTEMPTS: usize = 4;

#[derive(Debug)]
pub struct Subscription {
    /// The answer, which is sent first.
    pub ack: Frame,
    pub subscriber: Subscriber,
}

impl Live {
    /// Subscribes to a session, which begins if there is none. `identity` says who opened the
    /// socket, with the apps in which it may write. Fails in the order of the core's
    /// `subscribe`; then `project_archived`, and `SESSION_CREATE_FAILED` when the session cannot be
    /// stored.
    pub async fn subscribe(
        &self,
        identity: &Identity,
        request: &Subscribe,
        request_id: Option<&str>,
    ) -> Result<Subscription, SubscribeRefusal> {
        let options = self.options();
        let version = self.version_of(&request.session_id);
        let facts = SubscribeFacts {
            identity,
            version: &version,
            policy: options.version_policy,
            secret: self.secret(),
            default_app: options.default_app.as_ref(),
            now: self.now(),
            random: accord_system::random(),
        };
        let subscribed = subscribe(request, facts)?;
        let refused =
            |failure| SubscribeRefusal { failure: Box::new(failure), spends: true, closes: false };
        // First, so that no commit after the snapshot is missed.
        let attached = self.inner.hub.attach(&request.session_id, Purpose::Subscriber);
        let snapshot = self.provide(&subscribed).await.map_err(refused)?;
        let Snapshot { row, content, contract, .. } = snapshot;
        let head = &row.session.head;
        let is_truncated = is_truncated(head, &contract, request.from_seq);
        let ack = subscribed.ack(&row.session, &content, is_truncated, &version, self.now());
        let (mut notices, mut ledger) = (Vec::new(), None);
        let since = match &request.since_sequence {
            Field::Absent => None,
            Field::Null => Some(check_since_sequence(head, &Value::Null)),
            Field::Value(since) => Some(check_since_sequence(head, since)),
        };
        match since {
            Some(Ok(since)) => ledger = (since < head.ledger).then_some((since, head.ledger)),
            // It is answered, and nothing is replayed of the ledger.
            Some(Err(failure)) => {
                let error = ServerFrame::Error(Box::new(failure));
                notices.push(Frame::new(&error, &version, request_id, Some(head.ledger)));
            }
            None => {}
        }
        let ack = ServerFrame::Subscribed(Box::new(ack));
        let seen = rule!(
            row.version;
            FirstFrameLost => row.version + 1;
            LastFrameAgain => row.version.saturating_sub(1)
        );
        let subscriber = Subscriber {
            live: self.clone(),
            binding: subscribed.binding,
            attached,
            began: (head.created_at, head.horizon),
            ledger,
            notices,
            replay: StreamReplay::begin(head, request.from_seq),
            version: seen,
            stream: head.stream,
            follows: request.follow_ledger.unwrap_or(false).then_some(head.ledger),
        };
        Ok(Subscription { ack: Frame::new(&ack, &version, request_id, None), subscriber })
    }

    /// The session of a subscriber, which begins if there is none.
    async fn provide(&self, subscribed: &Subscribed) -> Result<Snapshot, Failure> {
        let failed = |error: UnitError| error.into_failure_as(refuse::session_create_failed);
        let project = project_of(&subscribed.binding.app_id)?;
        let id = &subscribed.binding.session_id;
        for _ in 0..ATTEMPTS {
            let snapshot = self.snapshot(id).await.map_err(failed)?;
            if let Some(snapshot) = snapshot {
                let ttl_seconds = self.options().ttl_seconds;
                let at = At { project: &project, now: self.now(), ttl_seconds };
                let stored = &snapshot.row.session;
                if stored.is_active(at.now) && subscribed.session(Some(stored), at)?.1.is_none() {
                    return match snapshot.closed {
                        Some(failure) => Err(*failure),
                        None => Ok(snapshot),
                    };
                }
            }
            let (subscribed, project) = (subscribed.clone(), project.clone());
            let written = self.write(move |job| {
                let id = &subscribed.binding.session_id;
                let stored = job.unit.live_session(id)?;
                // An id stays with its project, also when its session has expired: its numbers say
                // how much happened there. That of a project that was removed is free.
                if let Some(row) = stored.as_ref().filter(|row| row.project_id.is_some()) {
                    tenancy::check(&row.session.app_id, &subscribed.binding.app_id)?;
                }
                let at = job.at(&project)?;
                let session = stored.as_ref().map(|row| &row.session);
                if let (_, Some(delta)) = subscribed.session(session, at)? {
                    job.commit(&project, stored.as_ref(), &delta, Vec::new())?;
                }
                Ok(())
            });
            written.await.map_err(failed)?;
        }
        Err(refuse::session_create_failed("the session changes all the time; subscribe again"))
    }

    pub(crate) fn data_frames(&self, session: &SessionId, rows: Vec<StreamRow>) -> Vec<Frame> {
        let version = self.version_of(session);
        let data = |row| {
            let session_id = session.clone();
            Frame::new(&ServerFrame::Data { session_id, row }, &version, None, None)
        };
        rows.into_iter().map(data).collect()
    }

    pub fn version_of(&self, session: &SessionId) -> String {
        self.inner.hub.version_of(session)
    }
}
