//! Who asks.

use crate::{Access, KeyScope};

/// Who asks, as a door has found out.
#[derive(Clone, Debug)]
pub struct Caller {
    access: Access,
    kind: Kind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Kind {
    /// Whoever can reach the data folder anyway: this process, or one that came through the folder's socket.
    Owner,
    /// Somebody on this machine, on a host without keys.
    Local,
    /// The holder of a key.
    Key(String),
}

impl Caller {
    /// Whoever has the data folder.
    pub fn owner() -> Self {
        Self {
            access: Access::open(),
            kind: Kind::Owner,
        }
    }

    /// Somebody on this machine, on a host that has no keys.
    pub fn local() -> Self {
        Self {
            access: Access::open(),
            kind: Kind::Local,
        }
    }

    /// The holder of a key.
    pub fn key(key_id: impl Into<String>, scope: &KeyScope) -> Self {
        Self {
            access: Access::of(scope),
            kind: Kind::Key(key_id.into()),
        }
    }

    /// What the caller may do.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether the caller has the data folder, and so may name files on this machine.
    pub fn is_owner(&self) -> bool {
        self.kind == Kind::Owner
    }

    /// The id of the caller's key, where the caller has one.
    pub fn key_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Key(id) => Some(id),
            Kind::Owner | Kind::Local => None,
        }
    }

    /// Whether the caller was let in because the host has no keys.
    pub fn is_local(&self) -> bool {
        self.kind == Kind::Local
    }

    /// Who it is, for the operator's log: never the key itself.
    pub fn label(&self) -> &str {
        match &self.kind {
            Kind::Owner => "owner",
            Kind::Local => "local",
            Kind::Key(id) => id,
        }
    }
}
