//! Signatures of event lines, in trees that git carries. Each copy of a tree has a key of its own
//! in its state folder, which git ignores. A line has a signature over everything else in it, with
//! the public key. So a line in the name of another copy cannot be written without the key of that
//! copy.
//!
//! A person confirms the public key of another copy once; its writers can get new ids after that.

use accord_canon::sha256;
use accord_contract::{Object, Value};
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

    /// Adds public key and signature to a line.
    pub(crate) fn sign(&self, line: &mut Object) {
        let signature = self.pair.sign(&message(line));
        let signed = format!("{}.{}", self.public(), BASE64.encode(signature.as_ref()));
        line.insert(SIGNED.to_owned(), signed.into());
    }
}

/// What is needed to check a signature later.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    text: Box<str>,
    message: [u8; 32],
}

impl Signed {
    /// Of a line, if it has a signature. It is not checked.
    pub(crate) fn of(line: &Object) -> Option<Self> {
        let text = line.get(SIGNED)?.as_str()?.into();
        Some(Self { text, message: message(line) })
    }

    /// The public key that a line names.
    pub(crate) fn key(&self) -> &str {
        self.text.split_once('.').map_or("", |(key, _)| key)
    }

    /// The public key that signed the line, if the signature is right.
    pub(crate) fn signer(&self) -> Option<&str> {
        let (public, signature) = self.text.split_once('.')?;
        let key = BASE64.decode(public.as_bytes()).ok()?;
        let signature = BASE64.decode(signature.as_bytes()).ok()?;
        UnparsedPublicKey::new(&ED25519, key).verify(&self.message, &signature).ok()?;
        Some(public)
    }
}

/// What is signed: the digest of all members but the signature.
fn message(line: &Object) -> [u8; 32] {
    let members = line.iter().filter(|(name, _)| *name != SIGNED);
    let members: Object = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    let text = format!("{CONTEXT}\n{}", Value::Object(members));
    *sha256(text.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(front: &str) -> Object {
        let line = json!({"eventId": 1, "taskId": "TASK-2026-02-09-001", "front": front});
        line.as_object().cloned().expect("an object")
    }

    #[test]
    fn a_signature_is_of_one_key_and_one_line() {
        let key = Key::read(&Key::make([[1; 16], [2; 16]])).expect("a key");
        let other = Key::read(&Key::make([[1; 16], [3; 16]])).expect("a key");
        let mut signed = line("0123");
        key.sign(&mut signed);
        let signer = |line: &Object| Signed::of(line)?.signer().map(str::to_owned);
        assert_eq!(signer(&signed), Some(key.public()));
        assert_eq!(signer(&line("0123")), None);
        let mut changed = signed.clone();
        changed.insert("front".to_owned(), "0124".into());
        assert_eq!(signer(&changed), None);
        let text = signed[SIGNED].as_str().expect("a text").to_owned();
        let (_, signature) = text.split_once('.').expect("two parts");
        changed = line("0123");
        changed.insert(SIGNED.to_owned(), format!("{}.{signature}", other.public()).into());
        assert_eq!(signer(&changed), None);
        changed.insert(SIGNED.to_owned(), "no signature".into());
        assert_eq!(signer(&changed), None);
    }
}
