//! Signatures of event lines. Each copy of a tree has a key of its own in its state folder, which git
//! ignores. A line about a task has a signature over the front matter that it left, with the public
//! key. So a line in the name of another copy cannot be written without the key of that copy.
//!
//! A person confirms the public key of another copy once; its writers can get new ids after that.

use accord_tasks_core::TaskId;
use data_encoding::BASE64URL_NOPAD as BASE64;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

/// The member of a line with public key and signature.
pub(crate) const SIGNED: &str = "signed";
/// What is signed begins with it, so that a signature has no meaning anywhere else.
const CONTEXT: &str = "accord task event 1";

/// The key of this copy.
pub(crate) struct Key {
    pair: Ed25519KeyPair,
}

impl Key {
    /// The text of a new key.
    pub(crate) fn make(random: [[u8; 16]; 2]) -> String {
        BASE64.encode(random.as_flattened())
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let seed = BASE64.decode(text.as_bytes()).ok()?;
        Some(Self { pair: Ed25519KeyPair::from_seed_unchecked(&seed).ok()? })
    }

    pub(crate) fn public(&self) -> String {
        BASE64.encode(self.pair.public_key().as_ref())
    }

    /// Public key and signature, for a line.
    pub(crate) fn sign(&self, id: TaskId, front: &str) -> String {
        let signature = self.pair.sign(message(id, front).as_bytes());
        format!("{}.{}", self.public(), BASE64.encode(signature.as_ref()))
    }
}

/// The public key that signed a line about a task, if the signature is right.
pub(crate) fn signer<'s>(signed: &'s str, id: TaskId, front: &str) -> Option<&'s str> {
    let (public, signature) = signed.split_once('.')?;
    let key = BASE64.decode(public.as_bytes()).ok()?;
    let signature = BASE64.decode(signature.as_bytes()).ok()?;
    let key = UnparsedPublicKey::new(&ED25519, key);
    key.verify(message(id, front).as_bytes(), &signature).ok()?;
    Some(public)
}

fn message(id: TaskId, front: &str) -> String {
    format!("{CONTEXT}\n{id}\n{front}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_one_task_and_one_front_matter() {
        let key = Key::read(&Key::make([[1; 16], [2; 16]])).expect("a key");
        let other = Key::read(&Key::make([[1; 16], [3; 16]])).expect("a key");
        let (id, next) = (TaskId::parse("TASK-2026-02-09-001"), TaskId::parse("TASK-2026-02-09-002"));
        let (id, next) = (id.expect("an id"), next.expect("an id"));
        let signed = key.sign(id, "0123");
        assert_eq!(signer(&signed, id, "0123"), Some(&*key.public()));
        assert_eq!(signer(&signed, id, "0124"), None);
        assert_eq!(signer(&signed, next, "0123"), None);
        let (_, signature) = signed.split_once('.').expect("two parts");
        assert_eq!(signer(&format!("{}.{signature}", other.public()), id, "0123"), None);
        assert_eq!(signer("no signature", id, "0123"), None);
    }
}
