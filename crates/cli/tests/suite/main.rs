//! Tests of the `accord` command and of the shape of the house.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests run the command and read files"
)]

mod accord;
mod batches;
mod checks;
mod contracts;
mod documents;
mod garbage;
mod house;
