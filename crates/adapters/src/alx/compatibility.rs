//! The compatibility of two contract snapshots.

use accord_contract::Wire as _;
use accord_contract::compat::{Rules, Snapshot, check};

use crate::{Call, Outcome};

pub(super) fn compat(call: &Call) -> Outcome {
    let (old, new) = (call.value("old")?, call.value("new")?);
    let rules = Rules::parse(&call.optional_object("rules")?.cloned().unwrap_or_default())?;
    Ok(check(&Snapshot::parse(old.clone())?, &Snapshot::parse(new.clone())?, &rules).encode())
}
