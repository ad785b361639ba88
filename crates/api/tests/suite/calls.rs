//! Requests and answers, from one side to the other.

use accord_api::body::{
    AnswerBody as _, Either, Events, Json, Lines, Maybe, NoBody, OneOf, Verbatim,
};
use accord_api::parameter::{NoParams, Params};
use accord_api::{Call, Encoded, Envelope as _, Method, Received, target};
use accord_base::ProjectId;
use accord_contract::{Code, Failure, Time, Wire as _};
use serde_json::json;

use crate::sample::{
    By, Colour, CountNotes, DrawNote, KeepNote, ListNotes, NewNote, Note, NoteEnvelope, NotesQuery,
    OfNote,
};

fn pairs<'a>(query: &'a [(&'static str, String)]) -> Params<'a> {
    Params::new(query.iter().map(|(name, text)| (*name, text.as_str()))).unwrap()
}

fn keep(note: &str) -> Call<KeepNote> {
    let path = OfNote { project: ProjectId::new("a b").unwrap(), note: note.to_owned() };
    let body = NewNote::from_document(json!({"text": "hello"})).unwrap();
    Call::new(path, By { actor: "me&u".to_owned() }, Json(body))
}

#[test]
fn a_request_has_a_target_and_a_body() {
    let encoded = keep("日/ ?%").encode();
    assert_eq!(encoded.method, Method::Post);
    let place = "/v1/projects/a%20b/notes/%E6%97%A5%2F%20%3F%25/keep?actor=me%26u";
    assert_eq!(encoded.target(), place);
    assert_eq!(encoded.body, Some(("application/json", r#"{"text":"hello"}"#.to_owned())));
    assert_eq!(encoded.accept, "application/json");
    // A segment of dots stays a segment.
    assert_eq!(keep("..").encode().path, "/v1/projects/a%20b/notes/%2E%2E/keep");
    assert_eq!(target("/a/{x}", &[("x", "1".to_owned())]), "/a/1");
}

#[test]
fn a_host_reads_what_a_client_writes() {
    let sent = NotesQuery {
        colours: Some(vec![Colour::Red, Colour::Blue]),
        colour: Some(Colour::Red),
        all: true,
        limit: Some(3),
        after: Some(123_456_789_012),
        since: Some(Time::parse_rfc3339("2026-04-18T20:00:00Z").unwrap()),
        cursor: Some("abc".to_owned()),
    };
    let Encoded { query, .. } = Call::<ListNotes>::new(NoParams, sent.clone(), NoBody).encode();
    let none = Params::default();
    let read = Call::<ListNotes>::decode(&none, &pairs(&query), b"").unwrap();
    assert_eq!(read.query, sent);
    // What is absent is not sent; a default counts for the host alone.
    let empty = Call::<ListNotes>::new(NoParams, NotesQuery::default(), NoBody).encode();
    assert_eq!(empty.target(), "/v1/notes");
    let read = Call::<ListNotes>::decode(&none, &none, b"").unwrap();
    assert_eq!(
        (read.query.colour, read.query.all, read.query.limit),
        (Some(Colour::Blue), false, None)
    );
}

fn refused(
    path: &[(&'static str, String)],
    query: &[(&'static str, String)],
    body: &str,
) -> Failure {
    Call::<KeepNote>::decode(&pairs(path), &pairs(query), body.as_bytes()).unwrap_err()
}

#[test]
fn what_is_wrong_is_named_in_order() {
    let path = [("project_id", "p".to_owned()), ("note_id", "n".to_owned())];
    let actor = [("actor", "me".to_owned())];
    let wrong = refused(&[("project_id", String::new())], &[], "{");
    assert_eq!(wrong.pointer.as_deref(), Some("/project_id"));
    let wrong = refused(&path, &[], "{");
    assert_eq!(
        (wrong.code, wrong.pointer.as_deref()),
        (Code::AgenticInvalidSchema, Some("/actor"))
    );
    let wrong = refused(&path, &[("actor", "too long".to_owned())], "{");
    assert_eq!(wrong.pointer.as_deref(), Some("/actor"));
    assert_eq!(refused(&path, &actor, "{").code, Code::CanonInvalidJson);
    // An empty body is a document without members.
    assert_eq!(refused(&path, &actor, "").code, Code::WireFieldMissing);
    assert_eq!(refused(&path, &actor, r#"{"text":"","more":1}"#).code, Code::WireFieldUnknown);
    let count = Call::<CountNotes>::decode(&Params::default(), &Params::default(), b"");
    assert!(count.is_ok());
    for (name, text) in [("colours", "red,green"), ("after", "-1"), ("limit", "11"), ("all", "x")] {
        let query = [(name, text.to_owned())];
        let wrong = Call::<ListNotes>::decode(&Params::default(), &pairs(&query), b"");
        assert_eq!(wrong.unwrap_err().pointer.as_deref(), Some(format!("/{name}").as_str()));
    }
}

fn received(media_type: &str, text: &str) -> Received {
    Received { media_type: Some(media_type.to_owned()), text: text.to_owned() }
}

#[test]
fn an_answer_keeps_its_text() {
    let note = Note::from_document(json!({"text": "hi"})).unwrap();
    let reply = Json(NoteEnvelope::wrap(note.clone(), "c1")).encode();
    assert_eq!(reply.media_type, "application/json");
    let spaced = reply.text.replace(':', " : ");
    let read = received(reply.media_type, &spaced).read::<Json<NoteEnvelope>>().unwrap();
    assert_eq!(read.text, spaced);
    assert_eq!(read.answer.0.correlation_id, "c1");
    assert_eq!(read.answer.0.result(), note);
}

#[test]
fn a_later_host_may_add_members() {
    let mut answer =
        NoteEnvelope::wrap(Note::from_document(json!({"text": ""})).unwrap(), "c").encode();
    answer["result"]["added"] = json!({"deep": 1});
    answer["added"] = json!(2);
    let text = answer.to_string();
    assert!(received("application/json", &text).read::<Json<NoteEnvelope>>().is_ok());
    assert!(NoteEnvelope::from_document(answer).is_err(), "a request would be refused");
    let lacking = received("application/json", r#"{"ok":true}"#).read::<Json<NoteEnvelope>>();
    assert_eq!(lacking.unwrap_err().code, Code::HostProtocol);
    let none = received("text/html", "<p>").read::<Json<NoteEnvelope>>();
    assert_eq!(none.unwrap_err().code, Code::HostProtocol);
}

#[test]
fn the_media_type_decides_between_two_kinds() {
    type Notes = <ListNotes as accord_api::Operation>::Answer;
    let text = received("text/markdown;charset=UTF-8", "# Notes").read::<Notes>().unwrap();
    assert!(matches!(text.answer, OneOf::Other(text) if text.text == "# Notes"));
    let reply = Notes::Other("# Notes".to_owned().into()).encode();
    assert_eq!(reply.media_type, "text/markdown; charset=utf-8");
    let note = Note::from_document(json!({"text": ""})).unwrap();
    let reply = Notes::One(Json(NoteEnvelope::wrap(note, "c"))).encode();
    let read = received("Application/JSON", &reply.text).read::<Notes>().unwrap();
    assert!(matches!(read.answer, OneOf::One(_)));
}

#[test]
fn streams_are_read_item_by_item() {
    assert_eq!(Lines::<Note>::decode(r#"{"text":"a","new":1}"#).unwrap().text, "a");
    assert_eq!(Events::<Note>::decode(r#"{"text":"b"}"#).unwrap().text, "b");
    assert!(Events::<Note>::decode("{}").is_err());
}

#[test]
fn a_document_can_be_one_of_two_messages() {
    type Drawn = Either<NoteEnvelope, Note>;
    let read = |text: &str| received("application/json", text).read::<Drawn>();
    assert!(matches!(read(r#"{"text":"a"}"#).unwrap().answer, Either::Other(_)));
    let note = Note::from_document(json!({"text": ""})).unwrap();
    let reply = Drawn::One(NoteEnvelope::wrap(note, "c")).encode();
    assert!(matches!(read(&reply.text).unwrap().answer, Either::One(_)));
    assert!(read("{}").is_err());
}

#[test]
fn a_body_may_be_left_out() {
    let call = |body| Call::<DrawNote>::new(NoParams, NoParams, Maybe(body)).encode().body;
    assert_eq!(call(None), None);
    let note = NewNote::from_document(json!({"text": "hello"})).unwrap();
    let sent = call(Some(Verbatim::from(&note))).unwrap().1;
    let none = Params::default();
    let decode = |body: &str| Call::<DrawNote>::decode(&none, &none, body.as_bytes()).unwrap();
    assert_eq!(decode(&sent).body.0.unwrap().text, r#"{"text":"hello"}"#);
    assert!(decode("").body.0.is_none());
}
