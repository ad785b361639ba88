//! The lists of codes that ggui names.

use super::{Policy, Union};
use crate::codes::Code;

pub(super) fn lists() -> Vec<Union> {
    let list = |(name, policy, about, codes): (&str, _, _, &[Code])| {
        let members = codes.iter().map(|code| code.as_str()).collect();
        Union { name: name.into(), policy, about, members }
    };
    LISTS.into_iter().map(list).collect()
}

type List = (&'static str, Policy, &'static str, &'static [Code]);

const LISTS: [List; 8] = [
    ("GguiError", Policy::Extensible, "Why the live channel refuses a frame.", ERROR_FRAMES),
    ("GguiChannelError", Policy::Extensible, "Why a channel is not served.", CHANNELS),
    ("GguiResourceRead", Policy::Closed, "Why a resource of a session is not served.", RESOURCES),
    ("GguiSubmitAction", Policy::Extensible, "Why an action is not relayed.", SUBMIT_ACTION),
    ("GguiSyncContext", Policy::Extensible, "Why a context snapshot is not kept.", SYNC_CONTEXT),
    ("GguiRefreshToken", Policy::Extensible, "Why a wsToken is not refreshed.", REFRESH_TOKEN),
    ("GguiToolError", Policy::Extensible, "Why a tool of ggui refuses a call.", TOOLS),
    ("GguiGadgetGate", Policy::Closed, "Why a contract cannot use a gadget.", GADGETS),
];

const ERROR_FRAMES: &[Code] = &[
    Code::GguiInvalidJson,
    Code::GguiInvalidMessage,
    Code::GguiUnsupportedMessage,
    Code::GguiUnauthenticated,
    Code::GguiNotSubscribed,
    Code::GguiSessionMismatch,
    Code::GguiSessionNotFound,
    Code::GguiSessionCreateFailed,
    Code::GguiAppMismatch,
    Code::GguiUpgradeRequired,
    Code::GguiContractViolation,
    Code::GguiAppendFailed,
    Code::GguiBootstrapNotSupported,
    Code::GguiBootstrapExpired,
    Code::GguiBootstrapInvalid,
    Code::GguiBootstrapSessionMismatch,
    Code::GguiBootstrapAppMismatch,
    Code::GguiInvalidSinceSequence,
    Code::GguiReplayHorizonPassed,
];

const CHANNELS: &[Code] = &[
    Code::GguiChannelUnknown,
    Code::GguiChannelNotLocal,
    Code::GguiSessionNotFound,
    Code::GguiSubscribeUnauthorized,
    Code::GguiPollFailed,
];

const RESOURCES: &[Code] = &[
    Code::GguiNotFound,
    Code::GguiBlueprintUnresolvable,
    Code::GguiNotSupported,
    Code::GguiNotMountable,
];

const SUBMIT_ACTION: &[Code] = &[Code::GguiInvalidActionKind, Code::GguiPipeNotFound];

const SYNC_CONTEXT: &[Code] = &[
    Code::GguiSessionNotFound,
    Code::GguiTenantMismatch,
    Code::GguiContextSchemaViolation,
    Code::GguiContextTooLarge,
];

const REFRESH_TOKEN: &[Code] =
    &[Code::GguiBootstrapInvalid, Code::GguiRefreshWindowClosed, Code::GguiBootstrapNotSupported];

/// The tools say `session_not_found`, which the Agentic Protocol has with the same meaning.
const TOOLS: &[Code] = &[
    Code::AgenticSessionNotFound,
    Code::GguiToolHandshakeNotFound,
    Code::GguiToolContractViolation,
    Code::GguiToolContractSchemaInvalid,
    Code::GguiToolContractValidationFailed,
    Code::GguiToolCrossReferenceUnresolved,
    Code::GguiToolNameInvariantViolation,
    Code::GguiToolSchemaCompatIncompat,
    Code::GguiToolOverrideContractInvalid,
    Code::GguiToolBlueprintRejected,
    Code::GguiToolBlueprintNotFound,
    Code::GguiRateLimitExceeded,
    Code::GguiSchemaMismatchError,
    Code::GguiValidationError,
];

const GADGETS: &[Code] = &[
    Code::GguiToolDuplicateGadgetHook,
    Code::GguiToolGadgetNotRegistered,
    Code::GguiToolGadgetPackageMismatch,
    Code::GguiToolGadgetPublicEnvMissing,
];
