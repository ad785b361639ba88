//! The compatibility of two contract snapshots.

use accord_contract::compat::{Rules, Snapshot, check};
use accord_contract::{Failure, Wire as _};
use serde_json::{Map, Value};

use super::answer::Answer;
use crate::{BadCall, Call};

pub(super) fn compat(call: &Call) -> Result<Answer, BadCall> {
    let (old, new) = (call.value("old")?, call.value("new")?);
    let settings = match call.args.get("rules") {
        None => Map::new(),
        Some(Value::Object(settings)) => settings.clone(),
        Some(_) => return Err(BadCall::kind("rules", "an object")),
    };
    let report = || -> Result<Value, Failure> {
        let rules = Rules::parse(&settings)?;
        let old = Snapshot::parse(old.clone())?;
        let new = Snapshot::parse(new.clone())?;
        Ok(check(&old, &new, &rules).encode())
    };
    Ok(report().into())
}
