//! Blobs: files by their digest.

use accord_api::body::Bytes;
use accord_api::parameter::{Definition, Described, Id, Params, Text};
use accord_api::{Json, Need, operation, params};
use accord_contract::{Code, Failure, TextForm, Wire as _, message};

use crate::query::PROJECT_ID;
use crate::{ContentHash, ProjectId, refuse};

/// The digest of a blob, in a path.
pub struct BlobDigest;

params! {
    /// A blob.
    pub struct OfBlob {
        /// The SHA-256 digest of the content: sha256: and lower-case hexadecimal digits.
        required digest: BlobDigest = BlobDigest;
    }

    /// Whose blob it is.
    #[derive(Default)]
    pub struct BlobWithin {
        /// The project that the blob belongs to.
        optional project: Id<ProjectId> = PROJECT_ID;
    }

    /// Which bytes are read, and what the client has.
    pub struct BlobHeaders {
        /// The bytes to read; any other form means the whole blob.
        optional range: Text = Text::new("range", TextForm::ANY.example("bytes=0-99"));
        /// Entity tags of versions that the client has.
        optional known: Text = super::IF_NONE_MATCH;
    }
}

message! {
    /// A stored blob.
    pub struct StoredBlob("StoredBlob", open) {
        /// Its digest.
        required digest: ContentHash = "digest", "content-hash";
        /// Its size.
        required size: u64 = "size", "bytes";
    }
}

operation! {
    /// Stores a blob under its digest, written as sha256: and 64 hexadecimal digits. Its media
    /// type, the header Content-Type, is returned with the blob.
    pub struct PutBlob("put_blob", Put "/v1/blobs/{digest}") of Agentic {
        path OfBlob;
        query BlobWithin;
        body Bytes;
        needs Need::Write;
        answers 201 "The blob is stored.", Json<StoredBlob>;
        also 200 "The blob was stored before.";
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticBlobDigestMismatch,
            Code::AgenticProjectNotFound, Code::AgenticProjectArchived, Code::AgenticNotImplemented,
            Code::StoreFull]];
    }

    /// Reads a blob by its digest.
    pub struct GetBlob("get_blob", Get "/v1/blobs/{digest}") of Agentic {
        path OfBlob;
        query BlobWithin;
        headers BlobHeaders;
        needs Need::Read;
        answers 200 "The blob.", Bytes;
        also 206 "The requested bytes.";
        nothing 304 "The client has it; the content of a digest never changes.";
        refuses [&[Code::HttpRangeNotSatisfiable, Code::AgenticInvalidSchema,
            Code::AgenticBlobNotFound, Code::AgenticBlobDamaged, Code::AgenticNotImplemented]];
    }
}

impl Definition for BlobDigest {
    type Value = ContentHash;

    fn name(&self) -> &'static str {
        "digest"
    }

    fn value(&self, params: &Params<'_>) -> Result<Option<ContentHash>, Failure> {
        let given = params.text("digest").map(str::parse).transpose();
        given.map_err(|_| {
            let message = "the name of a blob is sha256: and 64 lowercase hexadecimal digits";
            refuse::schema("/digest", message)
        })
    }

    fn text(&self, value: &ContentHash) -> String {
        value.to_string()
    }

    fn described(&self) -> Described {
        Described { name: "digest", shape: ContentHash::shape(), default: None }
    }
}
