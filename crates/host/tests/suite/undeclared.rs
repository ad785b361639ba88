//! A refusal whose code its route does not declare is one `error` line in the log. Here such a line
//! fails the request, and with it the test that sent the request.

use std::fmt::Debug;
use std::sync::Once;

use accord_api::{Need, NoBody, operation};
use accord_contract::{Code, Failure};
use accord_serving::table::{Route, router};
use accord_serving::{Refusal, Reply};
use axum::body::Body;
use axum::extract::Request;
use tower::ServiceExt as _;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The module that writes the line.
const TARGET: &str = "accord_serving::table";

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

operation! {
    /// Refuses with a code that it does not declare.
    struct Wrong("wrong", Get "/wrong") of Alx {
        needs Need::Read;
        answers 204 "Nothing.", NoBody;
        refuses [&[Code::AofStaleRun]];
    }
}

#[tokio::test]
#[should_panic(expected = "a code that the route does not declare")]
async fn a_code_that_a_route_does_not_declare_fails_the_test() {
    watch_codes();
    let refuse = async || -> Reply { Err(Refusal(Failure::new(Code::AofTaskFinished, "no"))) };
    let routes = router(vec![Route::serving::<Wrong, _>(refuse)]);
    let request = Request::get("/wrong").body(Body::empty()).expect("a request");
    let answer = routes.oneshot(request).await;
    panic!("the line was not noticed: {answer:?}");
}
