//! `tools/lines.sh` counts source and leaves tests out.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::accord::run;

/// Each line that must be counted ends with `// +`, or is one of two that cannot have a comment.
const LIB: &str = r####"// +
/// A helper of tests.
#[derive(Debug)]
#[cfg(test)]
struct Helper<A, B> {
    a: A,
    b: [B; 2],
}
pub fn quotes<'a>(text: &'a str) -> char { // + }
    let _ = ("{ \" {", r#"{ " {"#, b'{', '\'', '{', '\u{7b}', 'é', text); // +
    let _ = r"
#[cfg(test)]
"; // +
    /* { /* { */ { */ // +
    '"' // +
} // +
#[cfg(test)]
use std::{
    fs,
    io,
};
#[cfg(test)]
fn generic<
    A,
    B,
>(_: A, _: B) {
    let _ = "}";
}
struct Fields { // +
    #[cfg(test)]
    a: u8,
    b: u8, // +
} // +
#[cfg(all(unix, test))]
mod only_tests;
#[cfg(test)]
#[path = "elsewhere.rs"]
mod named;
#[cfg(feature = "testing")] // +
mod support; // +
#[cfg(test)]
mod tests {
    const BRACE: char = '}';
}
"####;

#[test]
fn lines_of_tests_are_not_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("crates/one/src/lib.rs", LIB),
        ("crates/one/src/only_tests.rs", "mod below;\n"),
        ("crates/one/src/only_tests/below.rs", "fn test() {}\n"),
        ("crates/one/src/elsewhere.rs", "fn test() {}\n"),
        ("crates/one/src/support.rs", "// +\n"),
        ("crates/one/tests/suite/main.rs", "fn test() {}\n"),
        ("crates/two/src/main.rs", "mod part; // +\n"),
        ("crates/two/src/part/mod.rs", "#[cfg(test)]\nmod tests;\n"),
        ("crates/two/src/part/tests.rs", "fn test() {}\n"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        fs::write(path, text).expect("a new file");
    }
    let marked = |text: &str| text.lines().filter(|line| line.contains("// +")).count();
    // Two lines of the raw string cannot be marked.
    let one = marked(LIB) + 2 + 1;
    let expected = format!("{one:8}  one\n{:8}  two\n{:8}  total\n", 1, one + 1);
    assert_eq!(count(folder.path()).yes(), expected);
}

#[test]
fn a_file_that_cannot_be_followed_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("crates/one/src");
    fs::create_dir_all(&source).expect("a new folder");
    fs::write(source.join("lib.rs"), "#[cfg(test)]\nmod tests {\n").expect("a new file");
    let ran = count(folder.path());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("crates/one/src/lib.rs"), "{}", ran.stderr);
}

fn count(checkout: &Path) -> crate::accord::Ran {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/lines.sh");
    let mut command = Command::new(script);
    command.arg(checkout);
    run(command, "")
}
