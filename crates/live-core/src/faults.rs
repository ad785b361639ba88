//! The seeded faults of ggui: what the faulty engine does, the name, the broken clause.

accord_contract::seeded_faults! {
    /// Every version is supported.
    AnyVersion = "any-version" breaks "GGUI-VERSION-MEMBERSHIP";
    /// The refusal of a version names no versions.
    VersionsUnnamed = "versions-unnamed" breaks "GGUI-VERSION-UPGRADE-REQUIRED";
    /// A socket stays open although its version is refused.
    OldClientStays = "old-client-stays" breaks "GGUI-VERSION-UPGRADE-REQUIRED";
    /// Error frames have a version.
    ErrorsStamped = "errors-stamped" breaks "GGUI-VERSION-STAMP";
    /// No frame has a version.
    FramesUnstamped = "frames-unstamped" breaks "GGUI-VERSION-STAMP";
    /// Answers do not repeat the id of their request.
    RequestIdDropped = "request-id-dropped" breaks "GGUI-FRAME-REQUEST-ID";
    /// A frame of an unknown type is an invalid message.
    UnknownIsInvalid = "unknown-is-invalid" breaks "GGUI-FRAME-MALFORMED";
    /// A frame of any size is read.
    LargeFramesTaken = "large-frames-taken" breaks "GGUI-TRANSPORT-LIMITS";
    /// Frames before the subscription have the limit of all frames.
    EarlyFramesUnlimited = "early-frames-unlimited" breaks "GGUI-TRANSPORT-LIMITS";
    /// A frame before the subscription is not answered.
    UnsubscribedIgnored = "unsubscribed-ignored" breaks "GGUI-TRANSPORT-FIRST-FRAME";
    /// A frame may name any session.
    OtherSessionServed = "other-session-served" breaks "GGUI-TRANSPORT-FIRST-FRAME";
    /// A socket can be subscribed again.
    SubscribedAgain = "subscribed-again" breaks "GGUI-SUBSCRIBE-ONCE";
    /// A host context may have any members.
    HostContextOpen = "host-context-open" breaks "GGUI-HOST-CONTEXT-PROJECTION";
    /// Of a host context only the first member is stored.
    HostContextTrimmed = "host-context-trimmed" breaks "GGUI-HOST-CONTEXT-STORED";
    /// A session is open to every app.
    AnyApp = "any-app" breaks "GGUI-TENANCY-APP-MISMATCH";
    /// The app of the identity counts before that of the request.
    OwnAppFirst = "own-app-first" breaks "GGUI-TENANCY-RESOLUTION";
    /// A token can be used after it has expired.
    ExpiredTokensTaken = "expired-tokens-taken" breaks "GGUI-TOKEN-VERIFY";
    /// The signature of a token does not count.
    SignaturesIgnored = "signatures-ignored" breaks "GGUI-TOKEN-VERIFY";
    /// A token of any kind is taken.
    AnyKindOfToken = "any-kind-of-token" breaks "GGUI-TOKEN-VERIFY";
    /// A token of any age is refreshed.
    RefreshedForEver = "refreshed-for-ever" breaks "GGUI-TOKEN-REFRESH";
    /// A token for a channel lives for an hour.
    TokensLiveLong = "tokens-live-long" breaks "GGUI-TOKEN-TTL";
    /// A token opens every session.
    TokenOfAnySession = "token-of-any-session" breaks "GGUI-SUBSCRIBE-TOKEN";
    /// A pending identity needs no token.
    PendingAdmitted = "pending-admitted" breaks "GGUI-SUBSCRIBE-TOKEN";
    /// Every key is valid.
    KeysUnchecked = "keys-unchecked" breaks "GGUI-TRANSPORT-AUTH";
    /// The id of an expired session begins at zero again.
    CountersRestart = "counters-restart" breaks "GGUI-SEQ-NEVER-RESTARTS";
    /// The ack of a subscription does not name the version.
    VersionUnsaid = "version-unsaid" breaks "GGUI-SUBSCRIBE-ACK";
    /// An action that is not declared is accepted.
    UndeclaredActionTaken = "undeclared-action-taken" breaks "GGUI-ACTION-DECLARED";
    /// The data of an action is not checked.
    DataUnchecked = "data-unchecked" breaks "GGUI-ACTION-SCHEMA";
    /// An action has no tool but the one that it names.
    NextStepIgnored = "next-step-ignored" breaks "GGUI-ACTION-NEXT-STEP";
    /// The tool of the next step is not written into the ledger.
    ToolNotFilled = "tool-not-filled" breaks "GGUI-ACTION-TOOL-FILLED";
    /// The ledger leaves out every second number.
    LedgerSkips = "ledger-skips" breaks "GGUI-SEQ-LEDGER";
    /// An action that is sent again is recorded again.
    SentAgainTakenAgain = "sent-again-taken-again" breaks "GGUI-DEDUP-FIRST-ACK";
    /// A number without a client id recognises an action.
    NumbersAloneCount = "numbers-alone-count" breaks "GGUI-DEDUP-KEY";
    /// The ack has the number of the event before.
    AckBeforeAppend = "ack-before-append" breaks "GGUI-ACTION-APPEND-THEN-ACK";
    /// The stream leaves out every second number.
    StreamSkips = "stream-skips" breaks "GGUI-SEQ-STREAM";
    /// Frames of channels without replay are kept.
    EverythingKept = "everything-kept" breaks "GGUI-STREAM-POLICY";
    /// The ring never loses a frame.
    RingUnbounded = "ring-unbounded" breaks "GGUI-STREAM-RING";
    /// An agent emits on a channel of the platform.
    AgentsUseReserved = "agents-use-reserved" breaks "GGUI-STREAM-EMIT";
    /// The frame of fromSeq is replayed too.
    LastSeenAgain = "last-seen-again" breaks "GGUI-REPLAY-FROM-SEQ";
    /// A subscriber without fromSeq gets no replay.
    FreshSeesNothing = "fresh-sees-nothing" breaks "GGUI-RESERVED-REPLAYED";
    /// A replay never says that frames are gone.
    TruncationHidden = "truncation-hidden" breaks "GGUI-REPLAY-TRUNCATED";
    /// Replayed frames are sent live again.
    FramesTwice = "frames-twice" breaks "GGUI-REPLAY-NO-OVERLAP";
    /// A position after the last event is accepted.
    FutureReplayed = "future-replayed" breaks "GGUI-REPLAY-HORIZON";
    /// A position that is no number counts as zero.
    AnyPosition = "any-position" breaks "GGUI-REPLAY-SINCE-SEQUENCE";
    /// Frames of the lifecycle are not kept.
    LifecycleNotKept = "lifecycle-not-kept" breaks "GGUI-RESERVED-BUFFERED";
    /// The payload of a channel is not checked.
    PayloadUnchecked = "payload-unchecked" breaks "GGUI-STREAM-SCHEMA";
    /// Every channel can be completed.
    AnyChannelEnds = "any-channel-ends" breaks "GGUI-STREAM-COMPLETE";
    /// A payload of the lifecycle channel has any kind.
    AnyLifecycle = "any-lifecycle" breaks "GGUI-RESERVED-LIFECYCLE";
    /// A preview has any components.
    AnyComponent = "any-component" breaks "GGUI-RESERVED-PREVIEW";
    /// A contract declares reserved names.
    ReservedNamesDeclared = "reserved-names-declared" breaks "GGUI-CONTRACT-RESERVED-NAMES";
    /// An action and a channel share a name.
    NamesShared = "names-shared" breaks "GGUI-CONTRACT-UNIQUE-NAMES";
    /// A next step may be any tool.
    StepsUnresolved = "steps-unresolved" breaks "GGUI-CONTRACT-REF-NEXT-STEP";
    /// A source may be any tool.
    SourcesUnresolved = "sources-unresolved" breaks "GGUI-CONTRACT-REF-STREAM-SOURCE";
    /// A propsSpec may be empty.
    EmptyPropsSpec = "empty-props-spec" breaks "GGUI-CONTRACT-PROPS-NOT-EMPTY";
    /// An array needs no items.
    ArraysOfAnything = "arrays-of-anything" breaks "GGUI-CONTRACT-ARRAY-ITEMS";
    /// A slot may have the name of a prototype.
    PrototypeSlots = "prototype-slots" breaks "GGUI-CONTRACT-CONTEXT-KEYS";
    /// Texts that explain are part of the hash of a contract.
    ExplanationsCount = "explanations-count" breaks "GGUI-CONTRACT-HASH";
    /// Empty members are part of the key of a variance.
    EmptyCounts = "empty-counts" breaks "GGUI-CONTRACT-VARIANT-KEY";
    /// An object may have members that its schema does not name.
    ShapesOpen = "shapes-open" breaks "GGUI-SCHEMA-CLOSED";
    /// Formats are not checked.
    FormatsAnnotate = "formats-annotate" breaks "GGUI-SCHEMA-FORMATS";
    /// A check ends at the first violation.
    FirstErrorOnly = "first-error-only" breaks "GGUI-SCHEMA-ALL-ERRORS";
    /// The value of a slot is not checked.
    SlotsUnchecked = "slots-unchecked" breaks "GGUI-CONTEXT-SCHEMA";
    /// A context has any number of slots.
    ContextUnlimited = "context-unlimited" breaks "GGUI-CONTEXT-LIMITS";
    /// A page of another app sets the context.
    TenantIgnored = "tenant-ignored" breaks "GGUI-CONTEXT-SYNC";
    /// A subset need not require what the superset requires.
    RequiredIgnored = "required-ignored" breaks "GGUI-SUBSET-REQUIRED";
    /// A subset may have more properties.
    ExtrasFit = "extras-fit" breaks "GGUI-SUBSET-OBJECT";
    /// Keywords that cannot be compared are ignored.
    EnumsFit = "enums-fit" breaks "GGUI-SUBSET-UNSUPPORTED";
    /// A subset without a type fits every type.
    UntypedFits = "untyped-fits" breaks "GGUI-SUBSET-TYPE";
    /// Items are not compared.
    ItemsFit = "items-fit" breaks "GGUI-SUBSET-ITEMS";
    /// A mismatch is only reported.
    MismatchWarns = "mismatch-warns" breaks "GGUI-SUBSET-POLICY";
    /// A tool that nobody has is not reported.
    MissingToolsUnnoticed = "missing-tools-unnoticed" breaks "GGUI-SUBSET-REGISTRY";
    /// An action without a schema is not compared.
    VoidSendsAnything = "void-sends-anything" breaks "GGUI-SUBSET-DIRECTIONS";
    /// Required names stay in their order.
    RequiredUnsorted = "required-unsorted" breaks "GGUI-PROPS-CANONICAL";
    /// A nullable schema does not get the type null.
    NullableDropped = "nullable-dropped" breaks "GGUI-PROPS-CANONICAL";
    /// The hash is that of the schema before its canonical form.
    HashBeforeForm = "hash-before-form" breaks "GGUI-PROPS-HASH";
    /// A grammar can be made from every schema.
    EverythingIsSafe = "everything-is-safe" breaks "GGUI-PROPS-PROFILE";
    /// Props are not checked.
    PropsUnchecked = "props-unchecked" breaks "GGUI-PROPS-ENFORCED";
    /// An amendment raises the epoch.
    AmendmentsRaise = "amendments-raise" breaks "GGUI-EPOCH-AMEND";
    /// An update keeps the epoch.
    UpdatesKeep = "updates-keep" breaks "GGUI-EPOCH-UPDATE";
    /// Identical props are a change.
    UnchangedIsChange = "unchanged-is-change" breaks "GGUI-UPDATE-UNCHANGED";
    /// A member that is null in a patch stays, as null.
    NullsKept = "nulls-kept" breaks "GGUI-UPDATE-MERGE";
    /// An update may have props and a patch.
    MixedFieldsTaken = "mixed-fields-taken" breaks "GGUI-UPDATE-KINDS";
    /// Two packages may export the same name.
    DuplicatesTaken = "duplicates-taken" breaks "GGUI-GADGET-DUPLICATE";
    /// An unknown gadget is one of another package.
    UnknownIsElsewhere = "unknown-is-elsewhere" breaks "GGUI-GADGET-REGISTERED";
    /// A gadget may be used from any package.
    AnyPackage = "any-package" breaks "GGUI-GADGET-PACKAGE";
    /// Public values may be missing.
    EnvUnchecked = "env-unchecked" breaks "GGUI-GADGET-ENV";
    /// The last gate that refuses decides.
    LastGateDecides = "last-gate-decides" breaks "GGUI-GADGET-ORDER";
    /// A gadget of a contract has any members.
    TransportFieldsTaken = "transport-fields-taken" breaks "GGUI-GADGET-WIRE";
    /// The standard package is fetched.
    StandardFetched = "standard-fetched" breaks "GGUI-GADGET-URL-STANDARD";
    /// A style is made up beside an explicit bundle.
    StylesInvented = "styles-invented" breaks "GGUI-GADGET-URL-EXPLICIT";
    /// Addresses on this machine use https.
    LoopbackEncrypted = "loopback-encrypted" breaks "GGUI-GADGET-URL-LOOPBACK";
    /// A binding without a server is found by every server.
    BareMatchesServers = "bare-matches-servers" breaks "GGUI-BINDING-FILTER";
    /// A blueprint is bound to any number of tools.
    BindingsUncapped = "bindings-uncapped" breaks "GGUI-BINDING-DERIVED";
    /// A manifest may list a tool twice.
    BindingsTwice = "bindings-twice" breaks "GGUI-BINDING-INVALID";
    /// A read of a session of another app has a code of its own.
    RefusalSaysMore = "refusal-says-more" breaks "GGUI-RESOURCE-REFUSAL-IS-MISS";
    /// A resource of an earlier epoch is that of the head.
    PinsMove = "pins-move" breaks "GGUI-RESOURCE-EPOCH-PIN";
    /// A slice without code and channel is mountable.
    NothingIsMounted = "nothing-is-mounted" breaks "GGUI-RESOURCE-MOUNTABLE";
    /// Code of any size is carried inline.
    InlineUnlimited = "inline-unlimited" breaks "GGUI-RESOURCE-INLINE";
    /// An address may have an empty key.
    EmptyLocators = "empty-locators" breaks "GGUI-RESOURCE-LOCATOR";
    /// A handshake does not expire.
    HandshakesForEver = "handshakes-for-ever" breaks "GGUI-HANDSHAKE-TTL";
    /// A UI is reused although a new one is asked for.
    ForceIgnored = "force-ignored" breaks "GGUI-HANDSHAKE-REUSE";
    /// Every theme exists.
    AnyTheme = "any-theme" breaks "GGUI-RENDER-GATES";
    /// A page may submit any kind.
    AnySubmission = "any-submission" breaks "GGUI-SUBMIT-KINDS";
    /// Events that were taken are taken again.
    DrainedAgain = "drained-again" breaks "GGUI-CONSUME-DRAIN";
    /// One frame says that several events were taken.
    OneDrainAck = "one-drain-ack" breaks "GGUI-CONSUME-DRAIN-ACK";
    /// An agent gets an action without its data.
    DataLost = "data-lost" breaks "GGUI-CONSUME-MAPPING";
    /// An agent that waits does not say so.
    WaitUnsaid = "wait-unsaid" breaks "GGUI-CONSUME-POLLING";
    /// Credentials stay in the details of a failed poll.
    SecretsShown = "secrets-shown" breaks "GGUI-CHANNEL-REDACTION";
    /// A channel is polled as often as a client asks.
    PolledAtWill = "polled-at-will" breaks "GGUI-CHANNEL-INTERVAL";
    /// Any tool is called for a channel.
    ForeignTools = "foreign-tools" breaks "GGUI-CHANNEL-CHECKS";
    /// The answers of a channel are numbered from zero.
    ChannelFromZero = "channel-from-zero" breaks "GGUI-SEQ-CHANNEL";
    /// A page of events has any size.
    LimitIgnored = "limit-ignored" breaks "GGUI-HTTP-EVENTS";
    /// The query counts before Last-Event-ID.
    QueryBeatsHeader = "query-beats-header" breaks "GGUI-HTTP-STREAM";
    /// A ledger event has any type.
    AnyEventType = "any-event-type" breaks "GGUI-LEDGER-TYPES";
}
