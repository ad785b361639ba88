//! Parameters in the path and the query of a request.
//!
//! An id in a path is one percent-encoded segment, which may contain any text, including slashes.

use std::str::FromStr;

use accord_api::parameter::{Id, Params};
use accord_base::{IdError, ProjectId};
use accord_contract::{Code, Failure};
use axum::extract::{FromRequestParts, RawPathParams};
use hyper::Uri;
use hyper::http::request::Parts;

use crate::Refusal;

#[derive(Clone, Debug)]
pub struct InProject(pub ProjectId);

/// The id that is the last parameter of the path.
#[derive(Clone, Debug)]
pub struct PathId<T>(pub T);

#[derive(Clone, Debug)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl<S: Send + Sync> FromRequestParts<S> for InProject {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let params = path_params(parts).await?;
        let id = params.iter().find(|(name, _)| *name == "project_id");
        let (name, text) = id.expect("the path of this route has a project");
        Ok(Self(parse(name, text)?))
    }
}

impl<T: FromStr<Err = IdError>, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let params = path_params(parts).await?;
        let last = params.iter().last();
        let (name, text) = last.expect("the path of this route has a parameter");
        Ok(Self(parse(name, text)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Ok(Self::of(&parts.uri)?)
    }
}

/// Refuses a query with a parameter that the route does not have.
pub fn check_query(uri: &Uri, known: &[&str]) -> Result<(), Failure> {
    for (name, _) in pairs(uri) {
        let name = decode(name)?;
        if known.contains(&name.as_str()) {
            continue;
        }
        let knows = match known {
            [] => "it has none".to_owned(),
            known => format!("it has {}", known.join(", ")),
        };
        let message = format!("this route has no query parameter {name:?}; {knows}");
        return Err(wrong(&format!("/{name}"), &message));
    }
    Ok(())
}

impl Query {
    /// The parameters in the query of a URL.
    pub fn of(uri: &Uri) -> Result<Self, Failure> {
        let decoded = pairs(uri).map(|(name, value)| Ok((decode(name)?, decode(value)?)));
        Ok(Self { pairs: decoded.collect::<Result<_, Failure>>()? })
    }

    /// The parameters. Fails if one occurs twice.
    pub fn params(&self) -> Result<Params<'_>, Failure> {
        let pairs = self.pairs.iter();
        Params::new(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// The project of `?project_id=`, if given.
    pub fn project(&self) -> Result<Option<ProjectId>, Failure> {
        Id::<ProjectId>::new("project_id").read(&self.params()?)
    }
}

/// The names and values in a query, still encoded.
fn pairs(uri: &Uri) -> impl Iterator<Item = (&str, &str)> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

pub async fn path_params(parts: &mut Parts) -> Result<RawPathParams, Failure> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    params.map_err(|_| wrong("", "the path is not UTF-8"))
}

fn parse<T: FromStr<Err = IdError>>(name: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: IdError| wrong(&format!("/{name}"), &error.to_string()))
}

/// Decodes a name or value of a query: `+` is a space, `%XX` is a byte.
fn decode(text: &str) -> Result<String, Failure> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| digit.and_then(hexadecimal));
                let [Some(high), Some(low)] = digits else {
                    return Err(wrong("", "a % in the query needs two hexadecimal digits"));
                };
                high << 4 | low
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong("", "the query is not UTF-8"))
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn wrong(pointer: &str, message: &str) -> Failure {
    Failure::new(Code::AgenticInvalidSchema, message).at(pointer)
}
