//! Gadgets: what contracts name, what apps allow, and where their code is.

use accord_contract::{Code, Failure};
use accord_live_core::gadgets::{ClientCapabilities, GadgetDescriptor, check_gadgets, names};
use accord_live_core::resolution::bundle_urls;
use serde_json::{Value, json};

fn refused(capabilities: Value) -> String {
    let violations = ClientCapabilities::read(&capabilities).expect_err(&capabilities.to_string());
    violations[0].field.clone()
}

#[test]
fn a_contract_names_packages_and_their_exports() {
    let read = |value: Value| ClientCapabilities::read(&value);
    let several = read(json!({"gadgets": {
        "@acme/maps": {"useMap": {"description": "d", "usage": "u"}, "MapView": {}},
        "leaflet": {"useLeaflet": {}},
    }}))
    .unwrap();
    let pairs: Vec<_> =
        several.gadgets.iter().map(|g| (g.package.as_str(), g.export.as_str())).collect();
    assert_eq!(
        pairs,
        [("@acme/maps", "useMap"), ("@acme/maps", "MapView"), ("leaflet", "useLeaflet")]
    );
    assert_eq!(several.gadgets[0].usage.as_deref(), Some("u"));
    assert!(read(json!({"gadgets": {}})).is_ok());

    let gadgets = |value: Value| refused(json!({"gadgets": value}));
    assert_eq!(refused(json!([])), "clientCapabilities");
    assert_eq!(refused(json!({})), "clientCapabilities.gadgets");
    assert_eq!(refused(json!({"gadgets": {}, "other": {}})), "clientCapabilities.other");
    let field = "clientCapabilities.gadgets";
    assert_eq!(gadgets(json!({"Acme": {"useMap": {}}})), format!("{field}.Acme"));
    assert_eq!(gadgets(json!({"acme": {}})), format!("{field}.acme"));
    assert_eq!(gadgets(json!({"acme": {"map": {}}})), format!("{field}.acme.map"));
    for member in ["version", "bundleUrl", "permission"] {
        let value = json!({"acme": {"useMap": {member: "1.0.0"}}});
        assert_eq!(gadgets(value), format!("{field}.acme.useMap.{member}"));
    }
    assert_eq!(
        gadgets(json!({"acme": {"useMap": {"usage": 1}}})),
        format!("{field}.acme.useMap.usage")
    );
}

#[test]
fn names_have_their_forms() {
    type Form = fn(&str) -> bool;
    let cases: &[(Form, &[&str], &[&str])] = &[
        (
            names::is_package,
            &["a", "leaflet", "@acme/maps", "@a.b/c_d-e"],
            &["", "A", "@a", "@/a", "-a", "@a/b/c", "a/b", "https://a"],
        ),
        (names::is_hook, &["useMap", "useX2"], &["use", "usemap", "UseMap", "useMap!"]),
        (names::is_component, &["Map", "M"], &["map", "", "Map_View"]),
        (
            names::is_version,
            &["1.2.3", "1.2.3-beta.1", "1.2.3+b.7", "1.2.3-a+b"],
            &["1.2", "v1.2.3", "^1.2.3", "1.2.3-", "1.2.3+", "1.2.x"],
        ),
        (
            names::is_bundle_host,
            &["a.b", "localhost:80"],
            &["https://a", "A.b", "a/b", "a:", "a:b", ""],
        ),
        (
            names::is_loopback_host,
            &["localhost", "127.0.0.1:1", "0.0.0.0"],
            &["localhost-evil.com", "127.0.0.1.x", "localhost:x"],
        ),
        (
            names::is_integrity,
            &["sha384-ab+/", "sha384-ab=="],
            &["sha256-ab", "sha384-", "sha384-="],
        ),
        (
            names::is_public_env,
            &["GGUI_PUBLIC_APP_A1_"],
            &["GGUI_PUBLIC_APP_", "GGUI_PUBLIC_USER_A", "GGUI_PUBLIC_APP_a"],
        ),
        (names::is_tool, &["a", "A.b-c_1"], &["", "a b", "a/b", "é"]),
    ];
    for (is_one, good, bad) in cases {
        assert!(good.iter().all(|text| is_one(text)), "{good:?}");
        for text in *bad {
            assert!(!is_one(text), "{text}");
        }
    }
    assert!(names::is_tool(&"a".repeat(128)) && !names::is_tool(&"a".repeat(129)));
}

fn packages() -> Vec<GadgetDescriptor> {
    let packages = json!([
        {"package": "@acme/maps", "version": "1.0.0",
            "exports": [{"hook": "useMap"}, {"component": "MapView"}],
            "requires": ["GGUI_PUBLIC_APP_MAP_TOKEN"]},
        {"package": "@acme/pay", "version": "1.0.0",
            "exports": [{"hook": "usePay"}, {"hook": "useMap"}]},
        {"package": "@acme/unused", "exports": [{"hook": "useUnused"}],
            "requires": ["GGUI_PUBLIC_APP_X"]},
    ]);
    let packages = packages.as_array().expect("a list").iter();
    packages.map(|package| GadgetDescriptor::read(package).expect("a package")).collect()
}

fn gate(gadgets: Value, env: &[&str]) -> Option<Code> {
    let used = ClientCapabilities::read(&json!({"gadgets": gadgets})).expect("gadgets");
    let refusal = check_gadgets(Some(&used), &packages(), env.iter().copied()).err()?;
    assert!(!refusal.violations.is_empty());
    let code = refusal.code;
    assert_eq!(Failure::from(refusal).code, code);
    Some(code)
}

#[test]
fn the_first_gate_that_refuses_decides() {
    let token = ["GGUI_PUBLIC_APP_MAP_TOKEN"];
    assert_eq!(check_gadgets(None, &packages(), []), Ok(()));
    assert_eq!(gate(json!({}), &[]), None);
    assert_eq!(
        gate(json!({"@acme/pay": {"usePay": {}}}), &[]),
        None,
        "what is not used needs nothing"
    );
    assert_eq!(gate(json!({"@acme/maps": {"useMap": {}, "MapView": {}}}), &token), None);
    assert_eq!(
        gate(json!({"@acme/maps": {"MapView": {}}}), &[]),
        Some(Code::GguiToolGadgetPublicEnvMissing)
    );
    assert_eq!(
        gate(json!({"@acme/maps": {"usePay": {}}}), &token),
        Some(Code::GguiToolGadgetPackageMismatch)
    );
    assert_eq!(
        gate(json!({"@acme/maps": {"useMapp": {}}}), &token),
        Some(Code::GguiToolGadgetNotRegistered)
    );
    // An unknown gadget counts before one of another package, and before a missing value.
    let both = json!({"@acme/maps": {"usePay": {}, "useMapp": {}}});
    assert_eq!(gate(both, &[]), Some(Code::GguiToolGadgetNotRegistered));
    let mismatch = json!({"@acme/maps": {"MapView": {}}, "@acme/unused": {"usePay": {}}});
    assert_eq!(gate(mismatch, &[]), Some(Code::GguiToolGadgetPackageMismatch));
    // A name that is used twice counts before all of them.
    let twice = json!({"@acme/maps": {"useMap": {}}, "@acme/pay": {"useMap": {}, "useNone": {}}});
    assert_eq!(gate(twice, &[]), Some(Code::GguiToolDuplicateGadgetHook));
}

#[test]
fn a_mistyped_gadget_gets_a_suggestion() {
    let used =
        ClientCapabilities::read(&json!({"gadgets": {"@acme/pay": {"usePya": {}}}})).unwrap();
    let refusal = check_gadgets(Some(&used), &packages(), []).unwrap_err();
    assert!(refusal.violations[0].message.contains("'usePay'"), "{:?}", refusal.violations);
}

#[test]
fn a_descriptor_with_an_error_is_refused() {
    for (descriptor, field) in [
        (json!({"exports": []}), "package"),
        (json!({"package": "Acme"}), "package"),
        (json!({"package": "acme", "version": "^1.0.0"}), "version"),
        (json!({"package": "acme", "bundleHost": "https://a"}), "bundleHost"),
        (json!({"package": "acme", "bundleSri": "sha256-a"}), "bundleSri"),
        (json!({"package": "acme", "exports": [{"hook": "Map"}]}), "exports[0]"),
        (json!({"package": "acme", "exports": [{"hook": "useA", "component": "A"}]}), "exports[0]"),
        (json!({"package": "acme", "exports": {}}), "exports"),
        (json!({"package": "acme", "requires": ["TOKEN"]}), "requires[0]"),
    ] {
        let violations = GadgetDescriptor::read(&descriptor).expect_err(&descriptor.to_string());
        assert_eq!(violations[0].field, field, "{descriptor}");
    }
}

#[test]
fn the_addresses_of_a_package_are_explicit_or_follow_from_its_host() {
    let urls = |descriptor: Value| {
        let urls = bundle_urls(&GadgetDescriptor::read(&descriptor).unwrap());
        json!([urls.bundle_url, urls.style_url])
    };
    assert_eq!(
        urls(json!({"package": "a", "bundleUrl": "https://x/a.js"})),
        json!(["https://x/a.js", null])
    );
    assert_eq!(
        urls(json!({"package": "@a/b", "version": "1.0.0"})),
        json!([
            "https://registry.ggui.ai/bundles/public/@a/b/1.0.0/bundle.js",
            "https://registry.ggui.ai/bundles/public/@a/b/1.0.0/style.css",
        ])
    );
    assert_eq!(
        urls(json!({"package": "a", "version": "1.0.0", "bundleHost": "127.0.0.1:99",
                "styleUrl": "s"})),
        json!(["http://127.0.0.1:99/bundles/public/a/1.0.0/bundle.js", "s"])
    );
    let nothing = json!([null, null]);
    assert_eq!(urls(json!({"package": "a", "bundleHost": "a.b"})), nothing);
    assert_eq!(
        urls(json!({"package": "@ggui-ai/gadgets", "version": "1.0.0", "bundleUrl": "x"})),
        nothing
    );
}
