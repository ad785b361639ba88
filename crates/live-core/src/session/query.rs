//! The positions that the fallbacks over HTTP take, as texts of a query or a header.

use accord_contract::{Failure, Field, Object, rule};

use crate::{AppId, SessionId, frame::Subscribe, limits::EVENTS_PAGE, refuse};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EventsQuery {
    /// Events after this number.
    pub since: u64,
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct StreamQuery {
    /// Replays the ledger after this number.
    pub since: Option<u64>,
    /// Replays the stream after this number.
    pub from_seq: Option<u64>,
}

impl StreamQuery {
    /// The subscription of the holder of a token.
    pub fn subscribe(self, session_id: SessionId, app_id: AppId, token: String) -> Subscribe {
        Subscribe {
            session_id,
            app_id: Some(app_id),
            role: None,
            from_seq: self.from_seq,
            since_sequence: self.since.map_or(Field::Absent, |since| Field::Value(since.into())),
            ws_token: Some(token),
            supported_versions: None,
            client_id: None,
            follow_ledger: None,
            extra: Object::new(),
        }
    }
}

/// Reads the parameters of `/events`. Fails with `INVALID_SINCE_SEQUENCE` without a position, or
/// with one that is no whole number from zero; `INVALID_MESSAGE` for a limit that is not from 1 to
/// 500.
///
/// Clauses: GGUI-HTTP-EVENTS.
pub fn events_query(since: Option<&str>, limit: Option<&str>) -> Result<EventsQuery, Failure> {
    let (most, default) = EVENTS_PAGE;
    let since = since.and_then(whole).ok_or_else(invalid_since)?;
    let limit = match limit {
        None => Some(default),
        Some(limit) => whole(limit).and_then(|limit| usize::try_from(limit).ok()),
    };
    let most_events = rule!(most; LimitIgnored => usize::MAX);
    let message = format!("limit is a whole number from 1 to {most}");
    let invalid = || refuse::invalid_message(message).with("field", "limit");
    let limit = limit.filter(|limit| (1..=most_events).contains(limit)).ok_or_else(invalid)?;
    Ok(EventsQuery { since, limit })
}

/// Reads the parameters of `/stream`. The header `Last-Event-ID` counts before the query; one that
/// is no position is ignored. Fails with `INVALID_SINCE_SEQUENCE` or `INVALID_MESSAGE` when the
/// query has no whole number from zero.
///
/// Clauses: GGUI-HTTP-STREAM.
pub fn stream_query(
    last_event_id: Option<&str>,
    since: Option<&str>,
    from_seq: Option<&str>,
) -> Result<StreamQuery, Failure> {
    let last = last_event_id.and_then(whole);
    let last = rule!(last; QueryBeatsHeader => last.filter(|_| since.is_none()));
    let checked = |since| whole(since).ok_or_else(invalid_since);
    let since = last.map(Ok).or(since.map(checked)).transpose()?;
    let message = "fromSeq is a whole number from zero";
    let invalid = || refuse::invalid_message(message).with("field", "fromSeq");
    let from_seq = from_seq.map(|from| whole(from).ok_or_else(invalid)).transpose()?;
    Ok(StreamQuery { since, from_seq })
}

fn whole(text: &str) -> Option<u64> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_decimal)
}

fn invalid_since() -> Failure {
    refuse::invalid_since_sequence("sinceSequence is a whole number from zero")
}
