//! Links to sign in, and logins.
//!
//! Invariants:
//! - A link signs in once, within [`LINK_SECONDS`].
//! - A login is found by the hash of its cookie, and accepted with the secret of its origin. The
//!   two are compared in constant time. Only hashes are kept.
//! - A login ends [`LOGIN_SECONDS`] after it began, [`IDLE_SECONDS`] after its last use, when it is
//!   signed out, and when its key is no longer valid.
//! - The numbers of links, logins and remembered failures are bounded.
//! - Nothing of it outlasts the process.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use accord_base::Caller;
use accord_canon::{Digest, sha256};
use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_system::random;
use data_encoding::BASE32_DNSSEC;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

/// How long a link can be used.
pub(super) const LINK_SECONDS: i64 = 60;
/// How long a login lasts.
pub(super) const LOGIN_SECONDS: i64 = 12 * 3600;
/// How long a login lasts that is not used.
pub(super) const IDLE_SECONDS: i64 = 3600;
/// How many attempts of one address may fail within a minute.
const MOST_FAILURES: usize = 5;
const FAILURE_SECONDS: i64 = 60;

/// The most of each that are kept. The oldest goes.
const MOST_LINKS: usize = 100;
const MOST_LOGINS: usize = 1_000;
const MOST_ADDRESSES: usize = 1_000;

/// The links and logins of a host. A clone has the same ones.
#[derive(Clone)]
pub(crate) struct Logins {
    name: Arc<str>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    links: BTreeMap<Digest, Link>,
    logins: BTreeMap<Digest, Login>,
    failures: BTreeMap<Option<IpAddr>, Vec<Time>>,
}

struct Link {
    caller: Caller,
    until: Time,
}

struct Login {
    secret: Digest,
    caller: Caller,
    until: Time,
    used_at: Time,
}

/// A login that began.
pub(super) struct Begun {
    /// The half for the cookie.
    pub(super) cookie: String,
    /// The half for the storage of the origin.
    pub(super) secret: String,
    /// When it ends at the latest.
    pub(super) until: Time,
}

/// The two halves that a request carries.
pub(super) struct Halves<'a> {
    /// The values of the cookie. A page of another port can add one, so there may be several.
    pub(super) cookies: Vec<&'a str>,
    /// The secret.
    pub(super) secret: &'a str,
}

impl Logins {
    /// The logins of the host of a data folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let place = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let digest = sha256(place.as_os_str().as_encoded_bytes());
        Self { name: digest.hex()[..12].into(), state: Arc::default() }
    }

    /// Tells hosts on one machine apart, whose pages share their cookies. It is not secret.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A link that signs in as a caller. Returns its secret and when it ends.
    pub(super) fn mint_link(&self, caller: Caller, now: Time) -> (String, Time) {
        let (text, until) = (secret(), now.add_seconds(LINK_SECONDS));
        let mut state = self.state.lock();
        state.links.retain(|_, link| link.until > now);
        drop_oldest(&mut state.links, MOST_LINKS, |link| link.until);
        state.links.insert(sha256(text.as_bytes()), Link { caller, until });
        (text, until)
    }

    /// The caller of a link, which is used up.
    ///
    /// # Errors
    /// `LOGIN_LINK_INVALID`.
    pub(super) fn use_link(&self, text: &str, now: Time) -> Result<Caller, Failure> {
        // The hash finds it: how long that takes says nothing about the text.
        let link = self.state.lock().links.remove(&sha256(text.as_bytes()));
        let link = link.filter(|link| link.until > now);
        let invalid = || {
            let message = "this link was used before or has expired; run accord live open again";
            Failure::new(Code::LoginLinkInvalid, message)
        };
        Ok(link.ok_or_else(invalid)?.caller)
    }

    /// Begins a login.
    pub(super) fn begin(&self, caller: Caller, now: Time) -> Begun {
        let (cookie, secret) = (secret(), secret());
        let until = now.add_seconds(LOGIN_SECONDS);
        let login = Login { secret: sha256(secret.as_bytes()), caller, until, used_at: now };
        let mut state = self.state.lock();
        state.logins.retain(|_, login| login.is_valid(now));
        drop_oldest(&mut state.logins, MOST_LOGINS, |login| login.used_at);
        state.logins.insert(sha256(cookie.as_bytes()), login);
        Begun { cookie, secret, until }
    }

    /// The caller of a login, which counts as used.
    pub(super) fn find(&self, halves: &Halves<'_>, now: Time) -> Option<Caller> {
        let secret = sha256(halves.secret.as_bytes());
        let mut state = self.state.lock();
        for cookie in &halves.cookies {
            let Some(login) = state.logins.get_mut(&sha256(cookie.as_bytes())) else { continue };
            let is_right = bool::from(login.secret.as_bytes().ct_eq(secret.as_bytes()));
            if is_right && login.is_valid(now) {
                login.used_at = now;
                return Some(login.caller.clone());
            }
        }
        None
    }

    /// Ends the login of a request.
    pub(super) fn end(&self, halves: &Halves<'_>, now: Time) {
        if self.find(halves, now).is_none() {
            return;
        }
        let secret = sha256(halves.secret.as_bytes());
        let ends = |login: &Login| login.secret.as_bytes() == secret.as_bytes();
        self.state.lock().logins.retain(|_, login| !ends(login));
    }

    /// Refuses an address whose attempts fail too often.
    ///
    /// # Errors
    /// `LOGIN_TOO_OFTEN`.
    pub(super) fn check_failures(&self, address: Option<IpAddr>, now: Time) -> Result<(), Failure> {
        let state = self.state.lock();
        let failed = state.failures.get(&address).into_iter().flatten();
        let recent = failed.filter(|at| at.add_seconds(FAILURE_SECONDS) > now).count();
        if recent < MOST_FAILURES {
            return Ok(());
        }
        let message = "too many attempts to sign in have failed; wait a minute";
        Err(Failure::new(Code::LoginTooOften, message))
    }

    /// Records an attempt that failed.
    pub(super) fn record_failure(&self, address: Option<IpAddr>, now: Time) {
        let mut state = self.state.lock();
        let is_recent = |at: &Time| at.add_seconds(FAILURE_SECONDS) > now;
        state.failures.retain(|_, failed| {
            failed.retain(is_recent);
            !failed.is_empty()
        });
        if state.failures.len() < MOST_ADDRESSES || state.failures.contains_key(&address) {
            state.failures.entry(address).or_default().push(now);
        }
    }
}

impl Login {
    fn is_valid(&self, now: Time) -> bool {
        self.until > now && self.used_at.add_seconds(IDLE_SECONDS) > now
    }
}

/// Makes room for one more entry.
fn drop_oldest<T>(entries: &mut BTreeMap<Digest, T>, most: usize, age: impl Fn(&T) -> Time) {
    while entries.len() >= most {
        let oldest = entries.iter().min_by_key(|(_, entry)| age(entry)).map(|(digest, _)| *digest);
        let Some(oldest) = oldest else { return };
        entries.remove(&oldest);
    }
}

fn secret() -> String {
    BASE32_DNSSEC.encode(&random::<32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logins() -> Logins {
        Logins::new(Path::new("/"))
    }

    fn at(seconds: i64) -> Time {
        Time::from_unix(1_800_000_000 + seconds, 0).unwrap()
    }

    fn halves<'a>(cookie: &'a str, secret: &'a str) -> Halves<'a> {
        Halves { cookies: vec![cookie], secret }
    }

    #[test]
    fn a_link_works_once_and_for_a_minute() {
        let logins = logins();
        let (link, until) = logins.mint_link(Caller::owner(), at(0));
        assert_eq!(until, at(60));
        assert!(logins.use_link("other", at(1)).is_err());
        assert!(logins.use_link(&link, at(59)).is_ok());
        let again = logins.use_link(&link, at(59)).unwrap_err();
        assert_eq!(again.code, Code::LoginLinkInvalid);
        let (late, _) = logins.mint_link(Caller::owner(), at(0));
        assert!(logins.use_link(&late, at(60)).is_err());
        assert!(logins.use_link(&late, at(0)).is_err(), "an attempt uses it up");
    }

    #[test]
    fn a_login_needs_both_halves() {
        let logins = logins();
        let one = logins.begin(Caller::owner(), at(0));
        let other = logins.begin(Caller::owner(), at(0));
        assert!(logins.find(&halves(&one.cookie, &one.secret), at(1)).is_some());
        for (cookie, secret) in [
            (one.cookie.as_str(), other.secret.as_str()),
            (&one.cookie, ""),
            ("", &one.secret),
            (&one.secret, &one.cookie),
        ] {
            assert!(logins.find(&halves(cookie, secret), at(1)).is_none());
        }
        // A cookie that a page of another port added does not hide the right one.
        let two = Halves { cookies: vec!["planted", &one.cookie], secret: &one.secret };
        assert!(logins.find(&two, at(1)).is_some());
        logins.end(&halves(&one.cookie, &other.secret), at(1));
        assert!(logins.find(&two, at(1)).is_some(), "one half ends nothing");
        logins.end(&two, at(1));
        assert!(logins.find(&two, at(1)).is_none());
        assert!(logins.find(&halves(&other.cookie, &other.secret), at(1)).is_some());
    }

    #[test]
    fn a_login_ends_unused_and_in_any_case() {
        let logins = logins();
        let idle = logins.begin(Caller::owner(), at(0));
        assert!(logins.find(&halves(&idle.cookie, &idle.secret), at(IDLE_SECONDS)).is_none());
        let used = logins.begin(Caller::owner(), at(0));
        let halves = halves(&used.cookie, &used.secret);
        let mut now = 0;
        while now + IDLE_SECONDS - 1 < LOGIN_SECONDS {
            now += IDLE_SECONDS - 1;
            assert!(logins.find(&halves, at(now)).is_some(), "{now}");
        }
        assert!(logins.find(&halves, at(LOGIN_SECONDS)).is_none());
    }

    #[test]
    fn numbers_are_bounded() {
        let logins = logins();
        let first = logins.begin(Caller::owner(), at(0));
        for number in 0..MOST_LOGINS + 10 {
            let now = at(i64::try_from(number).unwrap() / 10 + 1);
            logins.begin(Caller::owner(), now);
            logins.mint_link(Caller::owner(), now);
        }
        let state = logins.state.lock();
        assert_eq!((state.logins.len(), state.links.len()), (MOST_LOGINS, MOST_LINKS));
        drop(state);
        assert!(logins.find(&halves(&first.cookie, &first.secret), at(2)).is_none());
    }

    #[test]
    fn failures_of_an_address_are_limited() {
        let logins = logins();
        let (one, other) = (Some([127, 0, 0, 1].into()), Some([10, 0, 0, 1].into()));
        for _ in 0..MOST_FAILURES {
            logins.check_failures(one, at(0)).unwrap();
            logins.record_failure(one, at(0));
        }
        let refused = logins.check_failures(one, at(59)).unwrap_err();
        assert_eq!(refused.code, Code::LoginTooOften);
        logins.check_failures(other, at(0)).unwrap();
        logins.check_failures(one, at(60)).unwrap();
    }
}
