//! The published JSON Schemas, generated from the types.

use accord_contract::Value;
use accord_contract::fixture::{Capabilities, CaseAnswer};
use accord_contract::wire::json_schema;

use crate::baseline::Baseline;
use crate::case::{CallCase, ChannelCase, FixtureCase, FolderCase, HttpCase};
use crate::corpus::{ChannelList, ClauseList, OperationList, RouteList};
use crate::event::EventLine;
use crate::report::RunReport;
use crate::verifier::ConformanceReport;

/// Every document that the kit reads or writes, with its name and its schema.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("adapter-result", json_schema::<CaseAnswer>()),
        ("baseline", json_schema::<Baseline>()),
        ("capabilities", json_schema::<Capabilities>()),
        ("case", json_schema::<CallCase>()),
        ("channel", json_schema::<ChannelList>()),
        ("channel-case", json_schema::<ChannelCase>()),
        ("clauses", json_schema::<ClauseList>()),
        ("conformance-report", json_schema::<ConformanceReport>()),
        ("event", json_schema::<EventLine>()),
        ("fixture-case", json_schema::<FixtureCase>()),
        ("folder-case", json_schema::<FolderCase>()),
        ("http-case", json_schema::<HttpCase>()),
        ("operations", json_schema::<OperationList>()),
        ("report", json_schema::<RunReport>()),
        ("routes", json_schema::<RouteList>()),
    ]
}
