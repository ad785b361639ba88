//! The modules of a page as one script.
//!
//! A frame in the sandbox of a host loads nothing, so that its modules stand in it. Each module
//! becomes a function whose result has its exports. That takes the few forms of `import` and
//! `export` that our modules use; a test holds that no other is left.

use std::fmt::Write as _;

use super::ASSETS;

/// The module of a name, with everything that it imports, as the text of one module.
pub(crate) fn bundle(entry: &str) -> String {
    let mut done = Vec::new();
    let mut out = String::new();
    add(entry, &mut done, &mut out);
    out
}

fn add(name: &str, done: &mut Vec<String>, out: &mut String) {
    if done.iter().any(|known| known == name) {
        return;
    }
    done.push(name.to_owned());
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let text = asset.expect("a module imports modules of this crate").text;
    let mut body = String::with_capacity(text.len());
    let mut exports = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.starts_with("import ") {
            let end = rest.find(';').expect("an import ends");
            let (names, from) = rest[..end].split_once(" from ").expect("an import names a module");
            let from = from.trim_matches('"').trim_start_matches("./");
            add(from, done, out);
            let names = names.trim_start_matches("import ");
            writeln!(body, "const {names} = {};", variable(from)).expect("a String takes it");
            rest = rest[end + 1..].trim_start_matches('\n');
            continue;
        }
        let exported = line.strip_prefix("export ");
        exports.extend(exported.and_then(declared));
        let line = exported.unwrap_or(line);
        let is_remark = line.trim_start().starts_with("//");
        if !is_remark && !line.trim().is_empty() {
            body.push_str(line);
            body.push('\n');
        }
        rest = after;
    }
    let (name, exports) = (variable(name), exports.join(", "));
    writeln!(out, "const {name} = (() => {{\n{body}return {{ {exports} }};\n}})();")
        .expect("a String takes it");
}

/// The name that an exported declaration declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_word = |word: &&str| !matches!(*word, "const" | "let" | "class" | "function" | "async");
    words.find(|word| is_word(word) && !word.is_empty())
}

fn variable(name: &str) -> String {
    format!("module_{}", name.trim_end_matches(".js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_imports_nothing_and_has_each_module_once() {
        let text = bundle("frame.js");
        for line in text.lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
        assert_eq!(text.matches("const module_dom = ").count(), 1);
        assert!(text.find("const module_text").unwrap() < text.find("const module_frame").unwrap());
        // It stands in a script element.
        for end in ["</script", "<!--"] {
            assert!(!text.to_lowercase().contains(end), "{end}");
        }
    }
}
