//! The names of actions, channels and slots: unique, and not the server's.

use std::collections::BTreeMap;

use accord_contract::{Code, rule};

use super::DataContract;
use crate::{reserved, violation::Violation};

/// Clauses: GGUI-CONTRACT-UNIQUE-NAMES, GGUI-CONTRACT-RESERVED-NAMES.
pub(super) fn check(contract: &DataContract) -> Vec<Violation> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut violations = Vec::new();
    for (spec, name) in names(contract) {
        found.entry(name).or_default().push(spec);
        if rule!(reserved::is_reserved(name); ReservedNamesDeclared => false) {
            let prefix = reserved::PREFIX;
            let message = format!("names that begin with {prefix} are the server's");
            let violation = Violation::new(format!("{spec}.{name}"), message)
                .expecting(format!("a name without {prefix}"), name);
            violations.push(violation.of_code(Code::GguiCtrReservedName));
        }
    }
    let most = rule!(1; NamesShared => usize::MAX);
    for (name, specs) in found.iter().filter(|(_, specs)| specs.len() > most) {
        let message = format!("'{name}' is a name of {}", specs.join(" and of "));
        let violation = Violation::new(format!("{}.{name}", specs[0]), message)
            .expecting("one spec for each name", specs.join(" + "));
        violations.push(violation.of_code(Code::GguiCtrDupName));
    }
    violations
}

/// The specs whose names share one space, with their names.
fn names(contract: &DataContract) -> impl Iterator<Item = (&'static str, &str)> {
    let actions = contract.actions.iter().flat_map(|spec| spec.names());
    let streams = contract.streams.iter().flat_map(|spec| spec.names());
    let slots = contract.context.iter().flat_map(|spec| spec.names());
    (actions.map(|name| ("actionSpec", name)))
        .chain(streams.map(|name| ("streamSpec", name)))
        .chain(slots.map(|name| ("contextSpec", name)))
}
