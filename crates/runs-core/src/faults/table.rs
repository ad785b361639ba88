//! Every fault: what the faulty engine does, its name, and the clause that it breaks.

/// Declares the table: what goes wrong, its name, the clause that it breaks.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal breaks $clause:literal;)+) => {
        /// One way to be wrong.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant),+
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// The clause of the protocol that it breaks.
            pub const fn clause(self) -> &'static str {
                match self {
                    $(Self::$variant => $clause),+
                }
            }
        }
    };
}

faults! {
    /// A run begins with a configuration that is not sound.
    AnyConfigStarts = "any-config-starts" breaks "AX-SM-START-CONFIG";
    /// A run that goes on, or is over, begins again.
    AnyRunInitialized = "any-run-initialized" breaks "AX-SM-START-IDLE";
    /// A run that is blocked begins again.
    BlockedBeginsAgain = "blocked-begins-again" breaks "AX-SM-START-IDLE";
    /// A turn is assigned while a gate waits for a person.
    PausedRunAssigns = "paused-run-assigns" breaks "AX-SM-ASSIGN";
    /// A transition is approved in a run that does not wait.
    ApprovalWhileActive = "approval-while-active" breaks "AX-SM-APPROVE";
    /// A gate that a person passed is not marked as passed.
    GateNotMarked = "gate-not-marked" breaks "AX-SM-APPROVE";
    /// The end of a run is approved that does not wait.
    EndWhileActive = "end-while-active" breaks "AX-SM-COMPLETE";
    /// An escalation does not keep who could not go on.
    EscalationOfNobody = "escalation-of-nobody" breaks "AX-SM-BLOCK";
    /// A run that waits for a person is blocked.
    PausedEscalates = "paused-escalates" breaks "AX-SM-BLOCK";
    /// A transition that is not known is taken for an escalation.
    AnyTriggerEscalates = "any-trigger-escalates" breaks "AX-SM-ILLEGAL";
    /// What would be written may belong to another run.
    RunIdReplaced = "run-id-replaced" breaks "AX-SM-RUN-ID";
    /// A run may lose its id.
    RunIdRemoved = "run-id-removed" breaks "AX-SM-RUN-ID";
    /// A resolution takes the place of an approval.
    ResolutionPassesGate = "resolution-passes-gate" breaks "AX-SM-RESOLVE-GATE";
    /// A blocked run goes on whatever it is told.
    AnyActionResolves = "any-action-resolves" breaks "AX-SM-RESOLVE";

    /// The turns that are active are not counted.
    CapacityIgnored = "capacity-ignored" breaks "AX-PT-CAPACITY";
    /// A role gets a second turn beside its first.
    RoleTwice = "role-twice" breaks "AX-PT-CAPACITY";
    /// A phase may hold one turn too many.
    FiveTurnsAtOnce = "five-turns-at-once" breaks "AX-PT-RANGE";
    /// A phase may hold null turns, as if it said nothing.
    TurnsMayBeNull = "turns-may-be-null" breaks "AX-PT-RANGE";
    /// Nobody looks whether a gate is declared.
    GateUndeclared = "gate-undeclared" breaks "AX-CS-GATE";
    /// Nobody looks for a gate where none is declared.
    NoGatesNoCheck = "no-gates-no-check" breaks "AX-CS-GATE";
    /// A person enters a phase.
    HumanEnters = "human-enters" breaks "AX-CS-ENTRY-ROLE";
    /// Nobody looks whether a runtime is declared.
    RuntimeUndeclared = "runtime-undeclared" breaks "AX-CS-RUNTIME";
    /// A configuration of any version will do.
    AnyVersion = "any-version" breaks "AX-CS-VERSION";
    /// A version may be a number.
    VersionAsNumber = "version-as-number" breaks "AX-CS-VERSION";

    /// A review without an objection passes.
    ChallengeWaived = "challenge-waived" breaks "AX-TR-CHALLENGE";
    /// A reserved path is known in its usual spelling alone.
    ReservedBySpelling = "reserved-by-spelling" breaks "AX-TR-RESERVED-SPELLING";
    /// The folders of the run are anybody's.
    FoldersClaimed = "folders-claimed" breaks "AX-TR-RESERVED-RUN";
    /// The records of the run are anybody's.
    RecordsClaimed = "records-claimed" breaks "AX-TR-RESERVED";
    /// Paths of proposals are not looked at.
    ProposalsUnread = "proposals-unread" breaks "AX-TR-RESERVED";
    /// A path may climb above the root.
    PathsMayLeave = "paths-may-leave" breaks "AX-TR-INSIDE";
    /// A result may ask for the next phase and for the end.
    BothRequests = "both-requests" breaks "AX-TR-ONE-REQUEST";
    /// Who says that the run need not end asks for its end.
    DenialAsRequest = "denial-as-request" breaks "AX-TR-ONE-REQUEST";
    /// A role that only reviews delivers anything.
    ReviewerDeliversAnything = "reviewer-delivers-anything" breaks "AX-TR-ARTIFACT";
    /// A role that only proposes need not propose anything.
    NothingProposed = "nothing-proposed" breaks "AX-TR-PROPOSED";
    /// The commands that prove a verification are not looked at.
    EvidenceUnread = "evidence-unread" breaks "AX-TR-EVIDENCE";
    /// Evidence behind the first is not looked at.
    FirstEvidenceOnly = "first-evidence-only" breaks "AX-TR-EVIDENCE";
    /// The schema's problems are told as those of the stage behind it.
    StageAfterIt = "stage-after-it" breaks "AX-TR-STAGES";
    /// The stages behind the schema come in the wrong order.
    StagesReversed = "stages-reversed" breaks "AX-TR-STAGES";
    /// Members that are missing are not named as such.
    MissingUnnamed = "missing-unnamed" breaks "AX-TR-REQUIRED";
    /// Anything is the id of a turn.
    AnyTurnId = "any-turn-id" breaks "AX-TR-SHAPE";
    /// A turn may cost anything, and less than nothing.
    AnyCost = "any-cost" breaks "AX-TR-COST";
    /// The result of another turn passes.
    OtherTurnsResult = "other-turns-result" breaks "AX-TR-TURN-ID";
    /// The result of another run passes.
    OtherRunsResult = "other-runs-result" breaks "AX-TR-RUN-ID";
    /// Results are corrected although nothing was to be.
    CorrectedWhenStrict = "corrected-when-strict" breaks "AX-STRICT-DECISION-ID";
    /// Who asks for a person need not say why.
    ReasonNotAsked = "reason-not-asked" breaks "AX-STRICT-NEEDS-HUMAN";

    /// A turn delegates one thing too many.
    SixDelegations = "six-delegations" breaks "AX-DEL-LIMIT";
    /// The form of delegations behind the first is not looked at.
    FirstDelegationOnly = "first-delegation-only" breaks "AX-DEL-CHARTER";
    /// Delegations behind the first go to anybody.
    FirstDelegateOnly = "first-delegate-only" breaks "AX-DEL-SELF";
    /// A role delegates to itself.
    DelegatedToItself = "delegated-to-itself" breaks "AX-DEL-SELF";
    /// A role delegates to whoever may go next, role or not.
    DelegatedToNobody = "delegated-to-nobody" breaks "AX-DEL-ROLE-DECLARED";
    /// A delegation names a decision twice.
    DecisionRequiredTwice = "decision-required-twice" breaks "AX-DEL-DECISIONS-UNIQUE";
    /// A delegated turn delegates.
    DelegatedOnwards = "delegated-onwards" breaks "AX-DEL-CHILD";
    /// A decision may last for anything.
    AnyDurability = "any-durability" breaks "AX-DC-DURABILITY";
    /// Decisions behind the first are not looked at.
    FirstDecisionOnly = "first-decision-only" breaks "AX-DC-DURABILITY";
    /// A decision may last for null, as if it said nothing.
    DurabilityMayBeNull = "durability-may-be-null" breaks "AX-DC-DURABILITY";
    /// A decision overrides itself.
    OverridesItself = "overrides-itself" breaks "AX-DC-SELF";
    /// Whose word weighs more does not matter.
    AuthorityIgnored = "authority-ignored" breaks "AX-DC-AUTHORITY";
    /// A decision is overridden that is not there.
    OverrideOfUnknown = "override-of-unknown" breaks "AX-DC-OVERRIDE-ACCEPT";
    /// A decision is overridden that is no longer in force.
    OverriddenAgain = "overridden-again" breaks "AX-DC-OVERRIDE-ACCEPT";
    /// A decision for the repository ends with its run.
    NothingPromoted = "nothing-promoted" breaks "AX-DC-PROMOTE";
    /// A decision lasts for the repository unless it says otherwise.
    LastsByDefault = "lasts-by-default" breaks "AX-DC-DEFAULT";
    /// A decision that was overridden stays in force.
    OverriddenInForce = "overridden-in-force" breaks "AX-DC-OVERRIDDEN";
    /// A new run carries decisions that are no longer in force.
    StaleCarried = "stale-carried" breaks "AX-DC-CARRY";
    /// A new run carries nothing.
    NothingCarried = "nothing-carried" breaks "AX-DC-CARRY";

    /// A phase ends without the person that its gate wants.
    HumanNotAsked = "human-not-asked" breaks "AX-GATE-HUMAN";
    /// The run ends without the person that its gate wants.
    EndsWithoutHuman = "ends-without-human" breaks "AX-GATE-HUMAN";
    /// A gate opens whatever the verification says.
    VerificationNotAsked = "verification-not-asked" breaks "AX-GATE-VERIFICATION";
    /// A gate opens although a file is missing.
    MissingFilePasses = "missing-file-passes" breaks "AX-GATE-FILES";
    /// Files behind the first that a gate asks for are not looked at.
    FirstFileOnly = "first-file-only" breaks "AX-GATE-FILES";
    /// What a file must say is known by the usual spelling of its path alone.
    GateFilesBySpelling = "gate-files-by-spelling" breaks "AX-GATE-SPELLING";
    /// The verification is named before the missing file.
    VerificationNamedFirst = "verification-named-first" breaks "AX-GATE-REASON-ORDER";
    /// A gate opens to any phase.
    PhaseSkipped = "phase-skipped" breaks "AX-GATE-NEXT-PHASE";
    /// An approval further down makes up for a refusal.
    AnySignoffCounts = "any-signoff-counts" breaks "AX-GATE-SIGNOFF";
    /// A verdict that begins well is a good one.
    VerdictByItsBeginning = "verdict-by-its-beginning" breaks "AX-GATE-VERDICT";
    /// A verdict is one in a heading of any level.
    VerdictAtAnyLevel = "verdict-at-any-level" breaks "AX-GATE-VERDICT";
    /// A placeholder is taken for content.
    PlaceholderCounts = "placeholder-counts" breaks "AX-GATE-NOTES";
    /// Requirements that did not pass are passed over.
    FailedRowsUnread = "failed-rows-unread" breaks "AX-GATE-MATRIX";
    /// The last requirement speaks for all.
    LastRowOnly = "last-row-only" breaks "AX-GATE-MATRIX";
    /// A run ends before its last phase.
    EndsInAnyPhase = "ends-in-any-phase" breaks "AX-GATE-FINAL-PHASE";

    /// An id that the run has used is used again.
    DuplicateAppended = "duplicate-appended" breaks "AX-DL-DUPLICATE";
    /// A decision may be about anything.
    AnyCategory = "any-category" breaks "AX-DL-CATEGORY";
    /// A statement may say nothing.
    BlankStatement = "blank-statement" breaks "AX-DL-STATEMENT";
    /// Any text is the id of a decision.
    AnyDecisionId = "any-decision-id" breaks "AX-DL-ID";
    /// A turn is accepted with an id that the run has used.
    UsedIdAccepted = "used-id-accepted" breaks "AX-DL-DUPLICATE-ACCEPT";
    /// An accepted turn is not written to the history.
    HistoryForgotten = "history-forgotten" breaks "AX-HS-APPEND";
    /// A turn that was accepted stays active.
    AcceptedStaysActive = "accepted-stays-active" breaks "AX-HS-LEAVES";
    /// What a turn asks for does not wait for the turns beside it.
    RequestsJump = "requests-jump" breaks "AX-HS-LEAVES";
    /// Every acceptance is the run's first.
    SequenceRestarts = "sequence-restarts" breaks "AX-HS-SEQUENCE";
    /// A turn is accepted again.
    AcceptedTwice = "accepted-twice" breaks "AX-HS-ONCE";
    /// A result that did not pass is accepted.
    UnsoundAccepted = "unsound-accepted" breaks "AX-HS-VALIDATED";

    /// An event may belong to no run.
    RunIdNotNeeded = "run-id-not-needed" breaks "AX-EV-RUN-ID";
    /// An event may have no time.
    TimeNotNeeded = "time-not-needed" breaks "AX-EV-TIMESTAMP";
    /// Only the types of turns, and of the ends of a run, are known.
    FewTypesKnown = "few-types-known" breaks "AX-EV-TYPE";
    /// A timeline starts wherever it likes.
    StartsLater = "starts-later" breaks "AX-EV-STARTS";
    /// Time goes back by less than a minute.
    TimeSlipsBack = "time-slips-back" breaks "AX-EV-MONOTONIC";
    /// Time goes back in a timeline.
    TimeGoesBack = "time-goes-back" breaks "AX-EV-MONOTONIC";
    /// An event without a time stands anywhere in a timeline.
    TimelessInOrder = "timeless-in-order" breaks "AX-EV-TIMELINE-TIME";
    /// An event is told twice.
    ToldTwice = "told-twice" breaks "AX-EV-TIMELINE-ONCE";
    /// An event of a type that is not declared is out of order.
    StrangersDisorder = "strangers-disorder" breaks "AX-EV-TIMELINE-OPEN";
    /// A turn is accepted that nobody was given.
    NeverDispatched = "never-dispatched" breaks "AX-EV-DISPATCHED";
    /// A turn is accepted that is given to somebody later.
    DispatchedLater = "dispatched-later" breaks "AX-EV-DISPATCHED";
    /// A timeline goes on behind its end.
    EndsAndGoesOn = "ends-and-goes-on" breaks "AX-EV-ENDS";

    /// The content of a bundle's files is not compared.
    DigestNotCompared = "digest-not-compared" breaks "AX-DM-DIGEST";
    /// The length of a bundle's files is not compared.
    SizeNotCompared = "size-not-compared" breaks "AX-DM-SIZE";
    /// A file that nobody listed is passed over.
    StrangerUnnoticed = "stranger-unnoticed" breaks "AX-DM-UNEXPECTED";
    /// Folders inside a bundle are not looked into.
    FoldersUnopened = "folders-unopened" breaks "AX-DM-BELOW";
    /// Nothing is told behind the first violation.
    FirstViolationOnly = "first-violation-only" breaks "AX-DM-ACCUMULATE";
    /// A manifest lists the one before it, which it replaces.
    ListsItself = "lists-itself" breaks "AX-DM-SELF";

    /// The block of an advisory hook stops the phase.
    AdvisoryBlocks = "advisory-blocks" breaks "AX-HK-DOWNGRADE";
    /// A hook's exit code does not matter.
    ExitCodeIgnored = "exit-code-ignored" breaks "AX-HK-FAILURE";
    /// What a hook did to protected files is neither seen nor undone.
    TamperUnnoticed = "tamper-unnoticed" breaks "AX-HK-TAMPER";
    /// A protected file is as it was if it is as long.
    TamperByLength = "tamper-by-length" breaks "AX-HK-TAMPER";
    /// Hooks that did not run are not written down.
    SkippedUnrecorded = "skipped-unrecorded" breaks "AX-HK-SKIP";
    /// Of the hooks that did not run, the first is written down.
    OneSkipRecorded = "one-skip-recorded" breaks "AX-HK-SKIP";
    /// A verdict may be shouted.
    ShoutedVerdict = "shouted-verdict" breaks "AX-HK-OUTPUT";
    /// No hook runs behind an advisory one that failed.
    AdvisoryFailureEnds = "advisory-failure-ends" breaks "AX-HK-ADVISORY-FAILURE";
    /// A hook that took too long is taken for one that failed.
    TimeoutAsFailure = "timeout-as-failure" breaks "AX-HK-TIMEOUT";
    /// The last hook runs first.
    HooksReversed = "hooks-reversed" breaks "AX-HK-ORDER";
    /// A hook does not get its own variables.
    EnvironmentEmpty = "environment-empty" breaks "AX-HK-ENVIRONMENT";
    /// What a hook writes to its standard error is not written down.
    ErrorsUnrecorded = "errors-unrecorded" breaks "AX-HK-AUDIT";
    /// A hook runs somewhere else.
    HookElsewhere = "hook-elsewhere" breaks "AX-HK-FOLDER";
    /// A hook is not told what it runs for.
    PayloadForgotten = "payload-forgotten" breaks "AX-HK-ENVELOPE";

    /// Workstreams wait for each other.
    CircleAccepted = "circle-accepted" breaks "AX-CO-CYCLE";
    /// A workstream waits for itself.
    WaitsForItself = "waits-for-itself" breaks "AX-CO-CYCLE";
    /// A workstream may go through no repository.
    WorkstreamOfNothing = "workstream-of-nothing" breaks "AX-CO-CONFIG";
    /// Any repository's acceptance is taken over, for any workstream.
    AnyRepositoryCounts = "any-repository-counts" breaks "AX-CO-MEMBER";
    /// A turn that was taken over is taken over again.
    TakenOverAgain = "taken-over-again" breaks "AX-CO-ONCE";
    /// The first repository that accepts opens the barrier.
    FirstSatisfies = "first-satisfies" breaks "AX-CO-FIRST";
    /// A repository that was only given something has accepted it.
    AnyLineCounts = "any-line-counts" breaks "AX-CO-ALL";
    /// A folder is the repository if its name begins like it.
    SimilarNameInside = "similar-name-inside" breaks "AX-CO-ISOLATION";
    /// A turn may write into any repository.
    WritesAnywhere = "writes-anywhere" breaks "AX-CO-ISOLATION";
    /// A barrier opens without the people that it waits for.
    PeopleNotAwaited = "people-not-awaited" breaks "AX-CO-HUMAN";
    /// A barrier does not look which decisions were made.
    NamedDecisionsUnread = "named-decisions-unread" breaks "AX-CO-NAMED";
    /// One of the decisions that join repositories is enough.
    OneDecisionAligns = "one-decision-aligns" breaks "AX-CO-ALIGNMENT";
    /// An acceptance without its decisions is none.
    UndecidedIsNothing = "undecided-is-nothing" breaks "AX-CO-ALIGNMENT";
    /// A barrier does not look who comes first.
    OrderIgnored = "order-ignored" breaks "AX-CO-ORDERED";
    /// An open barrier shuts again.
    BarrierShutsAgain = "barrier-shuts-again" breaks "AX-CO-SATISFIED-STAYS";
}
