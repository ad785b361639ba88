//! The documentation of the codes, as Markdown: one page per code, and an index.

use std::fmt::Write;

use super::{Category, Code, Protocol, RetryClass, Union, unions};

/// The file name of a code's page, which differs also where file systems ignore letter case.
pub fn page_name(code: Code) -> String {
    match code.protocol() {
        Protocol::Accord | Protocol::Alx => format!("{code}.md"),
        Protocol::Ggui if code.as_str().starts_with(char::is_lowercase) => {
            format!("ggui.tool.{code}.md")
        }
        protocol => format!("{protocol}.{code}.md"),
    }
}

/// The page of one code.
pub fn page(code: Code) -> String {
    let mut rows = String::new();
    for (name, text) in properties(code) {
        let _ = writeln!(rows, "| {name} | {text} |");
    }
    let meaning = code.meaning();
    format!("# {code}\n\n{meaning}\n\n| | |\n|---|---|\n{rows}\n[All codes](README.md)\n")
}

/// The properties of a code: their names and values, with code between backticks.
pub fn properties(code: Code) -> Vec<(&'static str, String)> {
    let has_it = |union: &Union| union.members.contains(&code.as_str());
    let lists = unions().into_iter().filter(has_it);
    let lists: Vec<_> = lists.map(|union| format!("`{}` ({})", union.name, union.policy)).collect();
    let lists = if lists.is_empty() { "none".to_owned() } else { lists.join(", ") };
    let (category, retry) = (code.category(), code.retry());
    vec![
        ("Defined by", code.protocol().title().to_owned()),
        ("Category (`error.type`)", format!("`{category}`: {}", category_about(category))),
        ("Retry", format!("`{retry}`: {}", retry_about(retry))),
        ("HTTP status", code.http_status().to_string()),
        ("Named lists", lists),
    ]
}

/// The list of all codes and of the named lists.
pub fn index() -> String {
    let mut text = String::from(
        "# Failure codes\n\n\
         Every refusal carries one of these codes. `accord codes CODE` prints a page.\n\
         These pages are generated from the registry in `crates/contract/src/codes/registry`.\n",
    );
    for protocol in Protocol::ALL {
        let columns = "| Code | Category | Retry | HTTP | Meaning |\n|---|---|---|---|---|";
        let _ = writeln!(text, "\n## {}\n\n{columns}", protocol.title());
        for code in Code::ALL.iter().filter(|code| code.protocol() == *protocol) {
            let (page, category, retry) = (page_name(*code), code.category(), code.retry());
            let (status, meaning) = (code.http_status(), code.meaning());
            let row = format!("[{code}]({page}) | `{category}` | `{retry}` | {status} | {meaning}");
            let _ = writeln!(text, "| {row} |");
        }
    }
    text.push_str(
        "\n## Named lists\n\n\
         A value outside a closed list is refused. A reader of an extensible list must \
         handle values that\nit does not know.\n\n\
         | List | Policy | What it names | Values |\n|---|---|---|---|\n",
    );
    for Union { name, policy, about, members } in unions() {
        let _ = writeln!(text, "| `{name}` | {policy} | {about} | `{}` |", members.join("` `"));
    }
    text
}

fn category_about(category: Category) -> &'static str {
    match category {
        Category::Auth => "the caller is unknown, or lacks permission",
        Category::Approval => "the request waits for a decision",
        Category::Execution => "the request was valid, and carrying it out failed",
        Category::Validation => "the request, or a document in it, is not valid",
        Category::NotFound => "what the request names does not exist",
    }
}

fn retry_about(retry: RetryClass) -> &'static str {
    match retry {
        RetryClass::AfterCredentials => "send it again after the credentials have changed",
        RetryClass::AfterChange => "sending it again unchanged gives the same answer",
        RetryClass::Backoff => "send it again, unchanged, after a wait that grows",
        RetryClass::Never => "do not send it again",
        RetryClass::Conservative => {
            "the code is unknown; assume that the request may have been carried out"
        }
    }
}
