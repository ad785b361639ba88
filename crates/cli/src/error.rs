//! Errors for people: a code, a message, the position, and help.

use std::fmt;
use std::io;

use accord_canon::{CanonError, shorten_path};
use accord_contract::alx::{ErrorBody, ErrorEnvelope};
use accord_contract::codes::Category;
use accord_contract::{Code, Extensible, Failure, Object, WireCode};
use accord_knowledge_core::KbError;
use miette::{Diagnostic, LabeledSpan, SourceCode};

use crate::commands::LineError;
use crate::excerpt::Excerpt;

pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CliError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    /// A code of the registry, or one of another server.
    code: WireCode,
    kind: Extensible<Category>,
    message: String,
    pointer: Option<String>,
    /// What to do, where that is more specific than the meaning of the code.
    help: Option<String>,
    /// Help for people with details that a document has in members of their own.
    long_help: Option<String>,
    /// Details for programs.
    details: Object,
    correlation: Option<String>,
    excerpt: Option<Excerpt>,
}

impl CliError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self::from_server(code.into(), code.category().into(), message.into())
    }

    /// An error in the command line, or in the environment of the command.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    pub(crate) fn from_server(code: WireCode, kind: Extensible<Category>, message: String) -> Self {
        Self(Box::new(Parts {
            code,
            kind,
            message,
            pointer: None,
            help: None,
            long_help: None,
            details: Object::new(),
            correlation: None,
            excerpt: None,
        }))
    }

    /// The failure, for what passes failures on.
    pub(crate) fn into_failure(self) -> Failure {
        let failure = Failure::new(self.code().unwrap_or(Code::HostUnreachable), self.to_string());
        match self.0.help {
            Some(help) => failure.suggesting(help),
            None => failure,
        }
    }

    /// Adds help that is more specific than the meaning of the code.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Sets the help for people, where it repeats details that programs read from their members.
    pub(crate) fn long_help(mut self, help: impl Into<String>) -> Self {
        self.0.long_help = Some(help.into());
        self
    }

    pub(crate) fn with_details(mut self, details: Object) -> Self {
        self.0.details.extend(details);
        self
    }

    pub(crate) fn details(&self) -> &Object {
        &self.0.details
    }

    /// Adds the correlation id, which the log of the server has, too.
    pub(crate) fn correlated(mut self, id: impl Into<String>) -> Self {
        self.0.correlation = Some(id.into());
        self
    }

    /// The code, if the registry has it.
    pub(crate) fn code(&self) -> Option<Code> {
        self.0.code.known()
    }

    /// Whether the reader of the output, such as `head`, closed it.
    pub(crate) fn is_closed_output(&self) -> bool {
        self.code() == Some(Code::OutputClosed)
    }

    pub(crate) fn envelope(&self) -> ErrorEnvelope {
        let parts = &self.0;
        let mut body =
            ErrorBody::new(parts.kind.clone(), parts.code.clone(), parts.message.clone());
        let meaning = parts.code.known().map(Code::meaning);
        body.suggestion = parts.help.clone().or(meaning.map(str::to_owned)).into();
        body.extra.extend(parts.details.clone());
        if let Some(pointer) = &parts.pointer {
            body.extra.insert("pointer".to_owned(), pointer.as_str().into());
        }
        ErrorEnvelope::of_command(body, parts.correlation.clone())
    }

    /// Adds the position in the document, a JSON pointer.
    pub(crate) fn at(mut self, pointer: &str) -> Self {
        self.0.pointer = Some(pointer.to_owned());
        self
    }

    /// Whether it is about this position in the document or this parameter.
    pub(crate) fn is_about(&self, pointer: &str) -> bool {
        self.0.pointer.as_deref() == Some(pointer)
    }

    pub(crate) fn without_place(mut self) -> Self {
        self.0.pointer = None;
        self
    }

    /// A document without a canonical form.
    pub(crate) fn from_canon(error: &CanonError, document: &[u8]) -> Self {
        let mut failure = Self::new(error.refusal().into(), error.detail()).at(error.pointer());
        failure.0.excerpt = Excerpt::of(document, error.offset());
        failure
    }

    pub(crate) fn from_kb(error: &KbError, document: &[u8]) -> Self {
        match error {
            KbError::Canon(error) => Self::from_canon(error, document),
            other => Self::new(other.code(), other.to_string()).at(other.pointer()),
        }
    }

    /// Output that could not be written.
    pub(crate) fn from_output(error: io::Error) -> Self {
        // Not a failure of the disk: the reader, such as `head`, has seen enough.
        if error.kind() == io::ErrorKind::BrokenPipe {
            let message = "the output was closed before everything was written";
            return Self::new(Code::OutputClosed, message);
        }
        Self::new(Code::OutputFailed, format!("cannot write the output: {error}"))
    }

    /// Puts the subject before the message.
    pub(crate) fn about(mut self, subject: &str) -> Self {
        self.0.message = format!("{subject}: {}", self.0.message);
        self
    }

    pub(crate) fn line_error(self) -> LineError {
        LineError {
            kind: self.0.kind,
            code: self.0.code,
            message: self.0.message,
            pointer: self.0.pointer,
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        // Some messages begin with the pointer; it is not repeated.
        let named = |pointer: &String| failure.message.starts_with(&format!("{pointer}: "));
        let pointer = failure.pointer.filter(|pointer| !named(pointer));
        let mut error = Self::new(failure.code, failure.message);
        error.0.pointer = pointer;
        error.0.help = failure.suggestion;
        error.0.details = failure.details.map(|details| *details).unwrap_or_default();
        error
    }
}

impl From<CliError> for Failure {
    /// A code of another server that the registry lacks counts as a protocol error of the host.
    fn from(error: CliError) -> Self {
        let parts = *error.0;
        let mut failure =
            Self::new(parts.code.known().unwrap_or(Code::HostProtocol), parts.message);
        failure.pointer = parts.pointer;
        failure.suggestion = parts.help;
        failure.details = (!parts.details.is_empty()).then(|| Box::new(parts.details));
        failure
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)?;
        match self.0.pointer.as_deref() {
            Some("") => formatter.write_str(" (at the top of the document)"),
            Some(pointer) => write!(formatter, " (at {})", shorten_path(pointer)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliError {}

impl Diagnostic for CliError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.0.code.as_str()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let meaning = self.0.code.known().map(Code::meaning);
        let help = self.0.long_help.as_deref().or(self.0.help.as_deref()).or(meaning);
        let id = self.0.correlation.as_ref().map(|id| format!("correlation id {id}"));
        let lines: Vec<_> = help.map(str::to_owned).into_iter().chain(id).collect();
        (!lines.is_empty()).then(|| Box::new(lines.join("\n")) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.0.excerpt.as_ref()?;
        Some(Box::new(std::iter::once(excerpt.label())))
    }
}
