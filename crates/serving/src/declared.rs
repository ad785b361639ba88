//! All codes that a route refuses with.

use accord_api::{Content, Declaration, Location, Method, Parameter};
use accord_contract::Code;
use accord_contract::wire::Shape;

use crate::errors;

const COMMON: [Code; 12] = [
    Code::HttpMalformed,
    // A query parameter that the route does not have.
    Code::AgenticInvalidSchema,
    Code::AuthRequired,
    Code::Unauthorized,
    Code::HttpHostRefused,
    Code::HttpOriginRefused,
    Code::HttpHeadersTooLarge,
    Code::HttpFault,
    Code::HttpTooManyConnections,
    Code::StoreBusy,
    Code::StoreCorrupt,
    Code::StoreUnavailable,
];

/// The additional failure codes of routes that write.
const OF_WRITES: [Code; 2] = [Code::StoreFull, Code::StoreReadOnly];

/// The additional failure codes of Accord's own routes with a JSON body.
const OF_OWN_DOCUMENTS: [Code; 12] = [
    Code::CanonInvalidJson,
    Code::CanonInvalidUtf8,
    Code::CanonDuplicateKey,
    Code::CanonLoneSurrogate,
    Code::CanonNonFinite,
    Code::CanonInexactInteger,
    Code::CanonTooDeep,
    Code::WireFieldMissing,
    Code::WireFieldType,
    Code::WireFieldValue,
    Code::WireFieldUnknown,
    Code::InputTooLarge,
];

/// The additional failure codes of the protocol's routes with a JSON body.
const OF_DOCUMENTS: [Code; 4] = [
    Code::AgenticTextTooLong,
    Code::AgenticTooManyItems,
    Code::AgenticTooDeep,
    Code::AgenticPayloadTooLarge,
];

/// The additional failure codes of routes with a body.
const OF_BODIES: [Code; 3] = [Code::HttpBodyTimeout, Code::HttpBodyBroken, Code::InputTooLarge];

pub fn refusals(route: &Declaration) -> Vec<Code> {
    let mut codes = route.codes.clone();
    codes.extend(COMMON);
    if route.method != Method::Get {
        codes.extend(OF_WRITES);
    }
    let can_be_long = |parameter: &Parameter| {
        parameter.location == Location::Query
            && matches!(parameter.shape, Shape::Form(form) if form.limits_bytes())
    };
    if route.parameters.iter().any(can_be_long) {
        codes.push(Code::AgenticTextTooLong);
    }
    if let Some(body) = route.body {
        codes.extend(OF_BODIES);
        if matches!(body.content, Content::Json(_)) {
            codes.push(Code::HttpMediaType);
            if route.path.starts_with("/v1/") {
                codes.extend(OF_DOCUMENTS);
            } else {
                codes.extend(OF_OWN_DOCUMENTS);
            }
        }
    }
    for code in &mut codes {
        *code = errors::code_in(route.protocol, *code);
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}
