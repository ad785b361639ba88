//! Metrics of live sessions.

use std::fmt;

use accord_live::Counts;
use accord_serving::metrics::{counter, gauge};
use prometheus_client::encoding::DescriptorEncoder;

/// What is known about live sessions; `None` when the host is closing.
pub type LiveNumbers = Box<dyn Fn() -> Option<LiveValues> + Send + Sync>;

pub struct LiveValues {
    /// Open sockets and event streams of sessions.
    pub sockets: usize,
    /// Those that are subscribed.
    pub subscribers: usize,
    /// Sessions that have subscribers, or agents that wait.
    pub sessions: usize,
    pub counts: Counts,
}

pub fn encode(encoder: &mut DescriptorEncoder<'_>, values: &LiveValues) -> Result<(), fmt::Error> {
    let LiveValues { sockets, subscribers, sessions, counts } = values;
    for (name, help, value) in [
        ("live_sockets", "Open sockets and event streams of live sessions", sockets),
        ("live_subscribers", "Those of them that are subscribed", subscribers),
        ("live_sessions", "Live sessions with subscribers or agents that wait", sessions),
    ] {
        gauge(encoder, name, help, *value)?;
    }
    for (name, help, value) in [
        ("live_actions", "Actions that were recorded since the start", counts.actions),
        ("live_frames", "Frames that subscribers got since the start", counts.frames),
        ("live_slow_subscribers", "Subscribers that ended because they were slow", counts.slow),
    ] {
        counter(encoder, name, help, value)?;
    }
    Ok(())
}
