//! The kinds of bodies. [`Lines`] and [`Events`] are streams, of which each item is read by itself.
//! [`Bytes`] are declared alone. The others are read and written as a whole.

use std::marker::PhantomData;

use accord_contract::wire::Message;
use accord_contract::{Code, Failure, Object, Value, Wire};

use crate::call::Received;
use crate::declaration::Content;

/// A body, as documents describe it.
pub trait BodyKind {
    /// Its contents: none if there is no body, several if it is one of several kinds.
    fn contents() -> Vec<Content>;

    /// What it is, in a sentence, if it says so itself.
    fn about() -> &'static str {
        ""
    }
}

/// The body of a request.
pub trait RequestBody: BodyKind + Sized {
    /// Whether it must be sent.
    fn is_required() -> bool {
        true
    }

    /// Reads it. An empty body is a document without members.
    fn decode(bytes: &[u8]) -> Result<Self, Failure>;

    /// Its media type and its bytes, if there is a body.
    fn encode(&self) -> Option<(&'static str, String)>;
}

/// The body of an answer that is read and written as a whole.
pub trait AnswerBody: BodyKind + Sized {
    /// The body as a host sends it.
    fn encode(self) -> Reply;

    /// Reads what a host of any version sent.
    fn decode(received: &Received) -> Result<Self, Failure>;
}

/// The body of an answer, as a host sends it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The media type.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

/// No body.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NoBody;

/// A JSON document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Json<M>(pub M);

/// A JSON document that is passed on as it was sent, because the operation reads or hashes its
/// text. The message describes it, and does not read it.
#[derive(Clone, Debug)]
pub struct Verbatim<M> {
    /// The media type.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
    kind: PhantomData<M>,
}

/// A body that may be left out.
#[derive(Clone, Debug)]
pub struct Maybe<B>(pub Option<B>);

/// A JSON document of one of two messages.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first message.
    One(A),
    /// The second message.
    Other(B),
}

/// JSON documents, one per line.
#[derive(Clone, Copy, Debug)]
pub struct Lines<M>(PhantomData<M>);

/// Server-sent events, each with a JSON document.
#[derive(Clone, Copy, Debug)]
pub struct Events<M>(PhantomData<M>);

/// Bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes;

/// Text of a media type.
#[derive(Clone, Debug)]
pub struct Text<T> {
    /// The text.
    pub text: String,
    kind: PhantomData<T>,
}

/// A media type of text.
pub trait MediaType {
    /// Its name, with the charset.
    const NAME: &'static str;
}

/// Markdown.
#[derive(Clone, Copy, Debug)]
pub enum Markdown {}

impl MediaType for Markdown {
    const NAME: &'static str = "text/markdown; charset=utf-8";
}

/// One of two kinds. The media type of an answer says which one it is.
#[derive(Clone, Debug)]
pub enum OneOf<A, B> {
    /// The first kind.
    One(A),
    /// The second kind.
    Other(B),
}

impl BodyKind for NoBody {
    fn contents() -> Vec<Content> {
        Vec::new()
    }
}

impl RequestBody for NoBody {
    fn is_required() -> bool {
        false
    }

    fn decode(_: &[u8]) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        None
    }
}

impl<M: Message> BodyKind for Json<M> {
    fn contents() -> Vec<Content> {
        vec![Content::json::<M>()]
    }

    fn about() -> &'static str {
        M::ABOUT.first().map_or("", |line| line.trim())
    }
}

impl<M: Message> RequestBody for Json<M> {
    /// It may be empty if its message has no required members.
    fn is_required() -> bool {
        M::from_document(Value::Object(Object::new())).is_err()
    }

    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        let document = match bytes {
            [] => Value::Object(Object::new()),
            bytes => accord_canon::read(bytes)?,
        };
        Ok(Self(M::from_document(document)?))
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        Some((JSON, self.0.encode().to_string()))
    }
}

impl<M: Message> AnswerBody for Json<M> {
    fn encode(self) -> Reply {
        Reply { media_type: JSON, text: self.0.encode().to_string() }
    }

    fn decode(received: &Received) -> Result<Self, Failure> {
        answer(&received.text).map(Self)
    }
}

impl<M> Verbatim<M> {
    /// A text of a media type.
    pub fn new(media_type: &'static str, text: impl Into<String>) -> Self {
        Self { media_type, text: text.into(), kind: PhantomData }
    }

    /// A JSON document.
    pub fn json(text: impl Into<String>) -> Self {
        Self::new(JSON, text)
    }
}

impl<M: Wire> From<&M> for Verbatim<M> {
    fn from(message: &M) -> Self {
        Self::json(message.encode().to_string())
    }
}

impl<M: Wire> BodyKind for Verbatim<M> {
    fn contents() -> Vec<Content> {
        vec![Content::json::<M>()]
    }
}

impl<M: Message> RequestBody for Verbatim<M> {
    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Self::json(String::from_utf8_lossy(bytes)))
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        Some((self.media_type, self.text.clone()))
    }
}

impl<B: BodyKind> BodyKind for Maybe<B> {
    fn contents() -> Vec<Content> {
        B::contents()
    }
}

impl<B: RequestBody> RequestBody for Maybe<B> {
    fn is_required() -> bool {
        false
    }

    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Self(if bytes.is_empty() { None } else { Some(B::decode(bytes)?) }))
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        self.0.as_ref()?.encode()
    }
}

impl<A: Message, B: Message> BodyKind for Either<A, B> {
    fn contents() -> Vec<Content> {
        vec![Content::either::<A, B>()]
    }
}

impl<A: Message, B: Message> AnswerBody for Either<A, B> {
    fn encode(self) -> Reply {
        match self {
            Self::One(message) => Json(message).encode(),
            Self::Other(message) => Json(message).encode(),
        }
    }

    fn decode(received: &Received) -> Result<Self, Failure> {
        answer(&received.text)
            .map(Self::One)
            .or_else(|failure| answer(&received.text).map(Self::Other).map_err(|_| failure))
    }
}

impl<M> BodyKind for Lines<M> {
    fn contents() -> Vec<Content> {
        vec![Content::Lines]
    }
}

impl<M> Default for Lines<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// The lines are not part of the call: they are sent and read one after the other.
impl<M> RequestBody for Lines<M> {
    fn decode(_: &[u8]) -> Result<Self, Failure> {
        Ok(Self::default())
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        None
    }
}

impl<M: Message> Lines<M> {
    /// Reads one line of an answer. Fails when it is not the message.
    pub fn decode(line: &str) -> Result<M, Failure> {
        answer(line)
    }
}

impl<M> BodyKind for Events<M> {
    fn contents() -> Vec<Content> {
        vec![Content::Events]
    }
}

impl<M: Message> Events<M> {
    /// Reads the data of one event of an answer. Fails when it is not the message.
    pub fn decode(data: &str) -> Result<M, Failure> {
        answer(data)
    }
}

impl BodyKind for Bytes {
    fn contents() -> Vec<Content> {
        vec![Content::Bytes]
    }
}

/// The bytes are not part of the call: they are sent and read piece by piece.
impl RequestBody for Bytes {
    fn decode(_: &[u8]) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        None
    }
}

impl<T> From<String> for Text<T> {
    fn from(text: String) -> Self {
        Self { text, kind: PhantomData }
    }
}

impl<T: MediaType> BodyKind for Text<T> {
    fn contents() -> Vec<Content> {
        vec![Content::Text(T::NAME)]
    }
}

impl<T: MediaType> AnswerBody for Text<T> {
    fn encode(self) -> Reply {
        Reply { media_type: T::NAME, text: self.text }
    }

    fn decode(received: &Received) -> Result<Self, Failure> {
        Ok(received.text.clone().into())
    }
}

impl<A: BodyKind, B: BodyKind> BodyKind for OneOf<A, B> {
    fn contents() -> Vec<Content> {
        let mut contents = A::contents();
        contents.extend(B::contents());
        contents
    }

    fn about() -> &'static str {
        A::about()
    }
}

impl<A: AnswerBody, B: AnswerBody> AnswerBody for OneOf<A, B> {
    fn encode(self) -> Reply {
        match self {
            Self::One(body) => body.encode(),
            Self::Other(body) => body.encode(),
        }
    }

    fn decode(received: &Received) -> Result<Self, Failure> {
        let is_of = |content: &Content| received.is_of(content.media_type());
        if A::contents().iter().any(is_of) {
            return A::decode(received).map(Self::One);
        }
        B::decode(received).map(Self::Other)
    }
}

const JSON: &str = "application/json";

/// Reads a message of an answer. A host of a later version may add members.
fn answer<M: Message>(text: &str) -> Result<M, Failure> {
    let document = serde_json::from_str(text).map_err(|_| {
        let message = "the answer is no JSON document, as a host gives one";
        Failure::new(Code::HostProtocol, message)
    })?;
    M::from_answer(document).map_err(|error| {
        let message = format!("the answer of the host cannot be read: {error}");
        Failure::new(Code::HostProtocol, message)
    })
}
