//! The tools that pages and gadgets belong to.

use accord_live_core::binding::{Binding, BindingSource, bindings, is_found};
use serde_json::{Value, json};

/// A server, if there is one, and a tool.
type Pair = (Option<String>, String);

fn resolved(manifest: Value) -> Option<(BindingSource, Vec<Pair>)> {
    let found = bindings(&manifest).unwrap_or_else(|found| panic!("{manifest}: {found:?}"))?;
    let pair = |binding: Binding| (binding.server, binding.tool);
    Some((found.source, found.entries.into_iter().map(pair).collect()))
}

fn bare(tools: &[&str]) -> Vec<Pair> {
    tools.iter().map(|tool| (None, (*tool).to_owned())).collect()
}

fn contract() -> Value {
    json!({
        "propsSpec": {"properties": {
            "a": {"schema": {"type": "string"}, "sourceTool": "list_a"},
            "b": {"schema": {"type": "string"}, "sourceTool": "no tool"},
            "c": {"schema": {"type": "string"}},
            "d": {"schema": {"type": "string"}, "sourceTool": "list_a"},
        }},
        "streamSpec": {
            "s": {"schema": {"type": "string"}, "source": {"tool": "tail"}},
            "t": {"schema": {"type": "string"}, "source": {"tool": "list_a"}},
        },
    })
}

#[test]
fn a_list_in_the_manifest_wins() {
    let manifest = json!({"kind": "blueprint", "contract": contract(),
        "mcpTools": [{"server": "todo", "tool": "add"}, {"tool": "add"}]});
    let expected = vec![(Some("todo".to_owned()), "add".to_owned()), (None, "add".to_owned())];
    assert_eq!(resolved(manifest), Some((BindingSource::Declared, expected)));
    let gadget = json!({"kind": "gadget", "mcpTools": [{"tool": "add"}]});
    assert_eq!(resolved(gadget), Some((BindingSource::Declared, bare(&["add"]))));
}

#[test]
fn the_bindings_of_a_blueprint_follow_from_its_contract() {
    let manifest = json!({"kind": "blueprint", "contract": contract()});
    assert_eq!(resolved(manifest), Some((BindingSource::Derived, bare(&["list_a", "tail"]))));
    assert_eq!(resolved(json!({"kind": "gadget", "contract": contract()})), None);
    assert_eq!(resolved(json!({"kind": "blueprint"})), None);
    assert_eq!(resolved(json!({"kind": "blueprint", "contract": {"propsSpec": {}}})), None);
    let many =
        (0..20).map(|n| (format!("s{n:02}"), json!({"source": {"tool": format!("t{n:02}")}})));
    let many = Value::Object(many.collect());
    let (_, tools) =
        resolved(json!({"kind": "blueprint", "contract": {"streamSpec": many}})).unwrap();
    assert_eq!((tools.len(), tools[15].1.as_str()), (16, "t15"));
}

#[test]
fn a_list_with_an_error_is_refused() {
    let many: Vec<_> = (0..17).map(|n| json!({"tool": format!("t{n}")})).collect();
    for list in [
        json!([]),
        json!(many),
        json!({}),
        json!([{"tool": "a b"}]),
        json!([{"tool": "a", "server": "x/y"}]),
        json!([{"tool": "a".repeat(129)}]),
        json!([{"tool": ""}]),
        json!([{"server": "x"}]),
        json!([{"tool": "a", "more": 1}]),
        json!([{"tool": "a"}, {"tool": "a"}]),
        json!([{"tool": "a", "server": "s"}, {"tool": "a", "server": "s"}]),
        json!(["a"]),
    ] {
        assert!(bindings(&json!({"kind": "gadget", "mcpTools": list})).is_err(), "{list}");
    }
    let both = json!([{"tool": "a"}, {"tool": "a", "server": "s"}]);
    assert!(bindings(&json!({"kind": "gadget", "mcpTools": both})).is_ok());
}

#[test]
fn one_binding_satisfies_the_whole_search() {
    let manifest = json!({"kind": "gadget",
    "mcpTools": [
        {"server": "todo", "tool": "add"},
        {"tool": "list"},
        {"server": "cal", "tool": "new"},
    ]});
    let found = bindings(&manifest).unwrap().unwrap().entries;
    let search = |tool, server| is_found(&found, tool, server);
    assert!(search(None, None) && is_found(&[], None, None));
    assert!(search(Some("add"), None) && search(Some("list"), None));
    assert!(search(None, Some("todo")) && search(Some("add"), Some("todo")));
    assert!(!search(Some("new"), Some("todo")), "two bindings");
    assert!(!search(Some("list"), Some("todo")), "a binding for any server");
    assert!(!search(Some("Add"), None) && !search(None, Some("Todo")));
    assert!(!is_found(&[], Some("add"), None) && !is_found(&[], None, Some("todo")));
}
