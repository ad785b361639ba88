//! Pages for people: the page of a live session, its login and its assets.
//!
//! A navigation gets an empty page. Its modules sign in and fetch the rest, with both halves of a
//! login: a cookie that no script can read, and a secret in the storage of the origin. Cookies have
//! no port, so that every server on this machine receives the cookie; the secret stays with the
//! origin, and nothing is opened by one half alone.

mod access;
mod assets;
mod live;
mod login;

use accord_contract::Failure;
use accord_live_core::operations::pages;
use accord_pages::{ErrorPage, Html, needs_nonce, page_policy};
use accord_system::random_hex;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{self, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::Route;
use accord_serving::operation::serve_response;
use accord_serving::reply::{Foreign, status_of, unstored};

pub(crate) use self::access::is_secure;
pub use self::live::page_link;
pub(crate) use self::live::page_of;

const PAGE: &str = "text/html; charset=utf-8";

pub fn routes() -> Vec<Route> {
    let for_pages = [
        Route::serving::<pages::LoadPage, _>(live::shell),
        Route::serving::<pages::ReadPage, _>(live::fragments),
        Route::serving::<pages::MakeToken, _>(live::token),
        Route::serving::<pages::ActOnPage, _>(live::act),
        Route::serving::<pages::SignIn, _>(login::sign_in),
        Route::serving::<pages::SignOut, _>(login::sign_out),
        Route::serving::<pages::LoadAsset, _>(assets::get),
    ];
    let for_pages = for_pages.into_iter().map(|route| route.admits_itself(false));
    let mut routes: Vec<Route> = for_pages.collect();
    routes.insert(1, serve_response(live::link));
    routes
}

/// A page, with the headers that keep others out of it. It is made with the nonce of its policy, if
/// that has one.
fn page(status: StatusCode, html: impl FnOnce(Option<&str>) -> Html, sent: &HeaderMap) -> Response {
    // `guard` has checked that it is a name of this server.
    let authority = sent.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = authority.unwrap_or_default();
    let nonce = needs_nonce(authority).then(random_hex::<16>);
    let headers = [
        (CONTENT_TYPE, PAGE),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ];
    let html = html(nonce.as_deref()).into_string();
    let mut response = (status, headers, html).into_response();
    if let Ok(policy) = HeaderValue::try_from(page_policy(authority, nonce.as_deref())) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Makes the answer to a navigation to a page under a name that is not one of this server readable
/// for the person who sees it. Its style is behind the same name, so that it has none.
pub fn show_refused_host(method: &Method, uri: &Uri, failure: &Failure, response: &mut Response) {
    if method != Method::GET || !uri.path().starts_with("/live/") {
        return;
    }
    let message = format!(
        "{}. Open the address that accord serve has printed, or add the name to the setting \
         allowed_hosts.",
        failure.message
    );
    let html = ErrorPage::new(failure.code, message).html();
    *response.body_mut() = Body::from(html.into_string());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PAGE));
}

/// The page of a failure, for a navigation.
fn error_page(failure: &Failure, headers: &HeaderMap) -> Response {
    let html = ErrorPage::new(failure.code, failure.message.as_str());
    let html = |nonce: Option<&str>| html.with_nonce(nonce).html();
    let mut response = page(status_of(failure.code), html, headers);
    // A person reads it, so that it keeps its own body.
    response.extensions_mut().insert(Foreign);
    response
}
