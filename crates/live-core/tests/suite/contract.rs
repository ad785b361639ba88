//! Contracts: how they are read, the rules between their parts, and the data under them.

use accord_contract::{Code, Failure};
use accord_live_core::contract::{
    CompiledContract, ContractRefusal, DataContract, Mode, Replay, check, derived_default,
};
use accord_live_core::violation::Violation;
use serde_json::{Value, json};

fn todo() -> Value {
    json!({
        "propsSpec": {"properties": {
            "title": {"schema": {"type": "string"}, "required": true},
        }},
        "actionSpec": {
            "toggle": {
                "label": "Toggle",
                "schema": {"type": "object", "required": ["id"],
                    "properties": {"id": {"type": "string"}}},
                "nextStep": "todo_toggle",
            },
            "refresh": {"label": "Refresh"},
        },
        "streamSpec": {
            "log": {"schema": {"type": "string"}, "replay": "all", "complete": true},
            "state": {
                "schema": {"type": "object", "properties": {"n": {"type": "number"}}},
                "mode": "replace",
                "source": {"tool": "todo_state", "args": {"all": true}},
            },
        },
        "contextSpec": {"selected": {"schema": {"type": "string"}, "default": "none"}},
        "agentCapabilities": {"tools": {
            "todo_toggle": {"toolInfo": {"inputSchema": {
                "type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "note": {"type": "string"}},
            }}},
            "todo_state": {
                "toolInfo": {
                    "inputSchema": {"type": "object"},
                    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
                "serverInfo": {"name": "todo", "version": "1.0"},
                "usage": "When it is asked for.",
                "example": {"input": {}, "output": {"n": 1}},
            },
        }},
        "clientCapabilities": {"gadgets": {"@acme/maps": {"useMap": {}}}},
        "x-kept": {"a": 1},
    })
}

/// The contract with one change.
fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut contract = todo();
    change(&mut contract);
    contract
}

fn refusal(contract: &Value) -> ContractRefusal {
    CompiledContract::read(contract).expect_err(&contract.to_string())
}

/// The only violation of a contract.
fn only(contract: &Value) -> Violation {
    let violations = refusal(contract).violations;
    assert_eq!(violations.len(), 1, "{violations:?}");
    violations.into_iter().next().expect("a violation")
}

fn compiled() -> CompiledContract {
    CompiledContract::read(&todo()).unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

#[test]
fn a_contract_is_read_with_its_defaults_and_kept_as_it_was() {
    let contract = DataContract::read(&todo()).unwrap();
    assert_eq!(Value::Object(contract.document().clone()), todo());
    let actions = contract.actions.as_ref().unwrap();
    assert_eq!(actions.names().collect::<Vec<_>>(), ["toggle", "refresh"]);
    assert_eq!(actions.get("toggle").unwrap().next_step.as_deref(), Some("todo_toggle"));
    let streams = contract.streams.as_ref().unwrap();
    let log = streams.get("log").unwrap();
    assert_eq!((log.mode, log.replay, log.complete), (Mode::Append, Replay::All, true));
    let state = streams.get("state").unwrap();
    assert_eq!((state.mode, state.replay, state.complete), (Mode::Replace, Replay::None, false));
    assert_eq!(state.source.as_ref().unwrap().args["all"], true);
    assert_eq!(contract.context.as_ref().unwrap().get("selected").unwrap().debounce_ms, 300);
    let tool = contract.tool("todo_state").unwrap();
    assert_eq!(
        (tool.server.as_deref(), tool.server_version.as_deref()),
        (Some("todo"), Some("1.0"))
    );
    assert_eq!(contract.gadgets.as_ref().unwrap().gadgets[0].export, "useMap");
    assert_eq!(check(&contract), []);
}

#[test]
fn an_empty_contract_holds() {
    let contract = CompiledContract::read(&json!({"later": 1})).unwrap();
    assert_eq!(contract.contract().document()["later"], 1);
    assert!(contract.check_action(&json!({"action": "anything"})).is_ok());
    assert!(contract.check_props(&json!({})).is_empty());
    assert_eq!(contract.check_props(&json!({"a": 1}))[0].field, "a");
}

#[test]
fn every_wrong_member_is_reported_at_its_place() {
    type Case = (&'static str, fn(&mut Value), &'static str);
    let cases: [Case; 20] = [
        ("label", |c| c["actionSpec"]["toggle"]["label"] = json!(1), "actionSpec.toggle.label"),
        ("no label", |c| c["actionSpec"]["toggle"] = json!({}), "actionSpec.toggle.label"),
        ("unknown", |c| c["actionSpec"]["toggle"]["lable"] = json!(1), "actionSpec.toggle.lable"),
        (
            "empty step",
            |c| c["actionSpec"]["toggle"]["nextStep"] = json!(""),
            "actionSpec.toggle.nextStep",
        ),
        (
            "confirm",
            |c| c["actionSpec"]["toggle"]["confirm"] = json!("yes"),
            "actionSpec.toggle.confirm",
        ),
        (
            "schema",
            |c| c["actionSpec"]["toggle"]["schema"] = json!("string"),
            "actionSpec.toggle.schema",
        ),
        ("entry", |c| c["streamSpec"]["log"] = json!(1), "streamSpec.log"),
        ("mode", |c| c["streamSpec"]["log"]["mode"] = json!("prepend"), "streamSpec.log.mode"),
        ("replay", |c| c["streamSpec"]["log"]["replay"] = json!(true), "streamSpec.log.replay"),
        (
            "source",
            |c| c["streamSpec"]["state"]["source"] = json!({}),
            "streamSpec.state.source.tool",
        ),
        (
            "args",
            |c| c["streamSpec"]["state"]["source"]["args"] = json!([]),
            "streamSpec.state.source.args",
        ),
        (
            "flat schema",
            |c| c["contextSpec"]["selected"] = json!({"default": ""}),
            "contextSpec.selected.schema",
        ),
        (
            "debounce",
            |c| c["contextSpec"]["selected"]["debounceMs"] = json!(-1),
            "contextSpec.selected.debounceMs",
        ),
        ("no properties", |c| c["propsSpec"] = json!({}), "propsSpec.properties"),
        (
            "required",
            |c| c["propsSpec"]["properties"]["title"]["required"] = json!("yes"),
            "propsSpec.properties.title.required",
        ),
        ("spec", |c| c["actionSpec"] = json!([]), "actionSpec"),
        (
            "tool",
            |c| c["agentCapabilities"]["tools"]["todo_toggle"] = json!({}),
            "agentCapabilities.tools.todo_toggle.toolInfo",
        ),
        (
            "input",
            |c| c["agentCapabilities"]["tools"]["todo_toggle"]["toolInfo"] = json!({}),
            "agentCapabilities.tools.todo_toggle.toolInfo.inputSchema",
        ),
        (
            "server",
            |c| c["agentCapabilities"]["tools"]["todo_state"]["serverInfo"] = json!({}),
            "agentCapabilities.tools.todo_state.serverInfo.name",
        ),
        (
            "gadget",
            |c| c["clientCapabilities"]["gadgets"]["@acme/maps"] = json!({"map": {}}),
            "clientCapabilities.gadgets.@acme/maps.map",
        ),
    ];
    for (case, change, field) in cases {
        let refusal = refusal(&with(change));
        assert_eq!(refusal.violations[0].field, field, "{case}");
        assert_eq!(refusal.code, Code::GguiToolContractValidationFailed, "{case}");
        assert_eq!(refusal.violations[0].keyword, None, "{case}");
    }
    let mistyped = only(&with(|c| c["actionSpec"]["toggle"]["lable"] = json!(1)));
    assert!(mistyped.message.contains("did you mean 'label'?"), "{}", mistyped.message);
    // Members beside the tools are kept, as at the top.
    let beside = with(|c| c["agentCapabilities"]["later"] = json!(1));
    CompiledContract::read(&beside).expect("a later member");
    assert_eq!(only(&json!([])).field, "");
}

#[test]
fn every_violation_is_reported_in_one_round() {
    let contract = with(|c| {
        c["actionSpec"]["toggle"]["label"] = json!(1);
        c["streamSpec"]["log"]["mode"] = json!(1);
        c["contextSpec"]["selected"]["debounceMs"] = json!(1.5);
    });
    let refusal = refusal(&contract);
    assert_eq!(refusal.violations.len(), 3);
}

#[test]
fn members_of_earlier_versions_are_refused_with_what_replaced_them() {
    for member in
        ["libraries", "dispatch", "wiredTools", "clientTools", "broadcast", "capabilities"]
    {
        let violation = only(&with(|c| c[member] = json!({})));
        assert_eq!(
            (violation.field.as_str(), violation.known_code()),
            (member, Some(Code::GguiCtrRetiredField))
        );
    }
    let violation = only(&with(|c| c["actionSpec"]["toggle"]["dispatch"] = json!({})));
    assert_eq!(violation.known_code(), Some(Code::GguiCtrRetiredField));
    let violation = only(&with(|c| c["clientCapabilities"]["libraries"] = json!({})));
    assert_eq!(violation.known_code(), Some(Code::GguiCtrRetiredField));
}

#[test]
fn names_are_unique_and_not_the_servers() {
    let twice = |spec: &str, name: &str| {
        with(|c| c[spec][name] = json!({"schema": {"type": "string"}, "default": "a"}))
    };
    let slot = twice("contextSpec", "refresh");
    let violation = only(&slot);
    assert_eq!(violation.field, "actionSpec.refresh");
    assert_eq!(violation.known_code(), Some(Code::GguiCtrDupName));
    assert_eq!(refusal(&slot).code, Code::GguiToolNameInvariantViolation);

    for (spec, entry) in [
        ("actionSpec", json!({"label": "x"})),
        ("streamSpec", json!({"schema": {"type": "string"}})),
        ("contextSpec", json!({"schema": {"type": "string"}})),
    ] {
        for name in ["_ggui:preview", "_ggui:anything"] {
            let violation = only(&with(|c| c[spec][name] = entry.clone()));
            assert_eq!(violation.field, format!("{spec}.{name}"));
            assert_eq!(violation.known_code(), Some(Code::GguiCtrReservedName));
        }
    }
}

#[test]
fn tools_that_are_named_are_declared() {
    let contract = with(|c| c["actionSpec"]["refresh"]["nextStep"] = json!("todo_refresh"));
    let violation = only(&contract);
    assert_eq!(violation.field, "actionSpec.refresh.nextStep");
    assert_eq!(violation.known_code(), Some(Code::GguiCtrRefNextStep));
    assert_eq!(refusal(&contract).code, Code::GguiToolCrossReferenceUnresolved);
    let contract = with(|c| c["streamSpec"]["log"]["source"] = json!({"tool": "tail"}));
    let violation = only(&contract);
    assert_eq!(violation.field, "streamSpec.log.source.tool");
    assert_eq!(violation.known_code(), Some(Code::GguiCtrRefStreamSource));
    let failure = Failure::from(refusal(&contract));
    assert_eq!(failure.code, Code::GguiToolCrossReferenceUnresolved);
    let listed = &failure.details.unwrap()["violations"][0];
    assert_eq!(listed["code"], "CTR_REF_STREAM_SOURCE");
    // Two kinds of violations have the common code.
    let both = with(|c| {
        c["streamSpec"]["log"]["source"] = json!({"tool": "tail"});
        c["actionSpec"]["_ggui:x"] = json!({"label": "x"});
    });
    assert_eq!(refusal(&both).code, Code::GguiToolContractValidationFailed);
}

#[test]
fn schemas_say_what_data_is_like() {
    let prop = |schema: Value| with(|c| c["propsSpec"]["properties"]["title"]["schema"] = schema);
    for (schema, field) in [
        (json!({}), "propsSpec.title"),
        (json!({"enum": ["a"]}), "propsSpec.title"),
        (json!({"type": "array"}), "propsSpec.title"),
        (json!({"type": ["array", "null"]}), "propsSpec.title"),
        (json!({"type": "array", "items": {}}), "propsSpec.title.items"),
        (json!({"type": "object", "properties": {"a": {}}}), "propsSpec.title.a"),
        (json!({"oneOf": [{"type": "string"}, {}]}), "propsSpec.title.oneOf[1]"),
        (json!({"anyOf": [{"const": 1}]}), "propsSpec.title.anyOf[0]"),
        (json!({"type": "object", "required": ["b"]}), "propsSpec.title.b"),
    ] {
        let violation = only(&prop(schema.clone()));
        assert_eq!(violation.field, field, "{schema}");
    }
    let violation = only(&with(|c| c["propsSpec"]["properties"] = json!({})));
    assert_eq!(violation.field, "propsSpec");

    let contract = with(|c| c["streamSpec"]["log"]["schema"]["lenght"] = json!(1));
    let violation = only(&contract);
    assert_eq!(violation.field, "streamSpec.log.schema.lenght");
    assert_eq!(violation.known_code(), Some(Code::GguiCtrSchemaMetaInvalid));
    assert_eq!(refusal(&contract).code, Code::GguiToolContractSchemaInvalid);
    let violation = only(&prop(json!({"type": "string", "format": "no"})));
    assert_eq!(violation.field, "propsSpec.properties.title.schema.format");
}

#[test]
fn slots_have_names_and_first_values() {
    let slot = |name: &str, entry: Value| only(&with(|c| c["contextSpec"][name] = entry.clone()));
    let text = json!({"schema": {"type": "string"}});
    for name in ["__proto__", "constructor", "prototype", "a-b", "1a", "", "title"] {
        assert_eq!(slot(name, text.clone()).field, format!("contextSpec.{name}"), "{name}");
    }
    let wrong = slot("count", json!({"schema": {"type": "number"}, "default": "one"}));
    assert_eq!(
        (wrong.field.as_str(), wrong.keyword.as_deref()),
        ("contextSpec.count.default", Some("type"))
    );
    for schema in [json!({"oneOf": [{"type": "string"}]}), json!({"type": ["string", "null"]})] {
        assert_eq!(slot("open", json!({"schema": schema})).field, "contextSpec.open");
        CompiledContract::read(&with(|c| {
            c["contextSpec"]["open"] = json!({"schema": schema, "default": "a"});
        }))
        .expect("a default");
    }
    for (name, value) in [
        ("string", json!("")),
        ("number", json!(0)),
        ("integer", json!(0)),
        ("boolean", json!(false)),
        ("object", json!({})),
        ("null", json!(null)),
    ] {
        let contract = json!({"contextSpec": {"a": {"schema": {"type": name}}}});
        let contract = DataContract::read(&contract).unwrap();
        let entry = contract.context.as_ref().unwrap().get("a").unwrap();
        assert_eq!(derived_default(entry), Some(value));
    }
}

#[test]
fn an_action_is_declared_and_its_data_matches() {
    let contract = compiled();
    let payload = json!({"action": "toggle", "data": {"id": "a"}});
    let action = contract.check_action(&payload).unwrap();
    assert_eq!((action.name, action.tool), (Some("toggle"), Some("todo_toggle")));
    let own = json!({"action": "toggle", "data": {"id": "a"}, "tool": "other"});
    assert_eq!(contract.check_action(&own).unwrap().tool, Some("other"));
    // A void action tolerates data.
    let void = json!({"action": "refresh", "data": {"x": 1}});
    assert_eq!(contract.check_action(&void).unwrap().tool, None);

    for (payload, field, keyword) in [
        (json!("toggle"), "value", None),
        (json!({}), "action", None),
        (json!({"action": ""}), "action", None),
        (json!({"action": 1}), "action", None),
        (json!({"action": "doesNotExist", "data": {}}), "action", None),
        (json!({"action": "toggle"}), "toggle.data", Some("type")),
        (json!({"action": "toggle", "data": 1}), "toggle.data", Some("type")),
        (json!({"action": "toggle", "data": {"id": 41}}), "toggle.data.id", Some("type")),
        (json!({"action": "toggle", "data": {}}), "toggle.data.id", Some("required")),
    ] {
        let violations = contract.check_action(&payload).expect_err(&payload.to_string());
        assert_eq!(
            (violations[0].field.as_str(), violations[0].keyword.as_deref()),
            (field, keyword)
        );
    }
    let violations = contract.check_action(&json!({"action": "doesNotExist"})).unwrap_err();
    assert!(violations[0].message.contains("toggle, refresh"), "{}", violations[0].message);
    // An empty actionSpec declares no action.
    let none = CompiledContract::read(&json!({"actionSpec": {}})).unwrap();
    assert!(none.check_action(&json!({"action": "a"})).is_err());
}

#[test]
fn a_payload_fits_its_channel() {
    let contract = compiled();
    let emission = contract.check_stream("log", &json!("line"), true).unwrap();
    assert_eq!((emission.mode, emission.replay), (Mode::Append, Replay::All));
    let emission = contract.check_stream("state", &json!({"n": 1}), false).unwrap();
    assert_eq!((emission.mode, emission.replay), (Mode::Replace, Replay::None));
    let fields = |channel: &str, payload: Value, complete| {
        let violations = contract.check_stream(channel, &payload, complete).unwrap_err();
        violations.into_iter().map(|violation| violation.field).collect::<Vec<_>>()
    };
    assert_eq!(fields("state", json!({"n": "1"}), false), ["state.payload.n"]);
    assert_eq!(fields("log", json!(1), false), ["log.payload"]);
    assert_eq!(fields("state", json!({"n": 1}), true), ["complete"]);
    assert_eq!(fields("other", json!(1), false), ["channel"]);
    // A mistyped reserved name is an unknown channel.
    assert_eq!(fields("_ggui:preveiw", json!({}), false), ["channel"]);
    assert_eq!(fields("_ggui:props", json!({}), false), ["channel"]);
    assert_eq!(fields("_ggui:lifecycle", json!({}), false), ["kind"]);
    let started = json!({"kind": "render_started", "sessionId": "s", "intent": "i"});
    let emission = contract.check_stream("_ggui:lifecycle", &started, false).unwrap();
    assert_eq!(emission.replay, Replay::All);
}

#[test]
fn a_value_fits_its_slot() {
    let contract = compiled();
    assert!(contract.check_context("selected", &json!("a")).is_empty());
    assert_eq!(contract.check_context("selected", &json!(1))[0].field, "selected.value");
    assert_eq!(contract.check_context("other", &json!(1))[0].field, "contextSpec");
}

#[test]
fn a_contract_has_a_largest_size() {
    let label = |size: usize| {
        let action = json!({"label": "x".repeat(size)});
        json!({"actionSpec": {"go": action}})
    };
    CompiledContract::read(&label(400_000)).unwrap();
    let refused = CompiledContract::read(&label(600_000)).unwrap_err();
    assert_eq!(refused.violations[0].known_code(), Some(Code::GguiCtrSchemaTooLarge));
}
