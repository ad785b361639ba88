//! `MANIFEST.json`: the files of a finalized dispatch bundle.
//!
//! Invariants:
//! - a manifest lists every file of the bundle except itself once, sorted, including files in
//!   subfolders;
//! - a bundle matches its manifest only when no file is missing, changed or added, and it contains
//!   nothing but files and folders.

use std::collections::BTreeMap;

use accord_canon::sha256;
use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use crate::members::{build, count, given, text};
use crate::{Result, RunId, TurnId, rule};

pub const MANIFEST: &str = "MANIFEST.json";

pub(crate) const MANIFEST_VERSION: &str = "1.0";

wire_enum! {
    pub enum Fault("ManifestFault", closed) {
        MissingManifest = "missing_manifest",
        InvalidManifest = "invalid_manifest",
        MissingFile = "missing_file",
        SizeMismatch = "size_mismatch",
        DigestMismatch = "digest_mismatch",
        UnexpectedFile = "unexpected_file",
    }
}

/// The files of a bundle by their path, separated by `/`.
pub type Bundle = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManifestError {
    pub fault: Fault,
    pub path: Option<String>,
    pub detail: String,
}

/// Builds the manifest of a bundle. Fails with `finalization_failed` when the bundle has no files.
///
/// Clauses: AX-DM-IDENTITY, AX-DM-SELF, AX-DM-FINALIZE.
pub fn finalize(
    bundle: &Bundle,
    run_id: Option<&RunId>,
    turn_id: &TurnId,
    role: &str,
    now: Time,
) -> Result<Object> {
    let entry = |(name, bytes): (&String, &Vec<u8>)| {
        let digest = sha256(bytes).hex().into();
        let (path, size) = (name.as_str().into(), bytes.len().into());
        Value::Object(build([("path", path), ("sha256", digest), ("size", size)]))
    };
    let is_listed = |name: &str| rule!(name != MANIFEST; ListsItself => true);
    let files: Vec<Value> = bundle.iter().filter(|(name, _)| is_listed(name)).map(entry).collect();
    if files.is_empty() {
        let message = format!("the bundle of {turn_id} has no files");
        return Err(Failure::new(Code::XchainFinalizationFailed, message));
    }
    Ok(build([
        ("manifest_version", MANIFEST_VERSION.into()),
        ("run_id", run_id.map(RunId::as_str).into()),
        ("turn_id", turn_id.as_str().into()),
        ("role", role.into()),
        ("finalized_at", now.to_string().into()),
        ("files", files.into()),
    ]))
}

/// Compares a bundle with its manifest. `others` are entries that are neither files nor folders,
/// such as links. A manifest cannot cover what a worker would read there.
///
/// Clauses: AX-DM-VALID, AX-DM-UNEXPECTED, AX-DM-BELOW, AX-DM-DIGEST, AX-DM-MISSING, AX-DM-SIZE,
/// AX-DM-ACCUMULATE, AX-DM-NO-MANIFEST.
/// Returns every error. A missing or invalid manifest is reported alone.
pub fn verify(bundle: &Bundle, others: &[String]) -> Result<Object, Vec<ManifestError>> {
    let Some(bytes) = bundle.get(MANIFEST) else {
        return Err(vec![error(Fault::MissingManifest, None, "the bundle has no manifest")]);
    };
    let manifest = read(bytes).map_err(|why| vec![error(Fault::InvalidManifest, None, &why)])?;
    let mut errors = Vec::new();
    let mut listed = Vec::new();
    let empty = Object::new();
    for entry in manifest.get("files").and_then(Value::as_array).into_iter().flatten() {
        let entry = entry.as_object().unwrap_or(&empty);
        let name = text(entry, "path").unwrap_or_default();
        listed.push(name);
        let Some(bytes) = bundle.get(name) else {
            errors.push(error(Fault::MissingFile, Some(name), "it is listed and not there"));
            continue;
        };
        // The protocol reports size and digest independently, so a file can have both errors.
        let same_size = count(entry, "size") == Some(bytes.len() as u64);
        if rule!(!same_size; SizeNotCompared => false) {
            let detail = format!("it has {} bytes, which is not the listed size", bytes.len());
            errors.push(error(Fault::SizeMismatch, Some(name), &detail));
        }
        let digest = sha256(bytes).hex();
        let same_digest = text(entry, "sha256") == Some(digest.as_str());
        if rule!(!same_digest; DigestNotCompared => false) {
            let detail = format!("its digest {digest} is not the listed one");
            errors.push(error(Fault::DigestMismatch, Some(name), &detail));
        }
    }
    // The listed files alone would not reveal a file that was added for the worker to read.
    for name in bundle.keys().filter(|name| name.as_str() != MANIFEST) {
        let unexpected = !listed.contains(&name.as_str());
        if rule!(
            unexpected;
            FoldersUnopened => unexpected && !name.contains('/');
            StrangerUnnoticed => false
        ) {
            errors.push(error(Fault::UnexpectedFile, Some(name), "the file is not listed"));
        }
    }
    let what = "it is neither a file nor a folder";
    errors.extend(others.iter().map(|name| error(Fault::UnexpectedFile, Some(name), what)));
    if errors.is_empty() {
        Ok(manifest)
    } else {
        Err(rule!(errors; FirstViolationOnly => errors.into_iter().take(1).collect()))
    }
}

pub fn refusal(errors: &[ManifestError]) -> Failure {
    let message = errors.first().map_or_else(String::new, |error| error.detail.clone());
    let documents: Value = errors.iter().map(|error| Value::Object(error.document())).collect();
    Failure::new(Code::XchainManifestInvalid, message).with("verification_errors", documents)
}

impl ManifestError {
    pub fn document(&self) -> Object {
        let mut document = build([("type", self.fault.as_str().into())]);
        if let Some(path) = &self.path {
            document.insert("path".into(), path.as_str().into());
        }
        document.insert("detail".into(), self.detail.as_str().into());
        document
    }
}

/// Clauses: AX-DM-MALFORMED, AX-DM-FIELDS.
fn read(bytes: &[u8]) -> Result<Object, String> {
    let value = accord_canon::read(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(manifest) = value else { return Err("it is not a JSON object".into()) };
    if given(&manifest, "manifest_version").is_none() {
        return Err("it names no manifest_version".into());
    }
    if !manifest.get("files").is_some_and(Value::is_array) {
        return Err("it has no list of files".into());
    }
    Ok(manifest)
}

fn error(fault: Fault, path: Option<&str>, detail: &str) -> ManifestError {
    let detail = format!("{}: {detail}", path.unwrap_or(MANIFEST));
    ManifestError { fault, path: path.map(str::to_owned), detail }
}
