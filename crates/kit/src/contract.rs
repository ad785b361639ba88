//! The kit's documents in Accord's own wire contract.

use accord_contract::compat::Direction;
use accord_contract::fixture::{Capabilities, CaseAnswer};
use accord_contract::snapshot::{Builder, EventMeaning};

use crate::baseline::Baseline;
use crate::case::{CallCase, ChannelCase, FixtureCase, FolderCase, HttpCase};
use crate::corpus::{ChannelList, ClauseList, OperationList, RouteList};
use crate::event::{EventLine, EventName};
use crate::report::RunReport;
use crate::verifier::ConformanceReport;

/// Adds the kit's documents and events to a snapshot.
pub fn add_to(snapshot: Builder) -> Builder {
    snapshot
        .message::<CallCase>(Direction::Request)
        .message::<CaseAnswer>(Direction::Request)
        .message::<ChannelCase>(Direction::Request)
        .message::<FixtureCase>(Direction::Request)
        .message::<FolderCase>(Direction::Request)
        .message::<HttpCase>(Direction::Request)
        .message::<ChannelList>(Direction::Request)
        .message::<ClauseList>(Direction::Request)
        .message::<OperationList>(Direction::Request)
        .message::<RouteList>(Direction::Request)
        .message::<Baseline>(Direction::Request)
        .message::<Capabilities>(Direction::Request)
        .message::<RunReport>(Direction::Response)
        .message::<ConformanceReport>(Direction::Response)
        .message::<EventLine>(Direction::Response)
        .events(meaning)
}

/// A client that reads only the last event, or only the results, can ignore the others.
fn meaning(name: EventName) -> EventMeaning {
    let (semantics, ignorable) = match name {
        EventName::RunStarted => ("run-begins", true),
        EventName::CaseStarted => ("case-begins", true),
        EventName::CaseFinished => ("case-has-its-verdict", false),
        EventName::RunFinished => ("run-is-over", false),
    };
    EventMeaning { semantics, ignorable }
}
