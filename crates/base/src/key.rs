//! Keys as the store keeps them.

use accord_contract::{Code, Failure, Object, Time, Timestamp, Wire as _, message};

use crate::{KeyScope, Verb};

message! {
    /// What the store keeps of a key in addition to its id, its hash and its times.
    pub struct StoredKey("KeptKey", open) {
        /// What people call it.
        required label: String = "label", "text-for-people";
        /// What it covers.
        required scope: KeyScope = "scope", "key-scope";
        /// When it expires; null for never.
        required_or_null expires_at: Timestamp = "expires_at", "time:rfc-3339";
        /// Whether it was made when `approve` was a verb of its own. Before, `review` included it.
        optional knows_approve: bool = "knows_approve", "flag";
    }
}

impl StoredKey {
    pub fn new(label: String, scope: KeyScope, expires_at: Option<Timestamp>) -> Self {
        Self { label, scope, expires_at, knows_approve: Some(true), extra: Object::new() }
    }

    /// Reads the text of a stored key. Fails with `store_corrupt` when the text is not a key.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let damaged = || Failure::new(Code::StoreCorrupt, "a stored key cannot be read");
        let value = serde_json::from_str(text).map_err(|_| damaged())?;
        let mut key = Self::from_document(value).map_err(|_| damaged())?;
        let verbs = &mut key.scope.verbs;
        if key.knows_approve != Some(true) && verbs.contains(&Verb::Review) {
            verbs.push(Verb::Approve);
        }
        Ok(key)
    }

    pub fn is_expired(&self, now: Time) -> bool {
        let end = self.expires_at.as_ref();
        end.is_some_and(|end| end.time() <= now)
    }
}

/// What every key begins with. Secret scanners recognise it.
pub const KEY_PREFIX: &str = "accord_";

/// The least letters and digits of the two parts of a key in a text. Other names have fewer.
const LEAST_ID: usize = 8;
const LEAST_SECRET: usize = 32;

/// Whether a text contains what has the form of a key, `accord_ID_SECRET`.
pub fn contains_key(text: &str) -> bool {
    let length = |text: &str| text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    text.match_indices(KEY_PREFIX).any(|(at, prefix)| {
        let rest = &text[at + prefix.len()..];
        let id = length(rest);
        let secret = rest[id..].strip_prefix('_').map_or(0, length);
        id >= LEAST_ID && secret >= LEAST_SECRET
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key from before `approve` was a verb keeps what `review` gave it.
    #[test]
    fn an_old_key_that_reviews_approves_too() {
        let old = r#"{"label":"lead","scope":{"verbs":["read","review"],"projects":null,
            "actor":null,"act_as":false},"expires_at":null}"#;
        let verbs = |text: &str| StoredKey::read(text).unwrap().scope.verbs;
        assert_eq!(verbs(old), [Verb::Read, Verb::Review, Verb::Approve]);
        assert_eq!(verbs(&old.replace("review", "write")), [Verb::Read, Verb::Write]);
        let new = StoredKey::new("lead".into(), KeyScope::new(vec![Verb::Review], None), None);
        assert_eq!(verbs(&new.encode().to_string()), [Verb::Review]);
    }

    #[test]
    fn a_key_is_found_anywhere_in_a_text() {
        let key = format!("accord_{}_{}", "0123456789abcdef", "0v".repeat(26));
        for text in [key.clone(), format!("it is {key}."), format!("accord_ {key}")] {
            assert!(contains_key(&text), "{text}");
        }
        let cut = &key[..key.len() - 25];
        for text in ["", "accord_", "accord_live_session_of_the_team", "accord_é_x", cut] {
            assert!(!contains_key(text), "{text}");
        }
    }
}
