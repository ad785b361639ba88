//! Props: their enforced schema, and their changes.

use accord_contract::{Code, Object, Value};
use accord_live_core::contract::DataContract;
use accord_live_core::props::{EnforcedProps, PropsUpdate};
use accord_live_core::schema::Quota;
use accord_live_core::session::{Content, set_props};
use accord_live_core::violation::{Source, Violation, ViolationDetails};
use serde_json::json;

use super::parts::{NOW, appended, at, contract, project, session, time};
use crate::{BadCall, Call, Outcome};

pub(super) fn props_schema(call: &Call) -> Outcome {
    let mut document = Object::new();
    if let Some(spec) = call.args.get("propsSpec") {
        document.insert("propsSpec".into(), spec.clone());
    }
    let wrong = |_| BadCall::kind("propsSpec", "a propsSpec");
    let contract = DataContract::read(&Value::Object(document)).map_err(wrong)?;
    let props = EnforcedProps::build(contract.props.as_ref(), &mut Quota::default());
    let props = props.map_err(wrong)?;
    let samples = call.optional_list("samples")?;
    let valid: Vec<bool> = samples.iter().map(|props_| props.check(props_).is_empty()).collect();
    Ok(json!({
        "schema": props.document(),
        // The order of members is a part of the answer, and JSON objects have none.
        "text": props.document().to_string(),
        "hash": props.hash(),
        "profile": props.profile().as_str(),
        "valid": valid,
    }))
}

/// The props after an update.
pub(super) fn props_update(call: &Call) -> Outcome {
    match PropsUpdate::read(call.object("update")?) {
        Err(violations) => {
            let code = violations.first().and_then(Violation::known_code);
            Ok(json!({"accepted": false, "code": code.map(Code::as_str)}))
        }
        Ok(update) => {
            let mut outcome = json!({"accepted": true});
            if let Some(props) = update.apply(call.object("current")?) {
                outcome["props"] = Value::Object(props);
            }
            Ok(outcome)
        }
    }
}

pub(super) fn props_change(call: &Call) -> Outcome {
    let contract = contract(call)?;
    let source = match call.text("tool")? {
        "ggui_update" => Source::Update,
        "ggui_amend" => Source::Amend,
        _ => return Err(BadCall::kind("tool", "ggui_update or ggui_amend").into()),
    };
    let change = PropsUpdate::read(call.object("update")?).map_err(|violations| {
        ViolationDetails::new(source, violations).into_failure(Code::GguiToolContractViolation)
    })?;
    let mut session = session()?;
    session.head.has_pipe = true;
    session.head.epoch = call.optional_count("epoch")?.unwrap_or(0);
    let props = Some(call.object("current")?.clone());
    let content = Content { props, ..Content::default() };
    let project = project()?;
    let at = at(&project, time(NOW)?);
    let changed = set_props(&session, &content, &contract, &change, source, at)?;
    Ok(json!({
        "accepted": true,
        "updated": changed.is_updated,
        "epoch": changed.epoch,
        "appended": appended(&changed.delta),
        "frame": changed.frame.as_ref().map(|frame| frame.encode("v", None)),
    }))
}
