//! File trees and governed repositories, on real folders and on a disk that forgets.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests damage files, start processes and wait"
)]
#![expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]

mod bundles;
mod checkups;
mod commits;
mod crashes;
mod indexes;
mod kills;
mod locks;
mod protection;
mod reading;
mod records;
mod roots;
mod support;
