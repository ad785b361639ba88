//! The example commands of the manual, as requests.

use std::collections::BTreeMap;

/// A request that an example command sends.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// The file that the answer is written to.
    pub(super) output: Option<String>,
}

/// Reads a command. `known` has the values of variables, and the contents of files.
pub(super) fn read(command: &str, known: &BTreeMap<String, String>) -> Sent {
    let mut sent = Sent::default();
    let mut words = words(command, known).into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => sent.method = words.next().unwrap(),
            "-H" => {
                let header = words.next().unwrap();
                let (name, value) = header.split_once(": ").expect("a header");
                sent.headers.push((name.to_owned(), value.to_owned()));
            }
            "--json" => {
                sent.headers.push(("Content-Type".into(), "application/json".into()));
                sent.body = words.next().unwrap();
            }
            "--data-binary" => {
                let body = words.next().unwrap();
                sent.body = match body.strip_prefix('@') {
                    None => body,
                    Some(file) => known[file].clone(),
                };
            }
            "-o" => sent.output = words.next(),
            "--unix-socket" | "--max-time" | "-m" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            url => {
                let rest = url.split_once("://").expect("a URL").1;
                sent.path = rest[rest.find('/').expect("a path")..].to_owned();
            }
        }
    }
    if sent.method.is_empty() {
        sent.method = if sent.body.is_empty() { "GET" } else { "POST" }.to_owned();
    }
    sent
}

/// The words of a command, as a shell reads them.
fn words(command: &str, known: &BTreeMap<String, String>) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (closing, Some(opening)) if closing == opening => quote = None,
            ('$', None | Some('"')) => {
                let mut name = String::new();
                while let Some(letter) = letters.next_if(|c| c.is_ascii_uppercase() || *c == '_') {
                    name.push(letter);
                }
                word.push_str(&known[&name]);
            }
            ('\\', None) => {}
            (space, None) if space.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
