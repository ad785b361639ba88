//! The ids of the Agentic Protocol.

use accord_base::id;

id! {
    /// Names a package within its project.
    PackageId, "pkg_"
}
id! {
    /// Names a fact within its project.
    FactId, "fact_"
}
