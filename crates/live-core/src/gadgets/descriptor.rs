//! The packages that an app has registered.

use accord_contract::{Object, Value};

use super::names;
use crate::contract::{Reader, join};
use crate::violation::Violation;

/// A registered package of gadgets. Members that are not named here are allowed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GadgetDescriptor {
    pub package: String,
    pub version: Option<String>,
    pub exports: Vec<String>,
    pub requires: Vec<String>,
    /// Where its code is, if that does not follow from the host.
    pub bundle_url: Option<String>,
    /// Where its styles are, if that does not follow from the host.
    pub style_url: Option<String>,
    pub bundle_host: Option<String>,
    pub bundle_sri: Option<String>,
}

impl GadgetDescriptor {
    /// Clauses: GGUI-GADGET-DESCRIPTOR.
    pub fn read(value: &Value) -> Result<Self, Vec<Violation>> {
        let mut reader = Reader::default();
        let read = reader.object(value, "").and_then(|members| Self::take(members, &mut reader));
        reader.finish(read)
    }

    fn take(members: &Object, reader: &mut Reader) -> Option<Self> {
        let mut form = |name: &str, is_one: fn(&str) -> bool| {
            let text = reader.text(members, "", name)?;
            if !is_one(&text) {
                reader.report(Violation::new(name, format!("'{name}' does not have its form")));
            }
            Some(text)
        };
        let version = form("version", names::is_version);
        let bundle_host = form("bundleHost", names::is_bundle_host);
        let bundle_sri = form("bundleSri", names::is_integrity);
        let package = form("package", names::is_package);
        reader.required(members, "", "package")?;
        Some(Self {
            package: package?,
            version,
            exports: Self::exports(members, reader),
            requires: Self::requires(members, reader),
            bundle_url: reader.text(members, "", "bundleUrl"),
            style_url: reader.text(members, "", "styleUrl"),
            bundle_host,
            bundle_sri,
        })
    }

    fn exports(members: &Object, reader: &mut Reader) -> Vec<String> {
        let mut exports = Vec::new();
        for (index, export) in list(members, "exports", reader).iter().enumerate() {
            let field = format!("exports[{index}]");
            let hook = export.get("hook").and_then(Value::as_str);
            let component = export.get("component").and_then(Value::as_str);
            match (hook, component) {
                (Some(name), None) if names::is_hook(name) => exports.push(name.to_owned()),
                (None, Some(name)) if names::is_component(name) => exports.push(name.to_owned()),
                _ => reader.wrong(&field, "an object with a hook or a component", export),
            }
        }
        exports
    }

    fn requires(members: &Object, reader: &mut Reader) -> Vec<String> {
        let mut requires = Vec::new();
        for (index, key) in list(members, "requires", reader).iter().enumerate() {
            match key.as_str().filter(|key| names::is_public_env(key)) {
                Some(key) => requires.push(key.to_owned()),
                None => {
                    let field = format!("requires[{index}]");
                    reader.wrong(&field, "a name that begins with GGUI_PUBLIC_APP_", key);
                }
            }
        }
        requires
    }
}

fn list<'v>(members: &'v Object, name: &str, reader: &mut Reader) -> &'v [Value] {
    match members.get(name) {
        None => &[],
        Some(Value::Array(items)) => items,
        Some(other) => {
            reader.wrong(&join("", name), "a list", other);
            &[]
        }
    }
}
