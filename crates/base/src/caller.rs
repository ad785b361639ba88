//! The authenticated caller of a request.

use crate::{Access, KeyScope};

/// The caller of a request, as a door has authenticated it.
#[derive(Clone, Debug)]
pub struct Caller {
    access: Access,
    kind: Kind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Kind {
    /// A process that can read the data folder: this one, or a client of the folder's socket.
    Owner,
    /// A client on this machine, on a host without keys.
    Local,
    /// The holder of a key.
    Key(String),
}

impl Caller {
    /// The owner of the data folder.
    pub fn owner() -> Self {
        Self { access: Access::open(), kind: Kind::Owner }
    }

    /// A client on this machine, on a host without keys.
    pub fn local() -> Self {
        Self { access: Access::open(), kind: Kind::Local }
    }

    /// The holder of a key.
    pub fn key(key_id: impl Into<String>, scope: &KeyScope) -> Self {
        Self { access: Access::of(scope), kind: Kind::Key(key_id.into()) }
    }

    /// What the caller may do.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether the caller owns the data folder, and so may name files on this machine.
    pub fn is_owner(&self) -> bool {
        self.kind == Kind::Owner
    }

    /// The id of the caller's key, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Key(id) => Some(id),
            Kind::Owner | Kind::Local => None,
        }
    }

    /// Whether the caller was accepted without a key because the host has none.
    pub fn is_local(&self) -> bool {
        self.kind == Kind::Local
    }

    /// The caller's name in the log. It is never the key itself.
    pub fn label(&self) -> &str {
        match &self.kind {
            Kind::Owner => "owner",
            Kind::Local => "local",
            Kind::Key(id) => id,
        }
    }
}
