//! Gadgets: their names in a contract, the gate of an app, addresses, bindings of tools.

use accord_live_core::binding::{bindings, is_found};
use accord_live_core::contract::DataContract;
use accord_live_core::gadgets::{ClientCapabilities, GadgetDescriptor, check_gadgets};
use accord_live_core::resolution::bundle_urls;
use serde_json::{Value, json};

use crate::{BadCall, Call, Outcome};

pub(super) fn client_capabilities(call: &Call) -> Outcome {
    let read = ClientCapabilities::read(call.value("clientCapabilities")?);
    Ok(json!({"accepted": read.is_ok()}))
}

pub(super) fn gadget_descriptor(call: &Call) -> Outcome {
    Ok(json!({"accepted": GadgetDescriptor::read(call.value("entry")?).is_ok()}))
}

/// Whether an app allows the gadgets of a contract.
pub(super) fn gadget_gate(call: &Call) -> Outcome {
    let contract = DataContract::read(call.value("contract")?)
        .map_err(|_| BadCall::kind("contract", "a contract"))?;
    let registered = registered(call)?;
    let env = call.object("appPublicEnv")?.keys().map(String::as_str);
    Ok(match check_gadgets(contract.gadgets.as_ref(), &registered, env) {
        Ok(()) => json!({"accepted": true}),
        Err(refusal) => json!({"accepted": false, "code": refusal.code.as_str()}),
    })
}

pub(super) fn registered(call: &Call) -> Result<Vec<GadgetDescriptor>, BadCall> {
    let read = |entry: &Value| {
        GadgetDescriptor::read(entry).map_err(|_| BadCall::kind("appGadgets", "packages"))
    };
    call.optional_list("appGadgets")?.iter().map(read).collect()
}

pub(super) fn bundle_urls_of(call: &Call) -> Outcome {
    let package = GadgetDescriptor::read(call.value("entry")?)
        .map_err(|_| BadCall::kind("entry", "a package"))?;
    let urls = bundle_urls(&package);
    let mut outcome = json!({});
    for (name, url) in [("bundleUrl", urls.bundle_url), ("styleUrl", urls.style_url)] {
        if let Some(url) = url {
            outcome[name] = url.into();
        }
    }
    Ok(outcome)
}

pub(super) fn tool_bindings(call: &Call) -> Outcome {
    Ok(match bindings(call.value("manifest")?) {
        Err(_) => json!({"code": "manifest_invalid"}),
        Ok(None) => json!({"entries": []}),
        Ok(Some(found)) => {
            let entries = found.entries.iter().map(|binding| match &binding.server {
                Some(server) => json!({"server": server, "tool": binding.tool}),
                None => json!({"tool": binding.tool}),
            });
            let entries: Vec<Value> = entries.collect();
            json!({"source": found.source.as_str(), "entries": entries})
        }
    })
}

/// Whether a search finds a manifest.
pub(super) fn binding_filter(call: &Call) -> Outcome {
    let entries = call.list("entries")?;
    // An artifact without bindings has no list at all.
    let manifest = match entries {
        [] => json!({}),
        entries => json!({"mcpTools": entries}),
    };
    let bound = bindings(&manifest).map_err(|_| BadCall::kind("entries", "bindings"))?;
    let bound = bound.map(|bound| bound.entries).unwrap_or_default();
    let (tool, server) = (call.optional_text("tool")?, call.optional_text("server")?);
    Ok(json!({"found": is_found(&bound, tool, server)}))
}
