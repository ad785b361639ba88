//! Serving operations.
//!
//! [`serve`] and [`serve_response`] bind an operation to its handler. All requests take one way,
//! which is compiled once ([`route`]): it reads the parameters and the body, hands them to the
//! handler, and waits for its response. The types of an operation stand in a small function that
//! decodes a request.
//!
//! A route whose request body is a stream extracts it itself ([`Route::serving`]).

use std::sync::Arc;

use accord_api::body::{AnswerBody, Reply as Encoded};
use accord_api::parameter::Params;
use accord_api::{Call, Declaration, Operation};
use accord_contract::Failure;
use axum::extract::{FromRequest as _, Request};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use crate::body::Document;
use crate::query::{Query, path_params};
use crate::table::Route;
use crate::{Context, Door, Reply};

/// What a handler gets beside the decoded request.
pub struct Exchange<D> {
    pub context: Context<D>,
    pub headers: HeaderMap,
    pub query: Query,
    /// The body as it was sent; empty if the operation has none.
    pub body: Bytes,
}

/// Decodes a request and starts its handler.
pub type Handle<D> =
    dyn Fn(Exchange<D>, &Params<'_>) -> Result<BoxFuture<'static, Reply>, Failure> + Send + Sync;

/// The route of an operation that is answered with its first status.
pub fn serve<D, O, F>(run: impl Fn(Context<D>, Call<O>) -> F + Send + Sync + 'static) -> Route<D>
where
    D: Door,
    O: Operation<Answer: AnswerBody>,
    F: Future<Output = Result<O::Answer, Failure>> + Send + 'static,
{
    let status = O::SUCCESSES.first().map_or(200, |success| success.status);
    serve_response(move |exchange: Exchange<D>, call| {
        let answer = run(exchange.context, call);
        async move { Ok(respond(status, answer.await?.encode())) }
    })
}

/// The route of an operation whose handler writes the response itself: streams, stored documents
/// as they are, answers with several statuses.
pub fn serve_response<D, O, F>(
    run: impl Fn(Exchange<D>, Call<O>) -> F + Send + Sync + 'static,
) -> Route<D>
where
    D: Door,
    O: Operation,
    F: Future<Output = Reply> + Send + 'static,
{
    let handle = move |exchange: Exchange<D>, path: &Params<'_>| {
        let call = Call::decode(path, &exchange.query.params()?, &exchange.body)?;
        Ok(run(exchange, call).boxed())
    };
    route(O::declared(), Box::new(handle))
}

/// The route of a declaration. Its handler has no type of the operation, so that it exists once.
pub fn route<D: Door>(declared: Declaration, handle: Box<Handle<D>>) -> Route<D> {
    let (has_body, handle) = (declared.body.is_some(), Arc::new(handle));
    Route::declared(declared, move |context: Context<D>, query: Query, request: Request| {
        let handle = Arc::clone(&handle);
        async move {
            let (mut parts, body) = request.into_parts();
            let path = path_params(&mut parts).await?;
            let headers = parts.headers.clone();
            let body = if has_body {
                let request = Request::from_parts(parts, body);
                Document::from_request(request, &context.host).await?.0
            } else {
                Bytes::new()
            };
            let exchange = Exchange { context, headers, query, body };
            handle(exchange, &Params::new(&path)?)?.await
        }
    })
}

pub fn respond(status: u16, answer: Encoded) -> Response {
    let mut response = Response::new(answer.text.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let media_type = HeaderValue::from_static(answer.media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}
