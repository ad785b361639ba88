//! A plan: many tasks in one text, which become the requests that create them.
//!
//! In Markdown, each item of a checklist is a task, and headings only group them. Without such
//! items, each heading is one: those of the second level, or of the first if there is no other.
//! Lines `name: value` right below say who does it, and when. The front matter of the file says
//! the same for all tasks.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure, Value, Wire as _};

use crate::operations::CreateRequest;
use crate::task::Priority;

/// The names of properties.
const NAMES: &str = "key, role, team, agent, priority, tags, due, after, parent, resource, ready";

/// Reads a plan: a JSON list of requests, an object with that list as `tasks`, or Markdown.
pub fn read_plan(text: &str) -> Result<Vec<CreateRequest>, Failure> {
    let requests = match text.trim_start().as_bytes().first() {
        Some(b'[' | b'{') => read_json(text)?,
        _ => read_markdown(text)?,
    };
    if requests.is_empty() {
        let message = "the file has no task: in Markdown, each heading or each item `- [ ] …` is \
                       one; in JSON, each element of a list";
        return Err(Failure::new(Code::WireFieldValue, message));
    }
    Ok(requests)
}

fn read_json(text: &str) -> Result<Vec<CreateRequest>, Failure> {
    let wrong = |why: String| Failure::new(Code::WireFieldValue, why);
    let read = accord_canon::read(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let list = match read {
        Value::Array(list) => list,
        Value::Object(mut members) => match members.remove("tasks") {
            Some(Value::Array(list)) => list,
            _ => return Err(wrong("the object has no list `tasks`".to_owned())),
        },
        _ => return Err(wrong("the file is no list of tasks".to_owned())),
    };
    let read = |(place, value): (usize, Value)| {
        CreateRequest::from_document(value)
            .map_err(|error| wrong(format!("task {}: {error}", place + 1)))
    };
    list.into_iter().enumerate().map(read).collect()
}

/// A line of the file, with its number.
type Line<'t> = (usize, &'t str);

/// A task of the text, before its properties are read.
struct Block<'t> {
    at: usize,
    title: &'t str,
    indent: usize,
    is_done: bool,
    lines: Vec<Line<'t>>,
}

fn read_markdown(text: &str) -> Result<Vec<CreateRequest>, Failure> {
    let mut lines: Vec<Line<'_>> =
        text.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
    let mut usual = CreateRequest::default();
    if lines.first().is_some_and(|(_, line)| line.trim_end() == "---") {
        let is_end = |(_, line): &Line<'_>| line.trim_end() == "---";
        let end = lines.iter().skip(1).position(is_end);
        let end = end.ok_or_else(|| wrong(1, "the front matter has no closing line ---"))? + 1;
        for (at, line) in &lines[1..end] {
            if line.trim().is_empty() {
                continue;
            }
            let (name, value) = property(line)
                .ok_or_else(|| wrong(*at, "the front matter has lines `name: value` alone"))?;
            set(&mut usual, *at, name, value)?;
        }
        lines.drain(..=end);
    }
    let has_items = unfenced(&lines).iter().any(|(_, line)| item(line).is_some());
    let blocks = if has_items { items(&lines) } else { headings(&lines) };
    let mut requests = Vec::new();
    // The items around an item, with their indents.
    let mut around: Vec<(usize, Option<String>)> = Vec::new();
    for block in blocks {
        around.retain(|(indent, _)| *indent < block.indent);
        let request = request(&block, &usual, around.last().and_then(|(_, key)| key.clone()))?;
        let key = request.key.clone().filter(|_| !block.is_done);
        around.push((block.indent, key));
        if !block.is_done {
            requests.push(request);
        }
    }
    Ok(requests)
}

/// The lines that are in no block of code.
fn unfenced<'t>(lines: &[Line<'t>]) -> Vec<Line<'t>> {
    let mut is_code = false;
    let mut kept = Vec::new();
    for (at, line) in lines {
        let text = line.trim_start();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            kept.push((*at, *line));
        }
    }
    kept
}

/// The indent, whether it is done, and the title of an item of a checklist.
fn item(line: &str) -> Option<(usize, bool, &str)> {
    let text = line.trim_start();
    let rest = text.strip_prefix(['-', '*', '+'])?.strip_prefix(" [")?;
    let is_done = match rest.chars().next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let title = rest.get(1..)?.strip_prefix("] ")?.trim();
    (!title.is_empty()).then_some((line.len() - text.len(), is_done, title))
}

/// The level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

fn items<'t>(lines: &[Line<'t>]) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for &(at, line) in lines {
        let text = line.trim_start();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        let indent = line.len() - text.len();
        match item(line).filter(|_| !is_code) {
            Some((indent, is_done, title)) => {
                blocks.push(Block { at, title, indent, is_done, lines: Vec::new() });
                is_open = true;
            }
            // The text of an item is further to the right than the item.
            None => {
                let is_inside =
                    blocks.last().is_some_and(|block| text.is_empty() || indent > block.indent);
                is_open = is_open && (is_inside || is_code);
                if let Some(block) = blocks.last_mut().filter(|_| is_open) {
                    block.lines.push((at, line));
                }
            }
        }
        is_code ^= is_fence;
    }
    blocks
}

fn headings<'t>(lines: &[Line<'t>]) -> Vec<Block<'t>> {
    let outside = unfenced(lines);
    let found: Vec<(usize, usize, &str)> = outside
        .iter()
        .filter_map(|(at, line)| heading(line).map(|(level, title)| (*at, level, title)))
        .collect();
    let of_tasks = if found.iter().any(|(_, level, _)| *level == 2) { 2 } else { 1 };
    let mut blocks = Vec::new();
    for (place, &(at, level, title)) in found.iter().enumerate() {
        if level != of_tasks {
            continue;
        }
        let next = found[place + 1..].iter().find(|(_, level, _)| *level <= of_tasks);
        let end = next.map_or(usize::MAX, |(end, ..)| *end);
        let lines = lines.iter().copied().filter(|(line, _)| *line > at && *line < end).collect();
        blocks.push(Block { at, title, indent: 0, is_done: false, lines });
    }
    blocks
}

fn request(
    block: &Block<'_>,
    usual: &CreateRequest,
    parent: Option<String>,
) -> Result<CreateRequest, Failure> {
    let mut request = CreateRequest {
        title: block.title.to_owned(),
        parent: parent.or_else(|| usual.parent.clone()),
        ..usual.clone()
    };
    let mut lines = block.lines.iter().skip_while(|(_, line)| line.trim().is_empty()).peekable();
    while let Some((at, line)) = lines.peek() {
        let Some((name, value)) = property(line.trim()) else { break };
        set(&mut request, *at, name, value)?;
        lines.next();
    }
    let rest: Vec<&str> = lines.map(|(_, line)| *line).collect();
    let text = dedented(&rest);
    if !text.is_empty() {
        request.instructions = Some(text);
    }
    // Without a key of its own, a task is known by its title when the file is read again.
    request.key.get_or_insert_with(|| block.title.to_owned());
    if request.title.chars().count() > 500 {
        return Err(wrong(block.at, "the title has more than 500 characters"));
    }
    Ok(request)
}

/// Lines without the blanks that all of them begin with.
fn dedented(lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min();
    let cut =
        |line: &&str| line.get(least.unwrap_or(0)..).unwrap_or_default().trim_end().to_owned();
    let lines: Vec<String> = lines.iter().map(cut).collect();
    lines.join("\n").trim().to_owned()
}

/// A line `name: value`, with a name in small letters.
fn property(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    let is_name = |letter: u8| letter.is_ascii_lowercase() || letter == b'_' || letter == b'-';
    let is_property = !name.is_empty() && name.bytes().all(is_name);
    is_property.then_some((name, value.trim()))
}

fn set(request: &mut CreateRequest, at: usize, name: &str, value: &str) -> Result<(), Failure> {
    let text = || Some(value.to_owned());
    let list = || {
        let parts = value.trim_matches(['[', ']']).split(',').map(str::trim);
        Some(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
    };
    match name {
        "key" => request.key = text(),
        "role" => request.role = text(),
        "team" => request.team = text(),
        "agent" => request.agent = text(),
        "parent" => request.parent = text(),
        "resource" => request.resource = text(),
        "due" => request.due = text(),
        "tags" => request.tags = list(),
        "after" | "depends" | "depends_on" => request.depends_on = list(),
        "priority" => {
            let known = Priority::parse(value);
            let known =
                known.ok_or_else(|| wrong(at, "a priority is critical, high, normal or low"))?;
            request.priority = Some(known);
        }
        "ready" => {
            let flags =
                BTreeMap::from([("yes", true), ("true", true), ("no", false), ("false", false)]);
            let flag = flags.get(value).ok_or_else(|| wrong(at, "ready is yes or no"))?;
            request.ready = Some(*flag);
        }
        _ => {
            let why = format!(
                "{name} is no property of a task ({NAMES}); if it is text, begin the line in \
                 another way"
            );
            return Err(wrong(at, &why));
        }
    }
    Ok(())
}

fn wrong(at: usize, why: &str) -> Failure {
    Failure::new(Code::WireFieldValue, format!("line {at}: {why}"))
}

/// The tasks of a plan that would wait for each other, by their places in it. `needs` has what each
/// one waits for.
pub fn circle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..needs.len()).collect();
    loop {
        let before = left.len();
        let waits = |place: &usize| needs[*place].iter().any(|needed| left.contains(needed));
        let kept: Vec<usize> = left.iter().copied().filter(|place| waits(place)).collect();
        left = kept;
        match left.len() {
            0 => return None,
            now if now == before => return Some(left),
            _ => {}
        }
    }
}
