//! Who may do what, through every door: the table test of the policy.
//!
//! Every operation that writes is sent through every door, by real processes, as every kind of
//! caller that can exist there, in the name of a person, of an agent and of nobody. What was
//! refused by the policy is compared with `matrix.txt`, which is written by hand. A new operation
//! or tool without a line in `operations.txt` or `tools.txt` fails.

mod commands;
mod curl;
mod frames;
mod http;
mod mcp;
mod records;
mod runs;
mod tables;
mod tally;
