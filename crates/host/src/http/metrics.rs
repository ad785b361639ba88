//! Metrics, in the text format of Prometheus.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::codes::Code;
use accord_live::Counts;
use accord_memory::{Embedder, EmbeddingState};
use accord_store::Statistics;
use hyper::{Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::permits::Permits;
use super::streams::Streams;

/// The name of the route that deposits packages.
const DEPOSIT: &str = "deposit";

/// From half a millisecond to four seconds.
const SECONDS: [f64; 10] = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 4.0];

/// The metrics of a host. A clone is the same metrics.
#[derive(Clone)]
pub struct Metrics(Arc<Counted>);

struct Counted {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Route, Histogram>,
    refusals: Family<Refused, Counter>,
    deposits: Counter,
    task_events: Counter,
    task_agents: Family<Ended, Counter>,
    task_notices: Family<Ended, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Answered {
    route: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Route {
    route: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Ended {
    result: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Refused {
    code: &'static str,
}

impl Metrics {
    /// New metrics. `statistics` returns those of the store while it is open.
    pub(crate) fn new(
        streams: Streams,
        connections: Permits,
        embedder: Option<Arc<Embedder>>,
        live: LiveNumbers,
        statistics: impl Fn() -> Option<Statistics> + Send + Sync + 'static,
    ) -> Self {
        let mut registry = Registry::with_prefix("accord");
        let requests = Family::default();
        let seconds: Family<Route, Histogram> =
            Family::new_with_constructor(|| Histogram::new(SECONDS));
        let refusals = Family::default();
        let deposits = Counter::default();
        let task_events = Counter::default();
        let (task_agents, task_notices) = (Family::default(), Family::default());
        registry.register(
            "build",
            "The version that runs",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register("http_requests", "Answered requests", requests.clone());
        registry.register(
            "http_request_seconds",
            "Time to the first byte of an answer",
            seconds.clone(),
        );
        registry.register("http_refusals", "Refused requests by failure code", refusals.clone());
        registry.register("deposits", "Stored packages", deposits.clone());
        registry.register(
            "task_events",
            "Events of task trees that were taken over",
            task_events.clone(),
        );
        registry.register("task_agents", "Agents that ended, by result", task_agents.clone());
        registry.register(
            "task_notifications",
            "Notifications about tasks, by result",
            task_notices.clone(),
        );
        registry.register_collector(Box::new(CurrentValues {
            streams,
            connections,
            embedder,
            live,
            statistics: Box::new(statistics),
        }));
        Self(Arc::new(Counted {
            registry,
            requests,
            seconds,
            refusals,
            deposits,
            task_events,
            task_agents,
            task_notices,
        }))
    }

    /// All metrics, as Prometheus reads them.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0.registry).expect("writing to a String never fails");
        text
    }

    /// A request was answered.
    pub(super) fn answered(
        &self,
        route: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let method = method_name(method);
        let labels = Answered { route, method, status: status.as_u16() };
        self.0.requests.get_or_create(&labels).inc();
        let seconds = self.0.seconds.get_or_create(&Route { route });
        seconds.observe(took.as_secs_f64());
        if route == DEPOSIT && status == StatusCode::CREATED {
            self.0.deposits.inc();
        }
    }

    /// Events of a task tree were taken over.
    pub(crate) fn events_taken_over(&self, count: u64) {
        self.0.task_events.inc_by(count);
    }

    /// An agent that the scheduler started has ended.
    pub(crate) fn agent_ended(&self, result: &'static str) {
        self.0.task_agents.get_or_create(&Ended { result }).inc();
    }

    /// Notifications were sent, or given up.
    pub(crate) fn notified(&self, delivered: u64, failed: u64) {
        for (result, count) in [("delivered", delivered), ("failed", failed)] {
            self.0.task_notices.get_or_create(&Ended { result }).inc_by(count);
        }
    }

    /// A request was refused.
    pub(crate) fn refused(&self, code: Code) {
        let code = code.as_str();
        self.0.refusals.get_or_create(&Refused { code }).inc();
    }
}

/// The label of a method. Clients can invent methods, so unknown ones share a label.
fn method_name(method: &Method) -> &'static str {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let place = known.iter().position(|known| known == method);
    place.map_or("other", |place| names[place])
}

/// Values that are read when the metrics are requested.
struct CurrentValues {
    streams: Streams,
    connections: Permits,
    embedder: Option<Arc<Embedder>>,
    live: LiveNumbers,
    statistics: Box<dyn Fn() -> Option<Statistics> + Send + Sync>,
}

/// What is known about live sessions; `None` when the host is closing.
pub(crate) type LiveNumbers = Box<dyn Fn() -> Option<LiveValues> + Send + Sync>;

/// What is known about live sessions.
pub(crate) struct LiveValues {
    /// Open sockets and event streams of sessions.
    pub(crate) sockets: usize,
    /// Those that are subscribed.
    pub(crate) subscribers: usize,
    /// Sessions that have subscribers, or agents that wait.
    pub(crate) sessions: usize,
    /// What happened since the start.
    pub(crate) counts: Counts,
}

impl Collector for CurrentValues {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauges = [
            ("event_streams", "Open event streams", self.streams.open()),
            ("connections", "Open connections from the network", self.connections.taken()),
        ];
        for (name, help, value) in gauges {
            gauge(&mut encoder, name, help, i64::try_from(value).unwrap_or(i64::MAX))?;
        }
        if let Some(embedder) = &self.embedder {
            embeddings(&mut encoder, embedder)?;
        }
        if let Some(values) = (self.live)() {
            live(&mut encoder, &values)?;
        }
        let Some(store) = (self.statistics)() else {
            return Ok(());
        };
        let waiting = i64::try_from(store.waiting).unwrap_or(i64::MAX);
        gauge(&mut encoder, "store_jobs_waiting", "Jobs that wait for the store", waiting)?;
        let counters = [
            ("store_commits", "Commits since the start", store.commits),
            ("store_jobs", "Jobs of the store since the start", store.jobs),
        ];
        for (name, help, value) in counters {
            counter(&mut encoder, name, help, value)?;
        }
        Ok(())
    }
}

/// The metrics of live sessions.
fn live(encoder: &mut DescriptorEncoder<'_>, values: &LiveValues) -> Result<(), fmt::Error> {
    let LiveValues { sockets, subscribers, sessions, counts } = values;
    for (name, help, value) in [
        ("live_sockets", "Open sockets and event streams of live sessions", sockets),
        ("live_subscribers", "Those of them that are subscribed", subscribers),
        ("live_sessions", "Live sessions with subscribers or agents that wait", sessions),
    ] {
        gauge(encoder, name, help, i64::try_from(*value).unwrap_or(i64::MAX))?;
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

/// The metrics of search by meaning.
fn embeddings(encoder: &mut DescriptorEncoder<'_>, embedder: &Embedder) -> Result<(), fmt::Error> {
    let status = embedder.status();
    let is_up = i64::from(status.state == EmbeddingState::Up);
    gauge(encoder, "embeddings_up", "Whether the embeddings server works", is_up)?;
    let waiting = i64::try_from(status.waiting).unwrap_or(i64::MAX);
    gauge(encoder, "embeddings_waiting", "Packages that wait for their vectors", waiting)?;
    let made = "Packages that got vectors since the start";
    counter(encoder, "embeddings_made", made, status.made)?;
    let failures = "Failed requests to the embeddings server since the start";
    counter(encoder, "embeddings_failures", failures, status.failures)
}

fn counter(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: u64,
) -> Result<(), fmt::Error> {
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: i64,
) -> Result<(), fmt::Error> {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

impl fmt::Debug for CurrentValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentValues").finish_non_exhaustive()
    }
}
