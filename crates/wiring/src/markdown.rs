//! The block of instructions in a Markdown file, between two markers.

use accord_canon::sha256;
use accord_contract::{Code, Failure};

use crate::bytes::{Text, append, without};
use crate::edit::{Edited, Entry, Terms, Written};

const BEGIN: &str = "<!-- accord:begin";
const END: &str = "<!-- accord:end -->";

/// A block that was found.
struct Block<'a> {
    /// The bytes of the block, with the newline after it.
    range: std::ops::Range<usize>,
    /// The digest that the first marker has.
    digest: &'a str,
    body: String,
}

pub(crate) fn put(text: &Text, body: &str, terms: &Terms<'_>) -> Result<Edited, Failure> {
    let block = written(body);
    let entry = Entry::Block { body: body.to_owned() }.written();
    let Some(found) = find(&text.text, terms.path)? else {
        let (after, added) = append(text, &block);
        return Ok(Edited::Changed(after, Written { added: Some(added), ..entry }));
    };
    if found.body == body && found.digest == digest(body) {
        return Ok(Edited::Same);
    }
    if !found.is_unchanged() && !terms.force {
        return Ok(Edited::Kept("somebody changed the block of Accord".to_owned()));
    }
    let newline = text.newline();
    let block = block.replace('\n', newline);
    let (before, after) = (&text.text[..found.range.start], &text.text[found.range.end..]);
    let added = terms.written.and_then(|written| written.added.as_deref()).unwrap_or_default();
    let lead = &added[..added.len() - added.trim_start().len()];
    let added = (!added.is_empty()).then(|| format!("{lead}{block}"));
    Ok(Edited::Changed(format!("{before}{block}{after}"), Written { added, ..entry }))
}

pub(crate) fn take(text: &Text, terms: &Terms<'_>) -> Result<Edited, Failure> {
    let Some(found) = find(&text.text, terms.path)? else { return Ok(Edited::Same) };
    if !found.is_unchanged() && !terms.force {
        return Ok(Edited::Kept("somebody changed the block of Accord".to_owned()));
    }
    let entry = Entry::Block { body: found.body.clone() }.written();
    let added = terms.written.and_then(|written| written.added.as_deref()).unwrap_or_default();
    let after = without(&text.text, added).unwrap_or_else(|| {
        // With one of the empty lines around it.
        let before = &text.text[..found.range.start];
        let rest = &text.text[found.range.end..];
        let short = ["\r\n", "\n"].into_iter().find_map(|newline| {
            let short = before.strip_suffix(newline)?;
            (short.is_empty() || short.ends_with('\n')).then_some(short)
        });
        format!("{}{rest}", short.unwrap_or(before))
    });
    Ok(Edited::Changed(after, entry))
}

/// The body of the block in a text, if it has one.
pub(crate) fn body(text: &str, path: &str) -> Result<Option<String>, Failure> {
    Ok(find(text, path)?.map(|found| found.body))
}

/// A block with its markers.
fn written(body: &str) -> String {
    format!("{BEGIN} v1 sha256={} -->\n{body}{END}\n", digest(body))
}

fn digest(body: &str) -> String {
    sha256(body.as_bytes()).hex()
}

impl Block<'_> {
    fn is_unchanged(&self) -> bool {
        digest(&self.body) == self.digest
    }
}

/// The block of a text. Fails with `WIRING_MARKERS` if the markers do not make one block.
fn find<'a>(text: &'a str, path: &str) -> Result<Option<Block<'a>>, Failure> {
    let refuse = |line: usize, why: &str| {
        let message = format!("{path}, line {line}: {why}");
        Err(Failure::new(Code::WiringMarkers, message))
    };
    let mut begun: Option<(usize, usize, usize, &str)> = None;
    let mut found: Option<Block<'_>> = None;
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let next = at + line.len();
        let words = line.trim();
        if let Some(rest) = words.strip_prefix(BEGIN) {
            if begun.is_some() {
                return refuse(number, "a block of Accord begins inside of another one");
            }
            if found.is_some() {
                return refuse(number, "a second block of Accord begins");
            }
            let digest = rest.split_once("sha256=").map_or("", |(_, digest)| digest);
            let digest = digest.split(' ').next().unwrap_or_default();
            begun = Some((number, at, next, digest));
        } else if words == END {
            let Some((_, start, first, digest)) = begun.take() else {
                return refuse(number, "a block of Accord ends that did not begin");
            };
            let body = text[first..at].replace("\r\n", "\n");
            found = Some(Block { range: start..next, digest, body });
        }
        at = next;
    }
    match begun {
        Some((line, ..)) => refuse(line, "a block of Accord begins and does not end"),
        None => Ok(found),
    }
}
