//! The codes, one entry each: variant, code, category, retry class, HTTP status, and one sentence
//! that says what happened and what to do.
//!
//! The entries of a protocol are in a file of their own below `registry`. Each of these files is a
//! macro that adds its entries to those that it gets, and passes them on to the next; `codes!` at
//! the end makes one type from all of them.

#[macro_use]
mod accord;
#[macro_use]
mod alx;
#[macro_use]
mod agentic;
#[macro_use]
mod xchain;
#[macro_use]
mod aof;
#[macro_use]
mod ggui;

use super::{Category, Protocol, RetryClass};
use crate::wire::Names;

macro_rules! codes {
    (; $($protocol:ident {$(
        $variant:ident = $code:literal,
        $category:ident, $retry:ident, $status:literal, $meaning:literal;
    )+})+) => {
        /// A failure code.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $meaning] $variant,)+)+
        }

        impl Code {
            /// Every code, in the order of the registry.
            pub const ALL: &'static [Self] = &[$($(Self::$variant),+),+];

            /// The code on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$variant => $code,)+)+ }
            }

            /// Finds a code by its text.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($($code => Some(Self::$variant),)+)+ _ => None }
            }

            /// The protocol that defines the code.
            pub const fn protocol(self) -> Protocol {
                match self { $($(Self::$variant => Protocol::$protocol,)+)+ }
            }

            /// The stable category; the `error.type` of the ALX envelope.
            pub const fn category(self) -> Category {
                match self { $($(Self::$variant => Category::$category,)+)+ }
            }

            /// When the request may be sent again.
            pub const fn retry(self) -> RetryClass {
                match self { $($(Self::$variant => RetryClass::$retry,)+)+ }
            }

            /// The HTTP status of an answer that carries the code.
            pub const fn http_status(self) -> u16 {
                match self { $($(Self::$variant => $status,)+)+ }
            }

            /// What happened and what to do, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $($(Self::$variant => $meaning,)+)+ }
            }
        }
    };
}

accord_codes! { alx_codes agentic_codes xchain_codes aof_codes ggui_codes codes; }

impl Names for Code {
    const NAME: &'static str = "ErrorCode";
    const ALL: &'static [Self] = Self::ALL;
    // A contract lists codes by category, so a new code changes no message.
    const LISTED: bool = false;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }
}

crate::wire_names! { Code }

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_line_is_sound() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            let text = code.as_str();
            assert!(seen.insert(text), "{text} is declared twice");
            assert_eq!(Code::parse(text), Some(*code));
            let letter = |c: char| match code.protocol() {
                Protocol::Agentic | Protocol::Xchain => c.is_ascii_lowercase(),
                // The guide has one reason with a capital letter inside. ggui writes the codes of
                // its tools in small letters, and all others in capitals.
                Protocol::Aof | Protocol::Ggui => c.is_ascii_alphabetic(),
                // The codes of hub and edges are in small letters, as are those of what they carry.
                Protocol::Accord if text.starts_with(|c: char| c.is_ascii_lowercase()) => {
                    c.is_ascii_lowercase()
                }
                Protocol::Accord | Protocol::Alx => c.is_ascii_uppercase(),
            };
            let tidy = |c: char| letter(c) || c.is_ascii_digit() || c == '_';
            assert!(text.chars().all(tidy) && text.starts_with(letter));
            assert!((400..600).contains(&code.http_status()), "{text} is no failure");
            assert_ne!(code.retry(), RetryClass::Conservative, "{text} is known");
            let meaning = code.meaning();
            assert!(
                meaning.ends_with('.') && meaning.contains("; "),
                "{text} says what, not what to do"
            );
        }
    }

    #[test]
    fn the_variant_is_the_code_in_rust_letters() {
        // Every protocol's routes refuse with these.
        let shared =
            [Code::AccessDenied, Code::NotForWorkers, Code::WorkerStillRuns, Code::DecisionStale];
        for code in Code::ALL.iter().filter(|code| !shared.contains(code)) {
            let camel: String = (code.as_str().split('_'))
                .map(|word| format!("{}{}", word[..1].to_uppercase(), word[1..].to_lowercase()))
                .collect();
            // Two protocols spell one word differently; the variant names the protocol.
            let owner = match code.protocol() {
                Protocol::Accord | Protocol::Alx => String::new(),
                Protocol::Ggui if code.as_str().starts_with(char::is_lowercase) => {
                    "GguiTool".to_owned()
                }
                protocol => format!("{protocol:?}"),
            };
            assert_eq!(format!("{code:?}"), format!("{owner}{camel}"));
        }
    }

    #[test]
    fn credentials_and_waiting_belong_to_their_categories() {
        for code in Code::ALL {
            let waits = code.retry() == RetryClass::Backoff;
            assert!(!waits || code.category() == Category::Execution, "{code}");
            let credentials = code.retry() == RetryClass::AfterCredentials;
            assert!(!credentials || code.category() == Category::Auth, "{code}");
        }
    }
}
