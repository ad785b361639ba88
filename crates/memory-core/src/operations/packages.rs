//! Packages: deposit and pull.

use std::collections::BTreeMap;

use accord_api::body::Either;
use accord_api::parameter::{CURSOR, Flag, Id, Number, Opaque, Text, Word};
use accord_api::{Json, Need, Verbatim, operation, params};
use accord_contract::wire::Number as Score;
use accord_contract::{Code, TextForm, message, wire_enum};

use super::{InProject, KnownVersions, OfPackage, PackageWithin, at_project};
use crate::lifecycle::Revision;
use crate::package::{PackageFields, Status};
use crate::query::{MAX_QUERY_BYTES, PAGE_TOKENS, PULL_LIMIT, PullMode, REVIEW_LIMIT};
use crate::{PackageId, SessionId, Warning};

wire_enum! {
    /// The kinds of search.
    pub enum SearchBy("SearchBy", closed) {
        /// By its words.
        Words = "keyword",
        /// By its meaning.
        Meaning = "semantic",
        /// By both.
        Both = "hybrid",
    }
}

params! {
    /// How a package is deposited.
    #[derive(Default)]
    pub struct DepositParams {
        /// Whether to generate an id if the package has none.
        flag mint: Flag = Flag::new("mint");
        /// Whether the command made it from the record of a governed run. It needs the verb
        /// `approve`, and no worker may do it. If it says that the attempt of a worker was
        /// rejected (`x-takes_back`), what the attempt left is taken back, and the package is
        /// stored if there was anything.
        flag flow: Flag = Flag::new("flow");
    }

    /// How a package or a fact is written.
    #[derive(Default)]
    pub struct WriteHeaders {
        /// Whether it is stored although it contains a private key, a token or a key of Accord.
        flag allow_credentials: Flag = Flag::new("x-accord-allow-credentials");
        /// Whether short ids of packages that it names are completed, unless it has a hash.
        flag complete_ids: Flag = Flag::new("x-accord-complete-ids");
    }

    /// Which packages are read.
    #[derive(Default)]
    pub struct PullParams {
        /// What to read: the latest packages, those relevant to a query, or one.
        optional mode: Word<PullMode> = Word::new("mode").or(PullMode::Latest);
        /// The most items.
        optional limit: Number = PULL_LIMIT;
        /// latest: `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
        /// Only packages with this status.
        optional status: Word<Status> = Word::new("status");
        /// Only packages of this session.
        optional session_id: Id<SessionId> = Id::new("session_id");
        /// relevant: the words to search for.
        optional query: Text = Text::new(
            "query",
            TextForm::ANY.not_empty().bytes(MAX_QUERY_BYTES).pattern(r"\S"),
        );
        /// relevant: the kind of search; default: the best available.
        optional search: Word<SearchBy> = Word::new("search");
        /// specific: the package.
        optional package_id: Id<PackageId> = Id::new("package_id");
    }

    /// What the client has.
    pub struct PullHeaders {
        /// specific: entity tags of versions that the client has.
        optional known: Text = super::IF_NONE_MATCH;
    }

    /// Which packages that await a review are listed.
    #[derive(Default)]
    pub struct ReviewParams {
        /// The most items.
        optional limit: Number = REVIEW_LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
    }
}

message! {
    /// A page of packages.
    pub struct PackageList("PackageList", open) {
        /// The packages.
        required packages: Vec<PackageFields> = "packages", "packages";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// relevant: how well each package matches, in the same order.
        optional scores: Vec<PackageScore> = "scores", "scores";
        /// relevant: the kind of search that was done.
        optional searched: SearchBy = "x-search", "search-kind";
        /// relevant: words of the query that were not searched for.
        optional ignored_words: Vec<String> = "x-ignored_words", "words";
        /// relevant: why packages may be missing.
        optional warnings: Vec<Warning> = "warnings", "warnings";
        /// The ids of packages that are left out because they are damaged.
        optional integrity_warnings: Vec<PackageId> = "x-integrity_warnings", "package-ids";
        /// The superseded ones among the packages: for each id the ids of the packages that
        /// supersede it, newest first.
        optional superseded: BTreeMap<String, Vec<PackageId>> =
            "x-superseded", "superseded-packages";
        /// The packages with a note of a review, approval or flag: for each id the latest state
        /// with a note.
        optional reviews: BTreeMap<String, Revision> = "x-reviews", "reviews";
    }

    /// How well a package matches a query.
    pub struct PackageScore("PackageScore", open) {
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// More is better. Scores of the same kind of search can be compared.
        required score: Score = "score", "score";
        /// The words of the query that it contains.
        required matched: Vec<String> = "matched", "words";
        /// The packages that supersede it, newest first; absent if none does.
        optional superseded_by: Vec<PackageId> = "superseded_by", "package-ids";
    }
}

operation! {
    /// Deposits a package.
    pub struct Deposit("deposit", Post at_project!("/packages")) of Agentic {
        path InProject;
        query DepositParams;
        headers WriteHeaders;
        body Verbatim<PackageFields>;
        needs Need::Write;
        answers 201 "The package is stored.", Json<PackageFields>;
        also 200 "The package was stored before, or takes nothing back.";
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticHashMismatch,
            Code::AgenticDuplicatePackageId, Code::AgenticAmbiguousPackageId,
            Code::AgenticCredentialFound, Code::AgenticReservedPackage, Code::AgenticIntegrityError,
            Code::AgenticProjectNotFound, Code::AgenticProjectArchived,
            Code::AgenticPayloadTooLarge, Code::NotForWorkers, Code::AofPersonRequired,
            Code::WorkFull]];
    }

    /// Reads packages: the latest, those relevant to a query, or one.
    pub struct PullPackages("pull", Get at_project!("/packages")) of Agentic {
        path InProject;
        query PullParams;
        headers PullHeaders;
        needs Need::Read;
        answers 200 "The packages, or the package.", Either<PackageList, PackageFields>;
        nothing 304 "specific: the client has the current version.";
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound, Code::AgenticSearchNotSupported,
            Code::AgenticSearchUnavailable, Code::AgenticIntegrityError]];
    }

    /// Lists the packages that await a review, newest first.
    pub struct ListReviews("reviews", Get at_project!("/reviews")) of Agentic {
        path InProject;
        query ReviewParams;
        needs Need::Read;
        answers 200 "The packages.", Json<PackageList>;
        refuses [&[Code::AgenticInvalidCursor, Code::AgenticProjectNotFound]];
    }

    /// Reads one package.
    pub struct ReadPackage("package", Get "/v1/packages/{package_id}") of Agentic {
        path OfPackage;
        query PackageWithin;
        headers KnownVersions;
        needs Need::Read;
        answers 200 "The package.", Json<PackageFields>;
        nothing 304 "The client has the current version.";
        refuses [&[Code::AgenticPackageNotFound, Code::AgenticAmbiguousPackageId,
            Code::AgenticIntegrityError]];
    }
}

#[expect(clippy::derivable_impls, reason = "a macro declares the type")]
impl Default for SearchBy {
    fn default() -> Self {
        Self::Words
    }
}
