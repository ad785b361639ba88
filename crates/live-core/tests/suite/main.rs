//! Tests of the rules about live sessions.

mod version;
