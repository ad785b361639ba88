//! The gadgets that a contract names (`clientCapabilities`).

use accord_contract::{Object, Value, rule};

use super::names;
use crate::contract::{Reader, join};
use crate::violation::{Violation, shorten};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClientCapabilities {
    /// Every gadget, in the order of the contract.
    pub gadgets: Vec<GadgetUse>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GadgetUse {
    pub package: String,
    /// The hook or component of the package.
    pub export: String,
    /// What it is for on this page, in place of what the package says.
    pub description: Option<String>,
    /// How it is used on this page, in place of what the package says.
    pub usage: Option<String>,
}

impl ClientCapabilities {
    /// Reads the member `clientCapabilities` of a contract, on its own.
    ///
    /// Clauses: GGUI-GADGET-WIRE.
    pub fn read(value: &Value) -> Result<Self, Vec<Violation>> {
        let mut reader = Reader::default();
        let read = Self::read_member(Some(value), &mut reader);
        reader.finish(read)
    }

    pub(crate) fn read_member(value: Option<&Value>, reader: &mut Reader) -> Option<Self> {
        let field = "clientCapabilities";
        let members = reader.object(value?, field)?;
        reader.retired(members, field, "libraries", "gadgets");
        reader.only(members, field, &["gadgets"]);
        let packages = reader.required(members, field, "gadgets")?;
        let field = "clientCapabilities.gadgets";
        let mut read = Self::default();
        for (package, exports) in reader.object(packages, field)? {
            let place = join(field, package);
            if !names::is_package(package) {
                let message = format!("'{}' is not the name of a package", shorten(package));
                reader.report(Violation::new(&place, message));
            }
            let exports = reader.object(exports, &place);
            if exports.is_some_and(Object::is_empty) {
                let message = "a package names at least one hook or component";
                reader.report(Violation::new(&place, message));
            }
            for (export, prose) in exports.into_iter().flatten() {
                read.gadgets.extend(GadgetUse::read(package, export, prose, &place, reader));
            }
        }
        Some(read)
    }
}

impl GadgetUse {
    fn read(
        package: &str,
        export: &str,
        prose: &Value,
        field: &str,
        reader: &mut Reader,
    ) -> Option<Self> {
        let place = join(field, export);
        if !names::is_hook(export) && !names::is_component(export) {
            let message =
                format!("'{}' is neither a hook (useName) nor a component (Name)", shorten(export));
            reader.report(Violation::new(&place, message));
        }
        let members = reader.object(prose, &place)?;
        if rule!(true; TransportFieldsTaken => false) {
            reader.only(members, &place, &["description", "usage"]);
        }
        Some(Self {
            package: package.to_owned(),
            export: export.to_owned(),
            description: reader.text(members, &place, "description"),
            usage: reader.text(members, &place, "usage"),
        })
    }
}
