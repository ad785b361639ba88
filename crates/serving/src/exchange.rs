//! The outermost layer around every route.
//!
//! Invariants:
//! - Every answer has a correlation id, and so has every log line about it.
//! - Every answer with a status of 400 or more has an error body with a code, in the form of the
//!   route's protocol, unless it is [`Foreign`]: a message of MCP; or a page for a person.
//! - A panic in a handler is answered with a code and does not affect other requests.
//! - A caller sees a failure's own message, and no internal error.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_base::worker::{Attempt, SeenWorker};
use accord_contract::{Code, Failure, Protocol};
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use tracing::Instrument as _;

use crate::body::{TimedBody, check_encoding};
use crate::peer::{self, Peer};
use crate::reply::{Foreign, status_of};
use crate::table::{Admission, Rule, Rules};
use crate::visitor::Visit;
use crate::{CORRELATION, Correlation, Refusal, RouteName, Serving, attempt, errors, guard};

/// Forbids a browser to run anything in an answer that is not meant to be shown as a page.
const INERT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// The header in which the command says `yes` if a person was asked, or could be asked, at a
/// terminal. It counts only for a process of this machine that has one.
pub const TERMINAL: &str = "x-accord-terminal";
/// The rule of requests that reach no route.
const WITHOUT_ROUTE: Rule = Rule { protocol: errors::WITHOUT_ROUTE, admission: Admission::Common };

#[derive(Clone)]
pub struct Frame {
    pub serving: Serving,
    pub rules: Arc<Rules>,
    /// Makes the answer to a request for another host readable for a person, if a person sees it.
    pub refused_host: fn(&Method, &Uri, &Failure, &mut Response),
}

pub async fn exchange(State(frame): State<Frame>, mut request: Request, next: Next) -> Response {
    let Frame { serving: host, rules, refused_host } = frame;
    let began = Instant::now();
    let correlation = Correlation::of(request.headers());
    request.extensions_mut().insert(correlation.clone());
    let method = request.method().clone();
    let uri = request.uri().clone();
    let path = request.extensions().get::<MatchedPath>();
    let rule = path.and_then(|path| rules.get(path.as_str())).copied().unwrap_or(WITHOUT_ROUTE);
    let Rule { protocol, admission } = rule;
    // At the level error, so that no filter disables the span and every line has the id.
    let span = tracing::error_span!("request", correlation_id = correlation.as_str());
    let mut who = None;
    let admitted = AssertUnwindSafe(admit(&host, admission, request, next, &mut who));
    let answered = admitted.catch_unwind().instrument(span.clone()).await;
    let mut response = answered.unwrap_or_else(|_| {
        Refusal(Failure::new(Code::HttpFault, "internal error")).into_response()
    });
    let took = began.elapsed();
    let failure = refusal_of(&mut response, &method, &uri);
    let failure = failure.map(|failure| in_protocol(protocol, failure, &mut response));
    if let Some(failure) = &failure {
        errors::write(&mut response, failure, protocol, &correlation);
        if failure.code == Code::HttpHostRefused {
            refused_host(&method, &uri, failure, &mut response);
        }
    }
    let headers = response.headers_mut();
    headers.insert(CORRELATION, correlation.header());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A page that is meant to be shown, such as /docs, brings its own policy.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(INERT);
    if admission == (Admission::Handler { any_origin: true }) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    let route = response.extensions().get::<RouteName>().map_or("none", |route| route.0);
    (host.metrics()).answered(route, &method, response.status(), took);
    let line =
        LogLine { method: &method, route, who: who.as_deref(), status: response.status(), took };
    span.in_scope(|| line.log(failure.as_ref()));
    if let Some(failure) = failure {
        host.metrics().refused(failure.code);
    }
    response
}

/// Checks where a request comes from, then passes it on.
async fn admit(
    host: &Serving,
    admission: Admission,
    mut request: Request,
    next: Next,
    who: &mut Option<String>,
) -> Response {
    let Some(peer) = request.extensions_mut().remove::<Peer>() else {
        let failure = Failure::new(Code::HttpFault, "the request has no peer");
        return Refusal(failure).into_response();
    };
    let attempt = match attempt::of(request.headers()) {
        Ok(attempt) => attempt,
        Err(failure) => return Refusal(failure).into_response(),
    };
    // Only a request from the network can come from a browser.
    let checked = match &peer {
        Peer::Trusted(_) => None,
        Peer::Network(network) => {
            match guard::check_host(host.settings(), network.local, &request) {
                Ok(named) => Some(guard::check_origin(host.settings(), &named, &request)),
                Err(failure) => return Refusal(failure).into_response(),
            }
        }
    };
    if admission != Admission::Common {
        // Pages and channels are for people, and know them by logins and tokens.
        if let Some(attempt) = &attempt {
            return Refusal(SeenWorker::from(attempt).refusal()).into_response();
        }
        let origin = checked.map_or(Ok(()), |checked| checked.map(drop)).map_err(Box::new);
        request.extensions_mut().insert(Visit { peer, origin });
        return run(host, request, next).await;
    }
    let listed = match checked {
        None => return pass(host, (&peer, attempt.as_ref()), request, next, who).await,
        Some(Ok(listed)) => listed,
        Some(Err(failure)) => return Refusal(failure).into_response(),
    };
    // Before authentication, because a browser sends no key with a preflight.
    let preflight = listed.as_ref().and_then(|site| site.preflight(&request));
    let mut response = match preflight {
        Some(preflight) => preflight,
        None => pass(host, (&peer, attempt.as_ref()), request, next, who).await,
    };
    if let Some(site) = listed {
        site.open(&mut response);
    }
    response
}

/// Authenticates a request, then passes it to its handler.
async fn pass(
    host: &Serving,
    (peer, attempt): (&Peer, Option<&Attempt>),
    mut request: Request,
    next: Next,
    who: &mut Option<String>,
) -> Response {
    let (uri, headers) = (request.uri(), request.headers());
    let known = peer::authenticate(host, peer, uri.path(), headers).await;
    let caller = match known.and_then(|caller| attempt::narrow(caller, attempt)) {
        Ok(caller) => caller,
        Err(failure) => return Refusal(failure).into_response(),
    };
    *who = Some(caller.label().to_owned());
    let says_terminal = headers.get(TERMINAL).is_some_and(|says| says == "yes");
    let caller = caller.under(host.settings().decision_rules()).saying_terminal(says_terminal);
    request.extensions_mut().insert(caller);
    run(host, request, next).await
}

/// Passes an admitted request to its handler.
async fn run(host: &Serving, request: Request, next: Next) -> Response {
    if let Err(failure) = check_encoding(&request) {
        return Refusal(failure).into_response();
    }
    let limits = &host.settings().limits;
    let (pause, rate) = (limits.body_timeout, limits.body_rate.0);
    next.run(request.map(|body| Body::new(TimedBody::new(body, pause, rate)))).await
}

/// The failure of an answer. An answer of a library has no code, so it is derived from the status.
fn refusal_of(response: &mut Response, method: &Method, uri: &Uri) -> Option<Failure> {
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        return Some(failure);
    }
    let (code, message) = match response.status() {
        status if status.as_u16() < 400 => return None,
        _ if response.extensions().get::<Foreign>().is_some() => return None,
        StatusCode::NOT_FOUND => {
            (Code::HttpRouteUnknown, format!("there is no route {method} {}", uri.path()))
        }
        StatusCode::METHOD_NOT_ALLOWED => (
            Code::HttpMethodNotAllowed,
            format!("{} does not accept the method {method}", uri.path()),
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            (Code::InputTooLarge, "the body is larger than the limit".into())
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (Code::HttpMediaType, "the route does not accept a body of this media type".into())
        }
        status if status.is_client_error() => {
            (Code::HttpMalformed, "the request is not valid".into())
        }
        _ => (Code::HttpFault, "internal error".into()),
    };
    Some(Failure::new(code, message))
}

/// The same failure with the code that the route's protocol has for it. The status follows the
/// code.
fn in_protocol(protocol: Protocol, mut failure: Failure, response: &mut Response) -> Failure {
    let code = errors::code_in(protocol, failure.code);
    if code != failure.code {
        failure.code = code;
        *response.status_mut() = status_of(code);
    }
    failure
}

struct LogLine<'l> {
    method: &'l Method,
    route: &'l str,
    who: Option<&'l str>,
    status: StatusCode,
    took: Duration,
}

impl LogLine<'_> {
    fn log(&self, failure: Option<&Failure>) {
        macro_rules! line {
            ($level:ident, $message:expr $(, $name:ident = $value:expr)*) => {
                tracing::$level!(
                    method = %self.method,
                    route = self.route,
                    caller = self.who.unwrap_or("none"),
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
    use std::path::Path;

    use accord_api::body::Bytes;
    use accord_base::{Caller, Need};
    use accord_store::{ModelStore, Units};
    use axum::middleware::from_fn_with_state;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::settings::Settings;
    use crate::table::{self, Route};

    accord_api::operation! {
        /// Panics.
        struct Panics("panics", Get "/panics") of Agentic {
            needs Need::Read;
            answers 200 "Never.", Bytes;
        }

        /// Fails without a code.
        struct Fails("fails", Get "/fails") of Agentic {
            needs Need::Read;
            answers 200 "Never.", Bytes;
        }
    }

    async fn panics() -> Response {
        panic!("a secret: /etc/passwd")
    }

    async fn fails() -> StatusCode {
        StatusCode::BAD_GATEWAY
    }

    #[tokio::test]
    async fn a_fault_is_answered_for_and_stays_inside() {
        let units = Units::new(Arc::new(ModelStore::new()));
        let serving = Serving::new(Path::new("/"), Settings::default(), &units, Vec::new());
        let routes = vec![Route::serving::<Panics, _>(panics), Route::serving::<Fails, _>(fails)];
        let router = table::router(routes);
        let frame = Frame {
            serving: serving.clone(),
            rules: Arc::new(Rules::new()),
            refused_host: |_, _, _, _| {},
        };
        let router = router.layer(from_fn_with_state(frame, exchange));
        for (path, status) in [("/panics", 500), ("/fails", 502), ("/panics", 500)] {
            let mut request = Request::get(path).body(Body::empty()).unwrap();
            let peer = Peer::Trusted(Caller::owner());
            request.extensions_mut().insert(peer);
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(body.contains("\"HTTP_FAULT\"") && !body.contains("secret"), "{body}");
        }
        // A request without a peer is refused.
        let request = Request::get("/fails").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 500);
        assert!(serving.metrics().text().contains("{code=\"HTTP_FAULT\"} 4"));
    }
}
