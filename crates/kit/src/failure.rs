//! The kit's errors as failures with codes of the registry.

use accord_contract::{Code, Failure};

use crate::baseline::BaselineError;
use crate::corpus::CorpusError;
use crate::driver::{CannotBegin, ServerError};
use crate::exchange::ExchangeError;
use crate::filter::FilterError;
use crate::runner::RunError;
use crate::verifier::{TargetError, VerifyError};

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        let code = match &error {
            CorpusError::Unreadable { .. } => Code::KitCorpusUnreadable,
            CorpusError::Faulty(_) => Code::KitCaseInvalid,
            CorpusError::UnknownProtocol { .. } => Code::KitProtocolUnknown,
            CorpusError::UnknownCase { .. } => Code::KitCaseUnknown,
            CorpusError::Unwritable { .. } | CorpusError::Occupied { .. } => Code::KitExportFailed,
        };
        Self::new(code, error.to_string())
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Self {
        Self::new(Code::KitFilterInvalid, error.to_string())
    }
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        Self::new(Code::KitBaselineInvalid, error.to_string()).at(error.pointer)
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Baseline(error) => error.into(),
            RunError::Filter(error) => error.into(),
            RunError::CannotBegin(CannotBegin::Program(_)) => {
                Self::new(Code::KitAdapterNotFound, error.to_string())
            }
            RunError::CannotBegin(CannotBegin::Server(error)) => error.into(),
            RunError::UnknownLevel { .. } | RunError::UnknownProfile { .. } => {
                Self::new(Code::KitNoCaseRan, error.to_string())
            }
            RunError::Output(ref source) if source.kind() == std::io::ErrorKind::BrokenPipe => {
                Self::new(Code::OutputClosed, error.to_string())
            }
            RunError::Output(_) => Self::new(Code::OutputFailed, error.to_string()),
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        let message = error.to_string();
        match error {
            TargetError::Unreadable { .. } => Self::new(Code::KitCapabilitiesUnreadable, message),
            TargetError::Silent { trouble, .. } => {
                let code = match trouble {
                    ExchangeError::TimedOut(_) => Code::KitServerTimeout,
                    ExchangeError::Unreachable(_) | ExchangeError::BrokenOff(_) => {
                        Code::KitServerUnreachable
                    }
                    ExchangeError::Broken(_) | ExchangeError::Cancelled => {
                        Code::KitCapabilitiesUnreadable
                    }
                };
                Self::new(code, message)
            }
            TargetError::Invalid { pointer, .. } => {
                Self::new(Code::KitCapabilitiesInvalid, message).at(pointer)
            }
            TargetError::Server(error) => error.into(),
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        let message = error.to_string();
        match error {
            VerifyError::SurfaceUnclaimed { .. } => Self::new(Code::KitSurfaceUnclaimed, message),
            VerifyError::SurfaceUnknown { .. } => Self::new(Code::KitNoCaseRan, message),
            VerifyError::Run(error) => error.into(),
        }
    }
}
