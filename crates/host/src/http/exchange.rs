//! The outermost layer: one request in, one answer out, whatever happens in between.
//!
//! Invariants:
//! - every answer has a correlation id, and so has every line of the log about it;
//! - every answer of a status from 400 on is the one error body, with a code, unless it is
//!   [`Foreign`]: a message of MCP;
//! - a handler that panics is answered for, and takes nobody down with it;
//! - nothing but a failure's own words reaches the caller.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use accord_contract::codes::{Code, Failure, Protocol, RetryClass};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hyper::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, StatusCode, Uri};
use tracing::Instrument as _;

use super::body::{Patient, check_encoding};
use super::entrance::{self, Entrance};
use super::reply::Foreign;
use super::{CORRELATION, Correlation, Host, Refusal, RouteName, guard};

/// What a browser may do with an answer that it was not meant to show: nothing.
const INERT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// Carries one exchange out.
pub(super) async fn exchange(
    State(host): State<Host>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let correlation = Correlation::of(request.headers());
    request.extensions_mut().insert(correlation.clone());
    let method = request.method().clone();
    let uri = request.uri().clone();
    let span = tracing::error_span!("request", correlation_id = correlation.as_str());
    let mut who = None;
    let admitted = AssertUnwindSafe(admit(&host, request, next, &mut who));
    let answered = admitted.catch_unwind().instrument(span.clone()).await;
    let mut response = answered.unwrap_or_else(|_| {
        Refusal(Failure::new(
            Code::HttpFault,
            "the server met a fault of its own",
        ))
        .into_response()
    });
    let took = began.elapsed();
    let failure = refusal_of(&mut response, &method, &uri);
    if let Some(failure) = &failure {
        write_refusal(&mut response, failure, &correlation);
    }
    let headers = response.headers_mut();
    headers.insert(CORRELATION, correlation.header());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(INERT);
    let route = response.extensions().get::<RouteName>();
    let route = route.map_or("none", |route| route.0);
    (host.metrics()).answered(route, &method, response.status(), took);
    let line = Line {
        method: &method,
        route,
        who: who.as_deref(),
        status: response.status(),
        took,
    };
    span.in_scope(|| line.log(failure.as_ref()));
    if let Some(failure) = failure {
        host.metrics().refused(failure.code);
    }
    response
}

/// Lets a request in, or refuses it.
async fn admit(
    host: &Host,
    mut request: Request,
    next: Next,
    who: &mut Option<String>,
) -> Response {
    let Some(entrance) = request.extensions_mut().remove::<Entrance>() else {
        let failure = Failure::new(Code::HttpFault, "the request came through no door");
        return Refusal(failure).into_response();
    };
    let Entrance::Network(local) = entrance else {
        return pass(host, &entrance, request, next, who).await;
    };
    let listed = match guard::check(host.settings(), local, &request) {
        Ok(listed) => listed,
        Err(failure) => return Refusal(failure).into_response(),
    };
    let preflight = listed.as_ref().and_then(|site| site.preflight(&request));
    let mut response = match preflight {
        Some(preflight) => preflight,
        None => pass(host, &entrance, request, next, who).await,
    };
    if let Some(site) = listed {
        site.open(&mut response);
    }
    response
}

/// Finds out who asks, and lets the handler answer.
async fn pass(
    host: &Host,
    entrance: &Entrance,
    mut request: Request,
    next: Next,
    who: &mut Option<String>,
) -> Response {
    let caller = match entrance::recognise(host, entrance, &request) {
        Ok(caller) => caller,
        Err(failure) => return Refusal(failure).into_response(),
    };
    *who = Some(caller.label().to_owned());
    request.extensions_mut().insert(caller);
    if let Err(failure) = check_encoding(&request) {
        return Refusal(failure).into_response();
    }
    let limits = &host.settings().limits;
    let (patience, rate) = (limits.body_timeout, limits.body_rate.0);
    next.run(request.map(|body| Body::new(Patient::new(body, patience, rate))))
        .await
}

/// The failure that an answer is, also where a part that knows no codes made it.
fn refusal_of(response: &mut Response, method: &Method, uri: &Uri) -> Option<Failure> {
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        return Some(failure);
    }
    let (code, message) = match response.status() {
        status if status.as_u16() < 400 => return None,
        _ if response.extensions().get::<Foreign>().is_some() => return None,
        StatusCode::NOT_FOUND => (
            Code::HttpRouteUnknown,
            format!("there is no route {method} {}", uri.path()),
        ),
        StatusCode::METHOD_NOT_ALLOWED => (
            Code::HttpMethodNotAllowed,
            format!("{} does not know the method {method}", uri.path()),
        ),
        StatusCode::PAYLOAD_TOO_LARGE => (
            Code::AgenticPayloadTooLarge,
            "the body is larger than the limit".into(),
        ),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (
            Code::HttpMediaType,
            "the route does not take a body of this media type".into(),
        ),
        status if status.is_client_error() => {
            (Code::HttpMalformed, "the request is not sound".into())
        }
        _ => (Code::HttpFault, "the server met a fault of its own".into()),
    };
    Some(Failure::new(code, message))
}

/// Makes the error body of a failure.
fn write_refusal(response: &mut Response, failure: &Failure, correlation: &Correlation) {
    let body = failure.body(Protocol::Agentic, correlation.exchange());
    *response.body_mut() = Body::from(body.to_string());
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if failure.code == Code::AuthRequired {
        let scheme = HeaderValue::from_static("Bearer realm=\"accord\"");
        headers.insert(WWW_AUTHENTICATE, scheme);
    }
    if failure.code.retry() == RetryClass::Backoff {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
}

/// What the log says about an exchange.
struct Line<'l> {
    method: &'l Method,
    route: &'l str,
    who: Option<&'l str>,
    status: StatusCode,
    took: Duration,
}

impl Line<'_> {
    fn log(&self, failure: Option<&Failure>) {
        macro_rules! line {
            ($level:ident, $message:expr $(, $name:ident = $value:expr)*) => {
                tracing::$level!(
                    method = %self.method,
                    route = self.route,
                    caller = self.who.unwrap_or("nobody"),
                    status = self.status.as_u16(),
                    micros = u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
                    $($name = %$value,)*
                    "{}", $message
                )
            };
        }
        match failure {
            None => line!(debug, "answered"),
            Some(failure) if self.status.is_server_error() => {
                line!(error, failure.message, code = failure.code);
            }
            Some(failure) => line!(info, failure.message, code = failure.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::middleware::from_fn_with_state;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::http::table::{self, Route};
    use crate::settings::Settings;
    use accord_base::Caller;

    async fn panics() -> Response {
        panic!("a secret: /etc/passwd")
    }

    async fn fails() -> StatusCode {
        StatusCode::BAD_GATEWAY
    }

    #[tokio::test]
    async fn a_fault_is_answered_for_and_stays_inside() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::open(folder.path(), Settings::default()).unwrap();
        let router = table::router(vec![
            Route::get("panics", "/panics", "", panics),
            Route::get("fails", "/fails", "", fails),
        ]);
        let layer = from_fn_with_state(host.clone(), exchange);
        let router = router.layer(layer).with_state(host.clone());
        for (path, status) in [("/panics", 500), ("/fails", 502), ("/panics", 500)] {
            let mut request = Request::get(path).body(Body::empty()).unwrap();
            let entrance = Entrance::Known(Caller::owner());
            request.extensions_mut().insert(entrance);
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(
                body.contains("\"HTTP_FAULT\"") && !body.contains("secret"),
                "{body}"
            );
        }
        // Whoever came through no door comes no further.
        let request = Request::get("/fails").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 500);
        assert!(host.metrics().text().contains("{code=\"HTTP_FAULT\"} 4"));
    }
}
