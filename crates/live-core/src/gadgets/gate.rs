//! Whether an app allows the gadgets of a contract.

use std::collections::BTreeMap;

use accord_contract::{Code, closest::closest, rule};

use super::{ClientCapabilities, GadgetDescriptor, GadgetUse};
use crate::contract::ContractRefusal;
use crate::violation::{MOST_VIOLATIONS, Violation};

/// Checks the gadgets of a contract against the packages and the public values of an app. The
/// first gate that refuses decides: names that are used twice, then packages, then public values.
/// An unknown gadget counts before one that is in another package.
///
/// Clauses: GGUI-GADGET-DUPLICATE, GGUI-GADGET-REGISTERED, GGUI-GADGET-PACKAGE, GGUI-GADGET-ENV,
/// GGUI-GADGET-ORDER.
pub fn check_gadgets<'e>(
    used: Option<&ClientCapabilities>,
    registered: &[GadgetDescriptor],
    public_env: impl IntoIterator<Item = &'e str>,
) -> Result<(), ContractRefusal> {
    let used = used.map_or(&[][..], |capabilities| capabilities.gadgets.as_slice());
    let public_env: Vec<_> = public_env.into_iter().collect();
    let gates = [
        (Code::GguiToolDuplicateGadgetHook, rule!(duplicates(used); DuplicatesTaken => Vec::new())),
        (
            Code::GguiToolGadgetNotRegistered,
            rule!(unknown(used, registered); UnknownIsElsewhere => Vec::new()),
        ),
        (Code::GguiToolGadgetPackageMismatch, elsewhere(used, registered)),
        (
            Code::GguiToolGadgetPublicEnvMissing,
            rule!(unset(used, registered, &public_env); EnvUnchecked => Vec::new()),
        ),
    ];
    let mut refusing = gates.into_iter().filter(|(_, violations)| !violations.is_empty());
    match rule!(refusing.next(); LastGateDecides => refusing.next_back()) {
        Some((code, violations)) => Err(ContractRefusal { code, violations }),
        None => Ok(()),
    }
}

/// Two packages cannot export the same name into one module.
fn duplicates(used: &[GadgetUse]) -> Vec<Violation> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let mut violations = Vec::new();
    for gadget in used {
        match seen.get(gadget.export.as_str()) {
            Some(_) if violations.len() >= MOST_VIOLATIONS => break,
            Some(package) => {
                let message = format!("'{}' is also used from {package}", gadget.export);
                violations.push(Violation::new(field(gadget), message));
            }
            None => {
                seen.insert(&gadget.export, &gadget.package);
            }
        }
    }
    violations
}

fn unknown(used: &[GadgetUse], registered: &[GadgetDescriptor]) -> Vec<Violation> {
    let known = || registered.iter().flat_map(|package| package.exports.iter().map(String::as_str));
    let unknown = used.iter().filter(|gadget| known().all(|name| name != gadget.export));
    let violations = unknown.take(MOST_VIOLATIONS).map(|gadget| {
        let meant = closest(&gadget.export, known());
        let hint = meant.map(|meant| format!("; did you mean '{meant}'?")).unwrap_or_default();
        let message = format!("the app has no gadget '{}'{hint}", gadget.export);
        Violation::new(field(gadget), message)
    });
    violations.collect()
}

fn elsewhere(used: &[GadgetUse], registered: &[GadgetDescriptor]) -> Vec<Violation> {
    let wrong = used.iter().filter(|gadget| descriptor(gadget, registered).is_none());
    let violations = wrong.take(MOST_VIOLATIONS).map(|gadget| {
        let holder = registered.iter().find(|package| package.exports.contains(&gadget.export));
        let holder = holder.map_or("another package", |package| package.package.as_str());
        let message = format!("'{}' is a gadget of {holder}", gadget.export);
        Violation::new(field(gadget), message).expecting(holder, gadget.package.as_str())
    });
    violations.collect()
}

/// Packages that the contract does not use need nothing.
fn unset(used: &[GadgetUse], registered: &[GadgetDescriptor], env: &[&str]) -> Vec<Violation> {
    let needed = used.iter().flat_map(|gadget| {
        let package = descriptor(gadget, registered);
        package.into_iter().flat_map(|package| &package.requires).map(move |key| (gadget, key))
    });
    let missing = needed.filter(|(_, key)| !env.contains(&key.as_str()));
    let violations = missing.take(MOST_VIOLATIONS).map(|(gadget, key)| {
        let message = format!("'{}' needs the public value {key}", gadget.export);
        Violation::new(field(gadget), message).expecting(key.as_str(), "undefined")
    });
    violations.collect()
}

fn descriptor<'d>(
    gadget: &GadgetUse,
    registered: &'d [GadgetDescriptor],
) -> Option<&'d GadgetDescriptor> {
    let mut known = registered.iter();
    known.find(|known| {
        let is_package = rule!(known.package == gadget.package; AnyPackage => true);
        is_package && known.exports.contains(&gadget.export)
    })
}

fn field(gadget: &GadgetUse) -> String {
    format!("clientCapabilities.gadgets.{}.{}", gadget.package, gadget.export)
}
