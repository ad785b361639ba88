//! A refusal whose code its route does not declare is one `error` line in the log. Here such a line
//! fails the request, and with it the test that sent the request.

use std::fmt::Debug;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The module that writes the line.
const TARGET: &str = "accord_host::http::table";

/// Watches the log of this process from now on.
pub(crate) fn watch_codes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let log = Registry::default().with(Watch.with_filter(LevelFilter::ERROR));
        tracing::subscriber::set_global_default(log).expect("no other test sets it");
    });
}

struct Watch;

impl<S: Subscriber> Layer<S> for Watch {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == TARGET {
            let mut line = Line(String::new());
            event.record(&mut line);
            panic!("{}", line.0);
        }
    }
}

/// The members of a line.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}
