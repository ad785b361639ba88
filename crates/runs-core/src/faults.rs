//! The seeded faults of AgentXchain: what the faulty engine does, the name, the broken clause.

accord_contract::seeded_faults! {
    /// A run starts with an invalid configuration.
    AnyConfigStarts = "any-config-starts" breaks "AX-SM-START-CONFIG";
    /// An active, paused, completed or failed run is initialized again.
    AnyRunInitialized = "any-run-initialized" breaks "AX-SM-START-IDLE";
    /// A blocked run is initialized again.
    BlockedBeginsAgain = "blocked-begins-again" breaks "AX-SM-START-IDLE";
    /// A turn is assigned while a gate waits for a human.
    PausedRunAssigns = "paused-run-assigns" breaks "AX-SM-ASSIGN";
    /// A transition of an active run is approved.
    ApprovalWhileActive = "approval-while-active" breaks "AX-SM-APPROVE";
    /// An approved gate is not marked as passed.
    GateNotMarked = "gate-not-marked" breaks "AX-SM-APPROVE";
    /// The completion of an active run is approved.
    EndWhileActive = "end-while-active" breaks "AX-SM-COMPLETE";
    /// An escalation does not record its role.
    EscalationWithoutRole = "escalation-without-role" breaks "AX-SM-BLOCK";
    /// A paused run can be escalated.
    PausedEscalates = "paused-escalates" breaks "AX-SM-BLOCK";
    /// An unknown trigger escalates the run.
    AnyTriggerEscalates = "any-trigger-escalates" breaks "AX-SM-ILLEGAL";
    /// The run id can be replaced.
    RunIdReplaced = "run-id-replaced" breaks "AX-SM-RUN-ID";
    /// The run id can be removed.
    RunIdRemoved = "run-id-removed" breaks "AX-SM-RUN-ID";
    /// A resolution replaces a pending approval.
    ResolutionPassesGate = "resolution-passes-gate" breaks "AX-SM-RESOLVE-GATE";
    /// Any action resolves a blocked run.
    AnyActionResolves = "any-action-resolves" breaks "AX-SM-RESOLVE";

    /// Active turns are not counted.
    CapacityIgnored = "capacity-ignored" breaks "AX-PT-CAPACITY";
    /// A role gets a second turn while its first is active.
    RoleTwice = "role-twice" breaks "AX-PT-CAPACITY";
    /// A phase may have five concurrent turns.
    FiveTurnsAtOnce = "five-turns-at-once" breaks "AX-PT-RANGE";
    /// The number of concurrent turns may be null.
    TurnsMayBeNull = "turns-may-be-null" breaks "AX-PT-RANGE";
    /// A gate may be undeclared.
    GateUndeclared = "gate-undeclared" breaks "AX-CS-GATE";
    /// Gates are not checked when none is declared.
    NoGatesNoCheck = "no-gates-no-check" breaks "AX-CS-GATE";
    /// A human may be the entry role of a phase.
    HumanEnters = "human-enters" breaks "AX-CS-ENTRY-ROLE";
    /// A runtime may be undeclared.
    RuntimeUndeclared = "runtime-undeclared" breaks "AX-CS-RUNTIME";
    /// A runtime that is not a text is not checked.
    RuntimeAsNumber = "runtime-as-number" breaks "AX-CS-RUNTIME";
    /// The schema version is not checked.
    AnyVersion = "any-version" breaks "AX-CS-VERSION";
    /// The schema version may be a number.
    VersionAsNumber = "version-as-number" breaks "AX-CS-VERSION";

    /// A review without objections passes.
    ChallengeWaived = "challenge-waived" breaks "AX-TR-CHALLENGE";
    /// A reserved path is recognised only in its canonical spelling.
    ReservedBySpelling = "reserved-by-spelling" breaks "AX-TR-RESERVED-SPELLING";
    /// Results may claim files in the folders of the run.
    FoldersClaimed = "folders-claimed" breaks "AX-TR-RESERVED-RUN";
    /// Results may claim the records of the run.
    RecordsClaimed = "records-claimed" breaks "AX-TR-RESERVED";
    /// Paths of proposals are not checked.
    ProposalsUnread = "proposals-unread" breaks "AX-TR-RESERVED";
    /// A path may leave the repository.
    PathsMayLeave = "paths-may-leave" breaks "AX-TR-INSIDE";
    /// A result may request both the next phase and completion.
    BothRequests = "both-requests" breaks "AX-TR-ONE-REQUEST";
    /// `run_completion_request: false` counts as a request.
    DenialAsRequest = "denial-as-request" breaks "AX-TR-ONE-REQUEST";
    /// A review-only role may deliver any artifact.
    ReviewerDeliversAnything = "reviewer-delivers-anything" breaks "AX-TR-ARTIFACT";
    /// A proposing role may propose nothing.
    NothingProposed = "nothing-proposed" breaks "AX-TR-PROPOSED";
    /// Evidence of a verification is not checked.
    EvidenceUnread = "evidence-unread" breaks "AX-TR-EVIDENCE";
    /// Only the first piece of evidence is checked.
    FirstEvidenceOnly = "first-evidence-only" breaks "AX-TR-EVIDENCE";
    /// Schema problems are reported as problems of the assignment stage.
    StageAfterIt = "stage-after-it" breaks "AX-TR-STAGES";
    /// The stages after the schema run in reverse order.
    StagesReversed = "stages-reversed" breaks "AX-TR-STAGES";
    /// Missing members are not reported as missing.
    MissingUnnamed = "missing-unnamed" breaks "AX-TR-REQUIRED";
    /// A summary of another type is replaced by a generated one.
    SummaryInvented = "summary-invented" breaks "AX-TR-SHAPE";
    /// A next role that is null is not filled in.
    NullNextRole = "null-next-role" breaks "AX-TR-ABSENT";
    /// A runtime that is null is not filled in.
    NullRuntime = "null-runtime" breaks "AX-TR-ABSENT";
    /// Any text is the id of a turn.
    AnyTurnId = "any-turn-id" breaks "AX-TR-SHAPE";
    /// The cost of a turn is not checked.
    AnyCost = "any-cost" breaks "AX-TR-COST";
    /// The result of another turn passes.
    OtherTurnsResult = "other-turns-result" breaks "AX-TR-TURN-ID";
    /// The result of another run passes.
    OtherRunsResult = "other-runs-result" breaks "AX-TR-RUN-ID";
    /// Results are normalized although the profile is strict.
    CorrectedWhenStrict = "corrected-when-strict" breaks "AX-STRICT-DECISION-ID";
    /// A result that needs a human may omit the reason.
    ReasonNotAsked = "reason-not-asked" breaks "AX-STRICT-NEEDS-HUMAN";

    /// A turn may delegate more than five things.
    SixDelegations = "six-delegations" breaks "AX-DEL-LIMIT";
    /// Only the first delegation's form is checked.
    FirstDelegationOnly = "first-delegation-only" breaks "AX-DEL-CHARTER";
    /// Only the first delegation is checked for self-delegation.
    FirstDelegateOnly = "first-delegate-only" breaks "AX-DEL-SELF";
    /// A role may delegate to itself.
    DelegatedToItself = "delegated-to-itself" breaks "AX-DEL-SELF";
    /// A delegation may go to an undeclared role.
    DelegatedToUndeclared = "delegated-to-undeclared" breaks "AX-DEL-ROLE-DECLARED";
    /// A delegation may require a decision twice.
    DecisionRequiredTwice = "decision-required-twice" breaks "AX-DEL-DECISIONS-UNIQUE";
    /// A delegated turn may delegate.
    DelegatedOnwards = "delegated-onwards" breaks "AX-DEL-CHILD";
    /// A review goes on although required decisions are missing.
    ReviewUndecided = "review-undecided" breaks "AX-DEL-REVIEW";
    /// The durability of a decision is not checked.
    AnyDurability = "any-durability" breaks "AX-DC-DURABILITY";
    /// Only the first decision is checked.
    FirstDecisionOnly = "first-decision-only" breaks "AX-DC-DURABILITY";
    /// The durability of a decision may be null.
    DurabilityMayBeNull = "durability-may-be-null" breaks "AX-DC-DURABILITY";
    /// A decision may override itself.
    OverridesItself = "overrides-itself" breaks "AX-DC-SELF";
    /// The authority of roles is ignored.
    AuthorityIgnored = "authority-ignored" breaks "AX-DC-AUTHORITY";
    /// An unknown decision can be overridden.
    OverrideOfUnknown = "override-of-unknown" breaks "AX-DC-OVERRIDE-ACCEPT";
    /// An inactive decision can be overridden.
    OverriddenAgain = "overridden-again" breaks "AX-DC-OVERRIDE-ACCEPT";
    /// A decision for the repository ends with its run.
    NothingPromoted = "nothing-promoted" breaks "AX-DC-PROMOTE";
    /// A decision without durability lasts for the repository.
    LastsByDefault = "lasts-by-default" breaks "AX-DC-DEFAULT";
    /// An overridden decision stays active.
    OverriddenInForce = "overridden-in-force" breaks "AX-DC-OVERRIDDEN";
    /// A new run carries inactive decisions.
    StaleCarried = "stale-carried" breaks "AX-DC-CARRY";
    /// A new run carries no decisions.
    NothingCarried = "nothing-carried" breaks "AX-DC-CARRY";

    /// A phase ends without the approval that its gate requires.
    HumanNotAsked = "human-not-asked" breaks "AX-GATE-HUMAN";
    /// A run completes without the approval that its gate requires.
    EndsWithoutHuman = "ends-without-human" breaks "AX-GATE-HUMAN";
    /// A gate ignores the verification.
    VerificationNotAsked = "verification-not-asked" breaks "AX-GATE-VERIFICATION";
    /// A gate ignores missing files.
    MissingFilePasses = "missing-file-passes" breaks "AX-GATE-FILES";
    /// A gate checks only its first file.
    FirstFileOnly = "first-file-only" breaks "AX-GATE-FILES";
    /// A gate file's rules are found only by the canonical spelling of its path.
    GateFilesBySpelling = "gate-files-by-spelling" breaks "AX-GATE-SPELLING";
    /// A flag of a gate that is not a boolean is ignored.
    FlagAsText = "flag-as-text" breaks "AX-GATE-FLAG";
    /// A failed verification is reported before a missing file.
    VerificationNamedFirst = "verification-named-first" breaks "AX-GATE-REASON-ORDER";
    /// A gate opens to any phase.
    PhaseSkipped = "phase-skipped" breaks "AX-GATE-NEXT-PHASE";
    /// A later approval line overrides the first.
    AnySignoffCounts = "any-signoff-counts" breaks "AX-GATE-SIGNOFF";
    /// A verdict that starts with YES is affirmative.
    VerdictByItsBeginning = "verdict-by-its-beginning" breaks "AX-GATE-VERDICT";
    /// A verdict may be a third-level heading.
    VerdictAtAnyLevel = "verdict-at-any-level" breaks "AX-GATE-VERDICT";
    /// A placeholder counts as content.
    PlaceholderCounts = "placeholder-counts" breaks "AX-GATE-NOTES";
    /// Failed requirements are ignored.
    FailedRowsUnread = "failed-rows-unread" breaks "AX-GATE-MATRIX";
    /// Only the last requirement is checked.
    LastRowOnly = "last-row-only" breaks "AX-GATE-MATRIX";
    /// A run completes before its last phase.
    EndsInAnyPhase = "ends-in-any-phase" breaks "AX-GATE-FINAL-PHASE";

    /// A decision id can be used twice in a run.
    DuplicateAppended = "duplicate-appended" breaks "AX-DL-DUPLICATE";
    /// The category of a decision is not checked.
    AnyCategory = "any-category" breaks "AX-DL-CATEGORY";
    /// The statement of a decision may be blank.
    BlankStatement = "blank-statement" breaks "AX-DL-STATEMENT";
    /// Any text is the id of a decision.
    AnyDecisionId = "any-decision-id" breaks "AX-DL-ID";
    /// A turn with a used decision id is accepted.
    UsedIdAccepted = "used-id-accepted" breaks "AX-DL-DUPLICATE-ACCEPT";
    /// An accepted turn is not written to the history.
    HistoryForgotten = "history-forgotten" breaks "AX-HS-APPEND";
    /// An accepted turn stays active.
    AcceptedStaysActive = "accepted-stays-active" breaks "AX-HS-LEAVES";
    /// The requests of a turn do not wait for concurrent turns.
    RequestsJump = "requests-jump" breaks "AX-HS-LEAVES";
    /// Every acceptance has the sequence number 1.
    SequenceRestarts = "sequence-restarts" breaks "AX-HS-SEQUENCE";
    /// A turn can be accepted twice.
    AcceptedTwice = "accepted-twice" breaks "AX-HS-ONCE";
    /// An invalid result is accepted.
    UnsoundAccepted = "unsound-accepted" breaks "AX-HS-VALIDATED";

    /// An event may omit the run id.
    RunIdNotNeeded = "run-id-not-needed" breaks "AX-EV-RUN-ID";
    /// An event may omit its time.
    TimeNotNeeded = "time-not-needed" breaks "AX-EV-TIMESTAMP";
    /// Only event types of turns, of starts and of completions are known.
    FewTypesKnown = "few-types-known" breaks "AX-EV-TYPE";
    /// A timeline may start with another event.
    StartsLater = "starts-later" breaks "AX-EV-STARTS";
    /// Time may go back by less than a minute.
    TimeSlipsBack = "time-slips-back" breaks "AX-EV-MONOTONIC";
    /// Time may go back.
    TimeGoesBack = "time-goes-back" breaks "AX-EV-MONOTONIC";
    /// An event of a timeline may omit its time.
    TimelessInOrder = "timeless-in-order" breaks "AX-EV-TIMELINE-TIME";
    /// An event may occur twice in a timeline.
    EventRepeated = "event-repeated" breaks "AX-EV-TIMELINE-ONCE";
    /// An undeclared event type is an error of order.
    StrangersDisorder = "strangers-disorder" breaks "AX-EV-TIMELINE-OPEN";
    /// A turn may be accepted without being dispatched.
    NeverDispatched = "never-dispatched" breaks "AX-EV-DISPATCHED";
    /// A turn may be dispatched after it was accepted.
    DispatchedLater = "dispatched-later" breaks "AX-EV-DISPATCHED";
    /// A timeline may continue after its end.
    EndsAndGoesOn = "ends-and-goes-on" breaks "AX-EV-ENDS";

    /// Digests of a bundle are not compared.
    DigestNotCompared = "digest-not-compared" breaks "AX-DM-DIGEST";
    /// Sizes of a bundle are not compared.
    SizeNotCompared = "size-not-compared" breaks "AX-DM-SIZE";
    /// Unlisted files are ignored.
    StrangerUnnoticed = "stranger-unnoticed" breaks "AX-DM-UNEXPECTED";
    /// Files in folders of a bundle are ignored.
    FoldersUnopened = "folders-unopened" breaks "AX-DM-BELOW";
    /// Only the first violation is reported.
    FirstViolationOnly = "first-violation-only" breaks "AX-DM-ACCUMULATE";
    /// A manifest lists the previous manifest.
    ListsItself = "lists-itself" breaks "AX-DM-SELF";

    /// The block of an advisory hook stops the phase.
    AdvisoryBlocks = "advisory-blocks" breaks "AX-HK-DOWNGRADE";
    /// The exit code of a hook is ignored.
    ExitCodeIgnored = "exit-code-ignored" breaks "AX-HK-FAILURE";
    /// Changes of protected files are neither noticed nor undone.
    TamperUnnoticed = "tamper-unnoticed" breaks "AX-HK-TAMPER";
    /// Protected files are compared by length only.
    TamperByLength = "tamper-by-length" breaks "AX-HK-TAMPER";
    /// Skipped hooks are not recorded.
    SkippedUnrecorded = "skipped-unrecorded" breaks "AX-HK-SKIP";
    /// Only the first skipped hook is recorded.
    OneSkipRecorded = "one-skip-recorded" breaks "AX-HK-SKIP";
    /// A verdict may be in upper case.
    ShoutedVerdict = "shouted-verdict" breaks "AX-HK-OUTPUT";
    /// No hook runs after a failed advisory hook.
    AdvisoryFailureEnds = "advisory-failure-ends" breaks "AX-HK-ADVISORY-FAILURE";
    /// A timeout counts as a failure.
    TimeoutAsFailure = "timeout-as-failure" breaks "AX-HK-TIMEOUT";
    /// Hooks run in reverse order.
    HooksReversed = "hooks-reversed" breaks "AX-HK-ORDER";
    /// A hook does not get its own variables.
    EnvironmentEmpty = "environment-empty" breaks "AX-HK-ENVIRONMENT";
    /// The standard error of a hook is not recorded.
    ErrorsUnrecorded = "errors-unrecorded" breaks "AX-HK-AUDIT";
    /// A hook runs in another folder.
    HookElsewhere = "hook-elsewhere" breaks "AX-HK-FOLDER";
    /// A hook gets an empty payload.
    PayloadForgotten = "payload-forgotten" breaks "AX-HK-ENVELOPE";

    /// Workstreams may wait for each other.
    CircleAccepted = "circle-accepted" breaks "AX-CO-CYCLE";
    /// A workstream may wait for itself.
    WaitsForItself = "waits-for-itself" breaks "AX-CO-CYCLE";
    /// A workstream may have no repository.
    WorkstreamOfNothing = "workstream-of-nothing" breaks "AX-CO-CONFIG";
    /// An acceptance of any repository counts for a workstream.
    AnyRepositoryCounts = "any-repository-counts" breaks "AX-CO-MEMBER";
    /// A turn can be projected twice.
    TakenOverAgain = "taken-over-again" breaks "AX-CO-ONCE";
    /// The first acceptance satisfies the barrier.
    FirstSatisfies = "first-satisfies" breaks "AX-CO-FIRST";
    /// Any line of the history counts as an acceptance.
    AnyLineCounts = "any-line-counts" breaks "AX-CO-ALL";
    /// A folder whose name starts like the repository's counts as inside.
    SimilarNameInside = "similar-name-inside" breaks "AX-CO-ISOLATION";
    /// A turn may write into any repository.
    WritesAnywhere = "writes-anywhere" breaks "AX-CO-ISOLATION";
    /// A shared human gate does not wait for people.
    PeopleNotAwaited = "people-not-awaited" breaks "AX-CO-HUMAN";
    /// Named decisions are not checked.
    NamedDecisionsUnread = "named-decisions-unread" breaks "AX-CO-NAMED";
    /// One of the decisions of a repository is enough.
    OneDecisionAligns = "one-decision-aligns" breaks "AX-CO-ALIGNMENT";
    /// An acceptance without its decisions does not count at all.
    UndecidedIsNothing = "undecided-is-nothing" breaks "AX-CO-ALIGNMENT";
    /// The order of repositories is ignored.
    OrderIgnored = "order-ignored" breaks "AX-CO-ORDERED";
    /// A satisfied barrier can become unsatisfied.
    BarrierShutsAgain = "barrier-shuts-again" breaks "AX-CO-SATISFIED-STAYS";
}
