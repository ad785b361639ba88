//! Lists the corpus for embedding, so that the kit needs no files beside its binary.
//!
//! The list is made from whatever lies below `corpus/`: a new file or protocol needs no edit here.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads the tree that it is built from"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.join("../../corpus");
    let mut files = BTreeMap::new();
    println!("cargo::rerun-if-changed={}", root.display());
    if root.is_dir() {
        collect(&root, "", &mut files)?;
    }
    let mut source = String::from("[\n");
    for (name, path) in &files {
        source.push_str(&format!("    ({name:?}, include_str!({path:?})),\n"));
    }
    source.push(']');
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(target.join("corpus.rs"), source)
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
            files.insert(format!("{prefix}{name}"), path.canonicalize()?);
        }
    }
    Ok(())
}
