//! Units of work: the access of a job to the store within its transaction.

use crate::{
    Audit, BlobWrites, Blobs, Briefings, EmbeddingWrites, Embeddings, EventWrites, Events,
    FactWrites, Facts, KeyWrites, Keys, PackageWrites, Packages, ProjectWrites, Projects, Repair,
    Search, SessionWrites, Sessions, SettingWrites, Settings, Totals,
};

/// A snapshot of the store.
///
/// Later writes do not change what a unit sees.
pub trait ReadUnit:
    Audit
    + Blobs
    + Briefings
    + Embeddings
    + Events
    + Facts
    + Keys
    + Packages
    + Projects
    + Search
    + Sessions
    + Settings
    + Totals
{
}

/// A transaction. It sees its own writes, and is committed as a whole or not at all.
pub trait WriteUnit:
    ReadUnit
    + BlobWrites
    + EmbeddingWrites
    + EventWrites
    + FactWrites
    + KeyWrites
    + PackageWrites
    + ProjectWrites
    + Repair
    + SessionWrites
    + SettingWrites
{
}

impl<U> ReadUnit for U where
    U: Audit
        + Blobs
        + Briefings
        + Embeddings
        + Events
        + Facts
        + Keys
        + Packages
        + Projects
        + Search
        + Sessions
        + Settings
        + Totals
{
}

impl<U> WriteUnit for U where
    U: ReadUnit
        + BlobWrites
        + EmbeddingWrites
        + EventWrites
        + FactWrites
        + KeyWrites
        + PackageWrites
        + ProjectWrites
        + Repair
        + SessionWrites
        + SettingWrites
{
}
