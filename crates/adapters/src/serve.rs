//! Answering cases of any protocol.

use accord_canon::read;
use accord_contract::fixture::{AdapterResult, Status, Vocabulary};
use serde_json::Value;

use crate::{BadCall, Call, agentxchain, alx, aof, ggui};

#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Outcome(Value),
    /// The implementation does not have the operation.
    NotImplemented,
}

pub type Answered = Result<Reply, BadCall>;

impl Reply {
    /// A success with these members, which are an object.
    pub(crate) fn ok(mut members: Value) -> Self {
        members["result"] = "ok".into();
        Self::Outcome(members)
    }
}

pub trait Adapter: Send + Sync {
    fn protocol(&self) -> &'static str;

    fn id_member(&self) -> &'static str {
        "id"
    }

    /// The assertions that the cases' expectations may use.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Kit
    }

    /// Performs the operation of a case. Fails when the case is not understood.
    fn perform(&self, call: &Call) -> Answered;

    /// Whether cases that are judged by a folder send steps.
    fn has_steps(&self) -> bool {
        false
    }

    /// Performs a step of a case that is judged by a folder, if the protocol has such cases.
    fn step(&self, request: &Value) -> Option<Value> {
        let _ = request;
        None
    }

    /// The answer to a step, if the line is one.
    fn answer_step(&self, line: &[u8]) -> Option<String> {
        let request = read(line).ok()?;
        request.get("do")?;
        self.step(&request).map(|answer| answer.to_string())
    }

    fn answer(&self, text: &[u8]) -> AdapterResult {
        match read(text) {
            Ok(case) => self.answer_case(&case),
            Err(error) => error_result(format!("the case is not JSON: {error}")),
        }
    }

    fn answer_case(&self, case: &Value) -> AdapterResult {
        let result = self.judge(case).unwrap_or_else(|bad| error_result(bad.to_string()));
        match case.get(self.id_member()).and_then(Value::as_str) {
            Some(id) => result.answering(id),
            None => result,
        }
    }

    /// Performs a case and compares the outcome with the expectation.
    fn judge(&self, case: &Value) -> Result<AdapterResult, BadCall> {
        // Public fixtures do not name their protocol, so an absent member is fine.
        if let Some(other) = case.get("protocol").filter(|name| *name != self.protocol()) {
            let message = format!("the case is one of {other}, not of {}", self.protocol());
            return Err(BadCall::new(message));
        }
        let call = Call::read(case)?;
        Ok(match self.perform(&call)? {
            Reply::Outcome(outcome) => {
                AdapterResult::judge_by(self.vocabulary(), &call.expected, outcome)
            }
            Reply::NotImplemented => {
                let message = format!("there is no operation {:?} here", call.operation);
                AdapterResult::without_outcome(Status::NotImplemented, message)
            }
        })
    }
}

fn error_result(message: String) -> AdapterResult {
    AdapterResult::without_outcome(Status::Error, message)
}

/// Declares the adapters: the protocol, its adapter, its seeded faults.
macro_rules! adapters {
    ($($protocol:literal: $adapter:expr, $faults:path;)+) => {
        /// The protocols that have an adapter.
        pub const fn protocols() -> &'static [&'static str] {
            &[$($protocol),+]
        }

        /// The adapter of a protocol.
        pub fn adapter(protocol: &str) -> Option<Box<dyn Adapter>> {
            match protocol {
                $($protocol => Some(Box::new($adapter)),)+
                _ => None,
            }
        }

        /// The seeded faults of a protocol.
        #[cfg(feature = "faults")]
        pub fn faults_of(protocol: &str) -> &'static [crate::faults::Fault] {
            match protocol {
                $($protocol => $faults,)+
                _ => &[],
            }
        }
    };
}

adapters! {
    "agentxchain": agentxchain::Accord::default(), accord_runs_core::faults::ALL;
    "alx": alx::Accord, alx::FAULTS;
    "aof": aof::Accord::default(), accord_tasks_core::faults::ALL;
    "ggui": ggui::Accord, accord_live_core::faults::ALL;
}
