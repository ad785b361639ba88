//! Metrics, in the text format of Prometheus.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::Code;
use hyper::{Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::permits::Permits;
use crate::streams::Streams;

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
    seconds: Family<Label, Histogram>,
    refusals: Family<Label, Counter>,
    deposits: Counter,
    task_events: Counter,
    task_agents: Family<Label, Counter>,
    task_notices: Family<Label, Counter>,
    messages: Family<Label, Counter>,
    receivers_down: Gauge,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Answered {
    route: &'static str,
    method: &'static str,
    status: u16,
}

/// The name and the value of the only label of a metric.
type Label = [(&'static str, &'static str); 1];

impl Metrics {
    /// New metrics. `values` are read when the metrics are requested.
    pub fn new(streams: Streams, connections: Permits, values: Vec<Box<dyn Collector>>) -> Self {
        let mut registry = Registry::with_prefix("accord");
        let requests = Family::default();
        let seconds: Family<Label, _> = Family::new_with_constructor(|| Histogram::new(SECONDS));
        let refusals = Family::default();
        let deposits = Counter::default();
        let task_events = Counter::default();
        let (task_agents, task_notices) = (Family::default(), Family::default());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version that runs", version);
        registry.register("http_requests", "Answered requests", requests.clone());
        let help = "Time to the first byte of an answer";
        registry.register("http_request_seconds", help, seconds.clone());
        registry.register("http_refusals", "Refused requests by failure code", refusals.clone());
        registry.register("deposits", "Stored packages", deposits.clone());
        let help = "Events of task trees that were taken over";
        registry.register("task_events", help, task_events.clone());
        registry.register("task_agents", "Agents that ended, by result", task_agents.clone());
        let help = "Notifications about tasks, by result";
        registry.register("task_notifications", help, task_notices.clone());
        let (messages, receivers_down) = (Family::default(), Gauge::default());
        let help = "Messages about the inbox to receivers, by result";
        registry.register("notify_messages", help, messages.clone());
        let help = "Receivers of messages about the inbox that do not answer";
        registry.register("notify_receivers_down", help, receivers_down.clone());
        registry.register_collector(Box::new(CurrentValues { streams, connections }));
        for values in values {
            registry.register_collector(values);
        }
        Self(Arc::new(Counted {
            registry,
            requests,
            seconds,
            refusals,
            deposits,
            task_events,
            task_agents,
            task_notices,
            messages,
            receivers_down,
        }))
    }

    /// All metrics, as Prometheus reads them.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0.registry).expect("writing to a String never fails");
        text
    }

    pub fn answered(&self, route: &'static str, method: &Method, code: StatusCode, took: Duration) {
        let labels = Answered { route, method: method_name(method), status: code.as_u16() };
        self.0.requests.get_or_create(&labels).inc();
        self.0.seconds.get_or_create(&[("route", route)]).observe(took.as_secs_f64());
        if route == DEPOSIT && code == StatusCode::CREATED {
            self.0.deposits.inc();
        }
    }

    pub fn events_taken_over(&self, count: u64) {
        self.0.task_events.inc_by(count);
    }

    /// An agent that the scheduler started has ended.
    pub fn agent_ended(&self, result: &'static str) {
        self.0.task_agents.get_or_create(&[("result", result)]).inc();
    }

    /// Notifications were sent, or given up.
    pub fn notified(&self, delivered: u64, failed: u64) {
        for (result, count) in [("delivered", delivered), ("failed", failed)] {
            self.0.task_notices.get_or_create(&[("result", result)]).inc_by(count);
        }
    }

    /// A message about the inbox arrived, or did not.
    pub fn told(&self, is_delivered: bool) {
        let result = if is_delivered { "delivered" } else { "failed" };
        self.0.messages.get_or_create(&[("result", result)]).inc();
    }

    /// How many receivers of messages about the inbox do not answer.
    pub fn receivers_down(&self, count: usize) {
        self.0.receivers_down.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub fn refused(&self, code: Code) {
        self.0.refusals.get_or_create(&[("code", code.as_str())]).inc();
    }
}

/// The label of a method. Clients can invent methods, so unknown ones share a label.
fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

#[derive(Debug)]
struct CurrentValues {
    streams: Streams,
    connections: Permits,
}

impl Collector for CurrentValues {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (streams, connections) = (self.streams.open(), self.connections.taken());
        gauge(&mut encoder, "event_streams", "Open event streams", streams)?;
        gauge(&mut encoder, "connections", "Open connections from the network", connections)
    }
}

/// Writes a value that only grows. Fails when the encoder fails.
pub fn counter(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: u64,
) -> Result<(), fmt::Error> {
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
}

/// Writes a value that goes up and down. Fails when the encoder fails.
pub fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: impl TryInto<i64>,
) -> Result<(), fmt::Error> {
    let gauge = ConstGauge::new(value.try_into().unwrap_or(i64::MAX));
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}
