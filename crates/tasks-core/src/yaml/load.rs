//! Reading, with the positions of the members of block mappings.

use std::ops::Range;

use accord_contract::{Object, Value};
use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use super::scalar::resolve;

const MAX_DEPTH: usize = 64;
/// The most nodes, aliases counted with what they stand for.
const MAX_NODES: usize = 50_000;

/// Why a text is not YAML that a task file may have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct YamlError {
    /// The line, from 1.
    pub line: usize,
    pub problem: String,
}

pub(super) struct Node {
    pub(super) value: Value,
    pub(super) bytes: Range<usize>,
    /// The members, if it is a block mapping.
    pub(super) block: Option<Block>,
    /// Whether it is a scalar, or a collection between brackets.
    pub(super) is_inline: bool,
}

pub(super) struct Block {
    /// How far its keys are indented.
    pub(super) indent: usize,
    pub(super) members: Vec<Member>,
}

pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_bytes: Range<usize>,
    pub(super) node: Node,
}

/// Reads a text that has one document.
pub(super) fn load(text: &str) -> Result<Node, YamlError> {
    let mut loader = Loader { events: Parser::new_from_str(text), anchors: Vec::new(), nodes: 0 };
    let mut root = None;
    while let Some((event, span)) = loader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(..) if root.is_some() => {
                return Err(error(&span, "there is a second document"));
            }
            Event::DocumentStart(..) => {}
            event => root = Some(loader.node(event, &span, 0)?),
        }
    }
    Ok(root.unwrap_or(Node { value: Value::Null, bytes: 0..0, block: None, is_inline: true }))
}

struct Loader<'t, I: granit_parser::BorrowedInput<'t>> {
    events: Parser<'t, I>,
    /// The values of anchors, with how many nodes each has.
    anchors: Vec<(usize, Value, usize)>,
    nodes: usize,
}

impl<'t, I: granit_parser::BorrowedInput<'t>> Loader<'t, I> {
    /// The next event that is not a comment.
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, YamlError> {
        loop {
            match self.events.next() {
                None => return Ok(None),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(event)) => return Ok(Some(event)),
                Some(Err(why)) => {
                    return Err(YamlError { line: why.marker().line(), problem: why.to_string() });
                }
            }
        }
    }

    fn expect(&mut self, span: &Span) -> Result<(Event<'t>, Span), YamlError> {
        self.next()?.ok_or_else(|| error(span, "the text ends too early"))
    }

    fn count(&mut self, more: usize, span: &Span) -> Result<(), YamlError> {
        self.nodes += more;
        let is_allowed = self.nodes <= MAX_NODES;
        is_allowed.then_some(()).ok_or_else(|| error(span, "there are too many values"))
    }

    fn node(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Node, YamlError> {
        if depth > MAX_DEPTH {
            return Err(error(span, "the nesting is too deep"));
        }
        self.count(1, span)?;
        let before = self.nodes;
        let bytes = span.byte_range().unwrap_or_default();
        let mut node = Node { value: Value::Null, bytes, block: None, is_inline: true };
        let anchor = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().and_then(granit_parser::Tag::core_suffix);
                node.value = match (style, tag) {
                    (ScalarStyle::Plain, None) => resolve(&text).ok_or_else(|| {
                        error(span, &format!("the number {text} is too large, or is none"))
                    })?,
                    _ => Value::from(text.into_owned()),
                };
                anchor
            }
            Event::SequenceStart(style, anchor, _) => {
                node.is_inline = style == StructureStyle::Flow;
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.expect(span)?;
                    if event == Event::SequenceEnd {
                        self.end(&mut node, &span);
                        break;
                    }
                    let item = self.node(event, &span, depth + 1)?;
                    node.bytes.end = node.bytes.end.max(item.bytes.end);
                    items.push(item.value);
                }
                node.value = Value::Array(items);
                anchor
            }
            Event::MappingStart(style, anchor, _) => {
                node.is_inline = style == StructureStyle::Flow;
                self.mapping(&mut node, span, depth)?;
                anchor
            }
            Event::Alias(id) => {
                let found = self.anchors.iter().find(|(anchor, ..)| *anchor == id).cloned();
                let (_, value, size) = found.ok_or_else(|| error(span, "an alias names itself"))?;
                self.count(size, span)?;
                node.value = value;
                0
            }
            _ => return Err(error(span, "expected a value")),
        };
        if anchor != 0 {
            let size = self.nodes - before;
            self.anchors.push((anchor, node.value.clone(), size));
        }
        Ok(node)
    }

    fn mapping(&mut self, node: &mut Node, span: &Span, depth: usize) -> Result<(), YamlError> {
        let mut members = Vec::new();
        let mut object = Object::new();
        let mut indent = span.start.col();
        loop {
            let (event, span) = self.expect(span)?;
            if event == Event::MappingEnd {
                self.end(node, &span);
                break;
            }
            if members.is_empty() {
                indent = span.start.col();
            }
            let key = self.node(event, &span, depth + 1)?;
            let name = match key.value {
                Value::String(text) => text,
                Value::Array(_) | Value::Object(_) => {
                    return Err(error(&span, "a key is a list or a mapping"));
                }
                scalar => scalar.to_string(),
            };
            let (event, value_span) = self.expect(&span)?;
            let value = self.node(event, &value_span, depth + 1)?;
            if object.insert(name.clone(), value.value.clone()).is_some() {
                return Err(error(&span, &format!("the key {name} appears twice")));
            }
            node.bytes.end = node.bytes.end.max(key.bytes.end).max(value.bytes.end);
            members.push(Member { key: name, key_bytes: key.bytes, node: value });
        }
        node.value = Value::Object(object);
        if !node.is_inline {
            node.block = Some(Block { indent, members });
        }
        Ok(())
    }

    /// A collection between brackets ends with its bracket; another one with its last item.
    fn end(&self, node: &mut Node, span: &Span) {
        if node.is_inline {
            node.bytes.end = span.byte_range().map_or(node.bytes.end, |bytes| bytes.end);
        }
    }
}

fn error(span: &Span, problem: &str) -> YamlError {
    YamlError { line: span.start.line(), problem: problem.to_owned() }
}
