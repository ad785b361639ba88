//! The seeded faults of the services: what the faulty service does, the name, the broken clause.
//! The faults of the rules are those of the core.

accord_contract::seeded_faults! {
    /// An action is acknowledged, and not stored.
    ActionsUnstored = "actions-unstored" breaks "GGUI-ACTION-APPEND-THEN-ACK";
    /// An action is not looked up before it is recorded.
    EarlierForgotten = "earlier-forgotten" breaks "GGUI-DEDUP-FIRST-ACK";
    /// A host context is not stored.
    HostContextUnstored = "host-context-unstored" breaks "GGUI-HOST-CONTEXT-STORED";
    /// The first commit after a subscription is not delivered.
    FirstFrameLost = "first-frame-lost" breaks "GGUI-REPLAY-NO-OVERLAP";
    /// The last commit before a subscription is delivered after its replay, too.
    LastFrameAgain = "last-frame-again" breaks "GGUI-REPLAY-NO-OVERLAP";
    /// Only the first page of a ledger is replayed.
    OnePageReplayed = "one-page-replayed" breaks "GGUI-REPLAY-SINCE-SEQUENCE";
    /// A frame of an agent is not delivered.
    EmittedUndelivered = "emitted-undelivered" breaks "GGUI-STREAM-EMIT";
    /// Subscribers are not told about new props.
    PropsUntold = "props-untold" breaks "GGUI-EPOCH-UPDATE";
    /// Events that an agent gets stay in the pipe.
    PipeNotEmptied = "pipe-not-emptied" breaks "GGUI-CONSUME-DRAIN";
    /// A handshake can be used again.
    HandshakesKept = "handshakes-kept" breaks "GGUI-HANDSHAKE-SINGLE-USE";
    /// The subscribers of a session that has expired stay.
    EndUnnoticed = "end-unnoticed" breaks "GGUI-SESSION-TTL";
}
