//! The token of a conformance server.

use std::fmt;

use hyper::header::HeaderValue;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::host::setting;
use crate::{CliError, Result};

/// The variable that is read if no flag is given.
const VARIABLE: &str = "ACCORD_CONFORMANCE_TOKEN";

/// The token of a flag, else of the environment.
pub(crate) fn token_or_environment(flag: Option<&String>) -> Result<Option<String>> {
    if flag.is_some() {
        return Ok(flag.cloned());
    }
    let token = setting(VARIABLE).map(|text| sendable(&text)).transpose();
    token.map_err(|why| CliError::usage(format!("{VARIABLE}: {why}")))
}

/// Checks that a token can be sent in a header.
pub(crate) fn sendable(text: &str) -> Result<String, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a token consists of visible ASCII characters".to_owned());
    }
    Ok(text.to_owned())
}

/// A token, kept as its digest, so that it can be compared in constant time.
#[derive(Clone)]
pub(crate) struct Token([u8; 32]);

impl Token {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        sendable(text).map(|text| Self::of(text.as_bytes()))
    }

    /// The token of a flag, else of the environment. One of them must be set.
    pub(crate) fn required(given: Option<Self>, flag: &str) -> Result<Self> {
        if let Some(token) = given {
            return Ok(token);
        }
        let text = token_or_environment(None)?.ok_or_else(|| {
            CliError::usage("no token is set").help(format!("set it with {flag} or {VARIABLE}"))
        })?;
        Ok(Self::of(text.as_bytes()))
    }

    /// Whether the header `Authorization` of a request contains the token.
    pub(crate) fn matches(&self, header: Option<&HeaderValue>) -> bool {
        let sent = header.map_or(&[][..], HeaderValue::as_bytes);
        let (scheme, sent) = sent.split_at_checked(SCHEME.len()).unwrap_or_default();
        // Hashed also if the scheme is wrong. Digests have one length, so the comparison does not
        // reveal that of the token.
        let sent = Self::of(sent.trim_ascii());
        scheme.eq_ignore_ascii_case(SCHEME) && self.0.ct_eq(&sent.0).into()
    }

    fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

const SCHEME: &[u8] = b"Bearer ";

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::Token;

    #[test]
    fn only_the_token_matches_in_any_case_of_the_scheme() {
        let token = Token::parse("tide-table-7").unwrap();
        let matches = |header: &'static str| token.matches(Some(&HeaderValue::from_static(header)));
        assert!(matches("Bearer tide-table-7"));
        assert!(matches("bearer  tide-table-7"));
        for other in [
            "Bearer tide-table-8",
            "Bearer tide-table-77",
            "Bearer tide-table-",
            "Bearer ",
            "Bearer",
            "",
            "Basic tide-table-7",
            "tide-table-7",
        ] {
            assert!(!matches(other), "{other}");
        }
        assert!(!token.matches(None));
    }

    #[test]
    fn a_token_can_stand_in_a_header() {
        assert!(Token::parse("").is_err());
        assert!(Token::parse("two words").is_err());
        assert!(Token::parse("caf\u{e9}").is_err());
    }
}
