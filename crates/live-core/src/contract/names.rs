//! The names of actions, channels and slots: unique, and not the server's. Where an answer decides,
//! the label of an action does not name another action.

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
    if contract.answers.decides() {
        violations.extend(labels(contract));
    }
    violations
}

/// A person chooses a label, and the name is recorded. So no label is the name or the label of
/// another action, where an answer decides by a rule of Accord.
fn labels(contract: &DataContract) -> Vec<Violation> {
    let plain = |text: &str| text.trim().to_lowercase();
    let mut claimed: BTreeMap<String, &str> = BTreeMap::new();
    let actions = || contract.actions.iter().flat_map(|spec| spec.iter());
    claimed.extend(actions().map(|(name, _)| (plain(name), name)));
    let labels = actions().filter_map(|(name, entry)| {
        let other = *claimed.entry(plain(&entry.label)).or_insert(name);
        let message = format!("the label '{}' is that of the action '{other}'", entry.label);
        let violation = Violation::new(format!("actionSpec.{name}.label"), message);
        (other != name).then(|| violation.expecting("a label of its own", entry.label.clone()))
    });
    labels.collect()
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
