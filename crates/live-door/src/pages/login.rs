//! Signing in and out.

use accord_api::Operation as _;
use accord_base::Author;
use accord_contract::{Code, Failure, Time, Timestamp};
use accord_live_core::operations::pages::{LoginEnvelope, LoginRequest, LogoutEnvelope, SignIn};
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{HeaderValue, SET_COOKIE};

use super::access::{SignedIn, cookie_name, halves, is_secure};
use super::unstored;
use crate::{LiveDoor, Visitor};
use accord_serving::logins::linked::is_of_person;
use accord_serving::logins::{Begun, Holder, LOGIN_SECONDS, Person};
use accord_serving::{FromPage, Reply, alx_envelope, body::Document, reply::encoded};

pub(super) async fn sign_in(
    FromPage { visitor, .. }: FromPage<LiveDoor>,
    document: Document,
) -> Reply {
    let request: LoginRequest = document.read()?;
    let host = visitor.host.clone();
    let (address, now) = (visitor.address(), host.live().now());
    // A worker can read a link in the command line of a browser.
    visitor.check_worker()?;
    if request.link.is_some() && request.key.is_some() {
        let message = "a page signs in with a link or with a key, not with both";
        return Err(Failure::new(Code::WireFieldValue, message).at("/key").into());
    }
    let begun = match begin(&visitor, request, now).await {
        Ok(begun) => begun,
        Err(failure) => {
            // Only wrong credentials are limited. A right one is no guess, and everybody on this
            // machine, or behind a proxy, has the same address.
            if failure.code.http_status() < 500 {
                host.logins().check_failures(address, now)?;
                host.logins().record_failure(address, now);
            }
            return Err(failure.into());
        }
    };
    let (secret, expires_at) = (begun.secret, Timestamp::emit(begun.until));
    let envelope = alx_envelope!(visitor.correlation, LoginEnvelope { secret, expires_at });
    let mut response = unstored(encoded(StatusCode::OK, &envelope));
    set_cookie(&host, &begun.cookie, LOGIN_SECONDS, &mut response);
    Ok(response)
}

/// Begins the login of a link, of a key, or of this user.
async fn begin(visitor: &Visitor, request: LoginRequest, now: Time) -> Result<Begun, Failure> {
    let host = &visitor.host;
    let person = match (&request.link, &request.key) {
        (Some(link), _) => match begin_linked(host, link, now).await? {
            Some(begun) => return Ok(begun),
            None => host.logins().use_link(link, now)?,
        },
        (None, Some(key)) => Holder::of(&host.keys().authenticate(key.trim()).await?).into(),
        (None, None) => {
            let missing = || Failure::new(Code::AuthRequired, "this server needs a key");
            let open = visitor.without_key().await?.ok_or_else(missing)?;
            // A worker could sign in as a person, and answer what it asked.
            open.attribute(SignIn::NEED, Author::unnamed())?;
            Person::of_this_user(Holder::of(&open))
        }
    };
    host.logins().begin(person, now).await
}

/// Begins the login of a link of a person. Where another link can be mailed, the refusal says so.
async fn begin_linked(host: &LiveDoor, link: &str, now: Time) -> Result<Option<Begun>, Failure> {
    let begun = host.logins().begin_linked(link, now).await;
    begun.map_err(|refused| match is_of_person(&refused) && host.settings().notify.mail.is_some() {
        true => refused.with("renewable", true).suggesting("POST /accord/v1/links/renew"),
        false => refused,
    })
}

pub(super) async fn sign_out(signed_in: SignedIn, headers: hyper::HeaderMap) -> Reply {
    let context = signed_in.context;
    if let Some(halves) = halves(&context.host, &headers) {
        context.host.logins().end(&halves).await?;
    }
    let envelope = alx_envelope!(context.correlation, LogoutEnvelope { signed_in: false });
    let mut response = unstored(encoded(StatusCode::OK, &envelope));
    set_cookie(&context.host, "", 0, &mut response);
    Ok(response)
}

/// Sets the cookie of a login: no script reads it, and no page of another site causes it to be
/// sent.
fn set_cookie(host: &LiveDoor, value: &str, seconds: i64, response: &mut Response) {
    let secure = if is_secure(host) { "; Secure" } else { "" };
    let name = cookie_name(host);
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut cookie = HeaderValue::try_from(cookie).expect("letters and digits are a header");
    cookie.set_sensitive(true);
    response.headers_mut().insert(SET_COOKIE, cookie);
}
