//! The seeded faults of AOF/1: what the faulty engine does, the name, the broken clause.

accord_contract::seeded_faults! {
    /// A task that is done is reviewed again.
    DoneAgain = "done-again" breaks "AOF-CR-DONE-TASK";
    /// Finished work is never reviewed.
    ReviewNeverRequired = "review-never-required" breaks "AOF-CR-REVIEW-REQUIRED";
    /// The text "false" turns the review off.
    AnyFalseSkipsReview = "any-false-skips-review" breaks "AOF-CR-REVIEW-REQUIRED";
    /// A blocked task goes to review.
    BlockedIsReviewed = "blocked-is-reviewed" breaks "AOF-CR-BLOCKED";
    /// A task that needs review is blocked.
    QuestionBlocks = "question-blocks" breaks "AOF-CR-NEEDS-REVIEW";
    /// A partly completed task is done.
    PartialIsDone = "partial-is-done" breaks "AOF-CR-PARTIAL";
    /// A result has the time of its receipt.
    CompletedOnReceipt = "completed-on-receipt" breaks "AOF-CR-RUN-RESULT";
    /// A report leaves no event.
    CompletionUnlogged = "completion-unlogged" breaks "AOF-CR-EVENT";
    /// Recorded results are not applied.
    ResultsForgotten = "results-forgotten" breaks "AOF-RS-SESSION-END";
    /// The result of an earlier run decides about a later one.
    OldResultCounts = "old-result-counts" breaks "AOF-RS-OLD-RESULT";
    /// A delegation depth that is no number counts.
    TextIsADepth = "text-is-a-depth" breaks "AOF-HO-DEPTH";
    /// A handoff may name another task than its envelope.
    MismatchAccepted = "mismatch-accepted" breaks "AOF-HO-MISMATCH";
    /// A delegated task is delegated again.
    NestedDelegation = "nested-delegation" breaks "AOF-HO-DEPTH";
    /// A refused delegation leaves no event of its own.
    RefusedDelegationUnlogged = "refused-delegation-unlogged" breaks "AOF-HO-PARENT";
    /// Expected outputs that are absent stay absent.
    DefaultOutputsOmitted = "default-outputs-omitted" breaks "AOF-HO-OUTPUTS";
    /// An acceptance is logged as a request.
    AcceptanceIsARequest = "acceptance-is-a-request" breaks "AOF-HO-ACCEPTED";
    /// A rejected child is not blocked.
    RejectedChildStays = "rejected-child-stays" breaks "AOF-HO-REJECTED";
    /// A handoff to no task leaves no event of the delegation.
    LostChildUnlogged = "lost-child-unlogged" breaks "AOF-HO-NOT-FOUND";
    /// Every move is valid.
    AnyMove = "any-move" breaks "AOF-SU-INVALID";
    /// A valid message leaves no event.
    ReceiptUnlogged = "receipt-unlogged" breaks "AOF-EV-RECEIVED";
    /// Any agent speaks for a task without a lease.
    AnySender = "any-sender" breaks "AOF-AUTH-SENDER";
    /// Notes are the reason, before blockers.
    NotesFirst = "notes-first" breaks "AOF-SU-REASON";
    /// The text of an update that moves nothing is lost.
    RefusedMoveUnlogged = "refused-move-unlogged" breaks "AOF-SU-INVALID";
    /// Parts of an entry are separated by commas.
    CommasInTheLog = "commas-in-the-log" breaks "AOF-SU-FORMAT";
    /// The prefix is not recognised.
    PrefixUnknown = "prefix-unknown" breaks "AOF-DETECT-PREFIX";
    /// JSON text is not recognised.
    JsonIsChat = "json-is-chat" breaks "AOF-DETECT-JSON";
    /// A type that is not known is an invalid envelope.
    UnknownIsInvalid = "unknown-is-invalid" breaks "AOF-ENV-UNKNOWN-TYPE";
    /// Every version is accepted.
    AnyVersion = "any-version" breaks "AOF-ENV-VERSION";
    /// A status update may say nothing.
    EmptyUpdate = "empty-update" breaks "AOF-SU-NOT-EMPTY";
    /// Invalid acceptance criteria stop a handoff.
    CriteriaStop = "criteria-stop" breaks "AOF-HO-CRITERIA";
    /// A lease stays after the work.
    LeaseStays = "lease-stays" breaks "AOF-RS-LEASE";
    /// A message of an earlier run counts.
    OldRunHeard = "old-run-heard" breaks "AOF-RS-FENCE";
    /// A heartbeat lasts twice as long.
    HeartbeatLastsLonger = "heartbeat-lasts-longer" breaks "AOF-RUN-TTL";
    /// A heartbeat that ends now is not stale.
    ExpiresLater = "expires-later" breaks "AOF-RS-STALE";
    /// The lease decides whether a run is silent.
    LeaseDecides = "lease-decides" breaks "AOF-RS-STALE";
    /// A run that fell silent still says running.
    ExpiryUnmarked = "expiry-unmarked" breaks "AOF-RS-EXPIRED";
    /// A reclaimed task has another reason.
    ReclaimUnexplained = "reclaim-unexplained" breaks "AOF-RS-RECLAIM-REASON";
    /// A task that another tool leased does not follow its file.
    ForeignLeaseHeld = "foreign-lease-held" breaks "AOF-FILE-FOLLOWED";
}
