//! The part of a document around an error, for error messages.

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// How many bytes are shown on each side of the error: the document may be one line of megabytes.
const CONTEXT: usize = 60;

/// An excerpt of a document and its position.
#[derive(Debug)]
pub(crate) struct Excerpt {
    text: String,
    /// The error in the text.
    place: SourceSpan,
    /// The number of lines before the text.
    lines_before: usize,
    /// Line and column of the error in the document, from 0.
    line: usize,
    column: usize,
}

impl Excerpt {
    /// The text around `offset`; `None` for a blank or invalid document.
    pub(crate) fn of(document: &[u8], offset: usize) -> Option<Self> {
        let text = std::str::from_utf8(document).ok()?;
        if text.trim().is_empty() {
            return None;
        }
        // The scanner works on bytes, and its offset can be inside a character.
        let offset = text.floor_char_boundary(offset);
        let start = text.floor_char_boundary(offset.saturating_sub(CONTEXT));
        let end = text.ceil_char_boundary((offset + CONTEXT).min(text.len()));
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some(Self {
            text: text[start..end].to_owned(),
            place: (offset - start, usize::from(offset < end)).into(),
            lines_before: text[..start].matches('\n').count(),
            line: before.matches('\n').count(),
            column: before[line_start..].chars().count(),
        })
    }

    /// The label at the error.
    pub(crate) fn label(&self) -> LabeledSpan {
        LabeledSpan::new_with_span(Some("here".to_owned()), self.place)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let window = self.text.read_span(span, lines_before, lines_after)?;
        // Without context lines, miette asks for the position of the error itself.
        let (line, column) = if lines_before == 0 && lines_after == 0 {
            (self.line, self.column)
        } else {
            (window.line() + self.lines_before, window.column())
        };
        Ok(Box::new(MietteSpanContents::new_named(
            "input".to_owned(),
            window.data(),
            *window.span(),
            line,
            column,
            window.line_count(),
        )))
    }
}
