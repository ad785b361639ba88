//! Reading a resource: a mountable slice, or one typed error.

use accord_contract::{Code, Failure, Time, rule, wire_enum};

use super::{Locator, Slice};
use crate::{AppId, session::Session};

wire_enum! {
    /// Why a read gives nothing. The list is closed.
    pub enum ReadCode("GguiReadCode", closed) {
        /// There is nothing for the caller at this address.
        NotFound = "NOT_FOUND",
        /// The UI of the session is gone.
        BlueprintUnresolvable = "BLUEPRINT_UNRESOLVABLE",
        /// This server does not keep what a read needs.
        NotSupported = "NOT_SUPPORTED",
        /// There is no way to mount the session.
        NotMountable = "NOT_MOUNTABLE",
    }
}

/// What a server keeps of sessions beyond their life in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Substrate {
    pub has_identities: bool,
    pub has_blueprints: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Readable {
    pub session: Session,
    /// The props of the asked epoch, as JSON text; `None` if there is no such epoch.
    pub props_json: Option<String>,
    pub slice: Option<Slice>,
}

#[derive(Clone, Debug)]
pub struct ReadFacts<'a> {
    pub app_id: &'a AppId,
    pub substrate: Substrate,
    /// The session at the address, of any app.
    pub found: Option<Readable>,
    /// The slice of a public UI with the key of the address. It belongs to no session.
    pub public: Option<Slice>,
    pub now: Time,
}

impl ReadCode {
    pub const fn rpc_code(self) -> i32 {
        match self {
            Self::NotFound => -32002,
            Self::BlueprintUnresolvable | Self::NotSupported | Self::NotMountable => -32006,
        }
    }

    /// The failure. Its message is constant and it has no details, so that it says nothing about
    /// what exists.
    pub fn failure(self) -> Failure {
        let (code, message) = match self {
            Self::NotFound => (Code::GguiNotFound, "there is no such resource"),
            Self::BlueprintUnresolvable => {
                (Code::GguiBlueprintUnresolvable, "the UI of the resource cannot be found")
            }
            Self::NotSupported => {
                (Code::GguiNotSupported, "this server cannot read resources of the past")
            }
            Self::NotMountable => (Code::GguiNotMountable, "the resource cannot be mounted"),
        };
        Failure::new(code, message)
    }
}

/// Reads a resource. Fails as [`ReadCode`] says.
///
/// Clauses: GGUI-RESOURCE-READ, GGUI-RESOURCE-REFUSAL-IS-MISS, GGUI-RESOURCE-EPOCH-PIN.
pub fn read(locator: &Locator, facts: ReadFacts<'_>) -> Result<Slice, ReadCode> {
    let miss = if facts.substrate.has_identities && facts.substrate.has_blueprints {
        ReadCode::NotFound
    } else {
        ReadCode::NotSupported
    };
    // A session of another app, an expired one and none at all are the same to the caller.
    let mine = |found: &Readable| {
        found.session.app_id == *facts.app_id && found.session.is_active(facts.now)
    };
    let miss = rule!(
        miss;
        RefusalSaysMore => facts.found.as_ref().map_or(miss, |_| ReadCode::BlueprintUnresolvable)
    );
    let Some(found) = facts.found.filter(mine) else {
        return mountable(facts.public.ok_or(miss)?);
    };
    let head = found.session.head.epoch;
    let epoch = rule!(locator.epoch.unwrap_or(head); PinsMove => head);
    if epoch > head {
        return Err(ReadCode::NotFound);
    }
    let mut slice = found.slice.ok_or(ReadCode::BlueprintUnresolvable)?;
    if locator.epoch.is_some() && found.props_json.is_none() {
        return Err(ReadCode::NotFound);
    }
    slice.epoch = epoch;
    slice.props_json = found.props_json;
    mountable(slice)
}

fn mountable(slice: Slice) -> Result<Slice, ReadCode> {
    if slice.is_mountable() { Ok(slice) } else { Err(ReadCode::NotMountable) }
}
