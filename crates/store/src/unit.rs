//! Units of work: what a job is given while its transaction is open.

use crate::{
    Audit, BlobWrites, Blobs, EventWrites, Events, FactWrites, Facts, KeyWrites, Keys,
    PackageWrites, Packages, ProjectWrites, Projects, Repair, Search, SessionWrites, Sessions,
    SettingWrites, Settings,
};

/// One consistent view of everything that is kept.
///
/// Nothing that is written meanwhile changes what a unit sees.
pub trait ReadUnit:
    Audit + Blobs + Events + Facts + Keys + Packages + Projects + Search + Sessions + Settings
{
}

/// One transaction: it sees what it has written, and all of it is kept or nothing.
pub trait WriteUnit:
    ReadUnit
    + BlobWrites
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
    U: Audit + Blobs + Events + Facts + Keys + Packages + Projects + Search + Sessions + Settings
{
}

impl<U> WriteUnit for U where
    U: ReadUnit
        + BlobWrites
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
