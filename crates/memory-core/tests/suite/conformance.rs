//! What a server says that it can do.

use accord_contract::codes::Exchange;
use accord_contract::{Code, Protocol, Wire as _};
use accord_memory_core::conformance::{
    Capability, Conformance, Level, cannot_search, not_implemented,
};
use serde_json::json;

#[test]
fn the_descriptor_has_the_form_of_the_protocol() {
    let ours = Conformance::new(
        Level::L3,
        &[Capability::Realtime, Capability::KeywordSearch],
        "Accord",
        "0.1.0",
    );
    let expected = json!({
        "protocol_version": "0.1", "conformance_level": "L3",
        "capabilities": {
            "hybrid_search": false, "semantic_search": false, "realtime": true,
            "blob_storage": false,
            "x-keyword_search": true,
        },
        "implementation": {"name": "Accord", "version": "0.1.0"},
    });
    assert_eq!(ours.encode(), expected);
    assert_eq!(Conformance::from_document(expected).unwrap(), ours);
}

#[test]
fn what_is_missing_is_named() {
    let exchange = || Exchange { correlation_id: "c".into(), capabilities: Vec::new() };
    for (failure, code, missing) in [
        (
            cannot_search(Capability::KeywordSearch),
            Code::AgenticSearchNotSupported,
            "x-keyword_search",
        ),
        (not_implemented(Capability::BlobStorage), Code::AgenticNotImplemented, "blob_storage"),
    ] {
        assert_eq!((failure.code, failure.code.http_status()), (code, 501));
        let body = failure.body(Protocol::Agentic, exchange());
        assert_eq!(body["error"]["missing_capability"], missing);
        assert_eq!(body["error"]["code"], code.as_str());
    }
}
