//! Packs the corpus for embedding, so that the kit needs no files beside its binary.
//!
//! Each folder of `corpus/` becomes one compressed archive: a new file or protocol needs no edit
//! here. An archive has the files in the order of their paths. For each file: the path below
//! `corpus/` and the text, both after their length in four bytes, the lowest first.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads the tree that it is built from"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let root = manifest.join("../../corpus");
    let mut archives: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    println!("cargo::rerun-if-changed={}", root.display());
    if root.is_dir() {
        let mut files = BTreeMap::new();
        collect(&root, "", &mut files)?;
        for (name, path) in &files {
            // A file beside the folders is text for people.
            let Some((protocol, _)) = name.split_once('/') else { continue };
            let archive = archives.entry(protocol.to_owned()).or_default();
            push_text(archive, name)?;
            push_text(archive, &fs::read_to_string(path)?)?;
        }
    }
    let mut source = String::from("[\n");
    for (protocol, archive) in &archives {
        let path = target.join(format!("{protocol}.deflate"));
        fs::write(&path, miniz_oxide::deflate::compress_to_vec(archive, LEVEL))?;
        source.push_str(&format!("    ({protocol:?}, include_bytes!({path:?})),\n"));
    }
    source.push(']');
    fs::write(target.join("corpus.rs"), source)
}

fn push_text(archive: &mut Vec<u8>, text: &str) -> io::Result<()> {
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    archive.extend_from_slice(&length.to_le_bytes());
    archive.extend_from_slice(text.as_bytes());
    Ok(())
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.insert(format!("{prefix}{name}"), path);
        }
    }
    Ok(())
}

/// The level of zlib that compresses best.
const LEVEL: u8 = 9;
