//! The MCP tools that a published page or gadget belongs to, and how a search finds it by them.
//!
//! A binding is a claim of the publisher. It is no part of the identity of a contract.

use accord_contract::{Object, Value, rule, wire_enum};

use crate::contract::{Reader, join};
use crate::{gadgets::names::is_tool, violation::Violation};

/// The most bindings of one manifest.
pub const MOST_BINDINGS: usize = 16;

/// A tool, of one server or of any.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    /// The server; none for any server.
    pub server: Option<String>,
    pub tool: String,
}

wire_enum! {
    /// Where bindings come from.
    pub enum BindingSource("GguiBindingSource", closed) {
        /// The manifest lists them.
        Declared = "declared",
        /// They follow from the contract.
        Derived = "derived",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bindings {
    pub source: BindingSource,
    /// The bindings, at least one.
    pub entries: Vec<Binding>,
}

/// The bindings of a manifest, if it has any. A list in the manifest wins. Else those of a
/// blueprint follow from its contract: the tools of its props, then those of its channels. The
/// error is what is wrong with the list of the manifest (`manifest_invalid`).
///
/// Clauses: GGUI-BINDING-DECLARED, GGUI-BINDING-DERIVED, GGUI-BINDING-INVALID.
pub fn bindings(manifest: &Value) -> Result<Option<Bindings>, Vec<Violation>> {
    if let Some(declared) = manifest.get("mcpTools") {
        let entries = declared_bindings(declared)?;
        return Ok(Some(Bindings { source: BindingSource::Declared, entries }));
    }
    let contract = manifest.get("contract");
    let contract = contract.filter(|_| manifest.get("kind") == Some(&"blueprint".into()));
    let entries = contract.map(derived_bindings).unwrap_or_default();
    let source = BindingSource::Derived;
    Ok((!entries.is_empty()).then_some(Bindings { source, entries }))
}

fn declared_bindings(declared: &Value) -> Result<Vec<Binding>, Vec<Violation>> {
    let field = "mcpTools";
    let mut reader = Reader::default();
    let Value::Array(items) = declared else {
        reader.wrong(field, "a list", declared);
        return reader.finish(None);
    };
    if items.is_empty() || items.len() > MOST_BINDINGS {
        let message = format!("a manifest lists 1 to {MOST_BINDINGS} tools");
        reader.report(Violation::new(field, message));
        return reader.finish(None);
    }
    let mut entries: Vec<Binding> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let field = format!("{field}[{index}]");
        let Some(members) = reader.object(item, &field) else { continue };
        let Some(binding) = read_binding(members, &field, &mut reader) else { continue };
        if rule!(entries.contains(&binding); BindingsTwice => false) {
            reader.report(Violation::new(&field, "this tool of this server is listed twice"));
        }
        entries.push(binding);
    }
    reader.finish(Some(entries))
}

fn read_binding(members: &Object, field: &str, reader: &mut Reader) -> Option<Binding> {
    reader.only(members, field, &["server", "tool"]);
    reader.required(members, field, "tool");
    let mut name = |member: &str| {
        let text = reader.text(members, field, member)?;
        if !is_tool(&text) {
            let message = "a name has 1 to 128 letters, digits, dots, hyphens and underscores";
            reader.report(Violation::new(join(field, member), message));
        }
        Some(text)
    };
    let server = name("server");
    Some(Binding { server, tool: name("tool")? })
}

/// The tools that a contract names. Names that no tool can have are left out, because an agent
/// wrote them, not the publisher.
fn derived_bindings(contract: &Value) -> Vec<Binding> {
    let tools = |specs: &str, tool: &'static str| {
        let entries = contract.pointer(specs).and_then(Value::as_object);
        let entries = entries.into_iter().flat_map(|entries| entries.values());
        entries.filter_map(move |entry| entry.pointer(tool).and_then(Value::as_str))
    };
    let named =
        tools("/propsSpec/properties", "/sourceTool").chain(tools("/streamSpec", "/source/tool"));
    let mut found: Vec<Binding> = Vec::new();
    for tool in named.filter(|tool| is_tool(tool)) {
        let binding = Binding { server: None, tool: tool.to_owned() };
        let has_room = rule!(found.len() < MOST_BINDINGS; BindingsUncapped => true);
        if !found.contains(&binding) && has_room {
            found.push(binding);
        }
    }
    found
}

/// Whether a search by tool and server finds an artifact with these bindings. One binding must
/// satisfy both. A binding for any server is not found by a server.
///
/// Clauses: GGUI-BINDING-FILTER.
pub fn is_found(bindings: &[Binding], tool: Option<&str>, server: Option<&str>) -> bool {
    if tool.is_none() && server.is_none() {
        return true;
    }
    bindings.iter().any(|binding| {
        tool.is_none_or(|tool| binding.tool == tool) && server.is_none_or(|server| {
            let bound = binding.server.as_deref();
            rule!(bound == Some(server); BareMatchesServers => bound.is_none_or(|b| b == server))
        })
    })
}
