//! Answers in ALX envelopes.

use accord_contract::wire::Message;

/// An ALX envelope around the answer of an operation.
pub trait Envelope: Message {
    /// What a service answers.
    type Result;

    /// The envelope of an answer, for the exchange of a correlation id.
    fn wrap(result: Self::Result, correlation: &str) -> Self;

    /// The answer.
    fn result(self) -> Self::Result;
}

/// Declares the envelopes of answers, with the answer as `result`.
///
/// ```
/// use accord_api::Envelope as _;
/// use accord_contract::message;
/// use accord_contract::wire::Wire as _;
///
/// message! {
///     /// A count.
///     pub struct Count("Count", closed) {
///         /// How many there are.
///         required number: u64 = "number", "count";
///     }
/// }
///
/// accord_api::envelopes! {
///     "The answer.";
///     /// A count.
///     CountEnvelope("CountEnvelope") of Count;
/// }
///
/// # let count = Count::from_document(serde_json::json!({"number": 3}))?;
/// let envelope = CountEnvelope::wrap(count, "c1").encode();
/// assert_eq!((&envelope["ok"], &envelope["result"]["number"]), (&true.into(), &3.into()));
/// # Ok::<(), accord_contract::wire::DecodeError>(())
/// ```
#[macro_export]
macro_rules! envelopes {
    (
        $says:literal;
        $($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ty;)+
    ) => {
        $(
            $crate::contract::envelope! {
                $(#[doc = $about])+
                pub struct $name($wire) {
                    #[doc = $says]
                    required result: $answer = "result", "answer";
                }
            }

            impl $crate::Envelope for $name {
                type Result = $answer;

                fn wrap(result: $answer, correlation: &str) -> Self {
                    Self {
                        ok: $crate::contract::wire::True,
                        correlation_id: correlation.into(),
                        protocol: $crate::contract::alx::ProtocolInfo::ours(
                            ::core::default::Default::default(),
                        ),
                        result,
                        extra: $crate::contract::wire::Object::new(),
                    }
                }

                fn result(self) -> $answer {
                    self.result
                }
            }
        )+
    };
}
