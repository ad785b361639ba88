//! What an operation says about itself without its types.

use accord_api::{Content, Location, Operation as _};
use accord_contract::Code;

use crate::sample::{CountNotes, DrawNote, FollowNotes, KeepNote, ListNotes, Picture};

#[test]
fn a_declaration_says_everything() {
    let declared = KeepNote::declared();
    assert_eq!(declared.summary, "Keeps a note. It replaces an older one.");
    let parameters: Vec<_> = (declared.parameters.iter())
        .map(|each| (each.name, each.location, each.required, each.about.as_str()))
        .collect();
    let expected = [
        ("project_id", Location::Path, true, "The project's id."),
        ("note_id", Location::Path, true, "The note."),
        ("actor", Location::Query, true, "The actor."),
    ];
    assert_eq!(parameters, expected);
    assert_eq!(declared.codes, [Code::StoreBusy, Code::StoreFull]);
    assert!(declared.body.is_some_and(|body| body.required));
    assert!(declared.need.is_for_people());
    let [answer] = declared.answers.as_slice() else { panic!("one answer") };
    // The message says what it is.
    assert_eq!((answer.status, answer.about), (201, "A note that was kept."));
    let Some(Content::Json(schema)) = answer.content else { panic!("a document") };
    assert_eq!(schema()["$ref"], "#/$defs/NoteEnvelope");
}

#[test]
fn a_body_without_required_members_may_be_empty() {
    assert!(!CountNotes::declared().body.unwrap().required);
    assert!(ListNotes::declared().body.is_none());
}

#[test]
fn every_kind_of_body_has_its_media_types() {
    let media_types = |declared: accord_api::Declaration| -> Vec<_> {
        let contents = declared.answers.iter().filter_map(|answer| answer.content);
        contents.map(Content::media_type).collect()
    };
    let both = ["application/json", "text/markdown; charset=utf-8"];
    assert_eq!(media_types(ListNotes::declared()), both);
    assert!(ListNotes::declared().answers.iter().all(|answer| answer.about == "The notes."));
    assert_eq!(media_types(CountNotes::declared()), ["application/x-ndjson"]);
    assert_eq!(media_types(FollowNotes::declared()), ["text/event-stream"]);
    assert_eq!(media_types(Picture::declared()), ["application/octet-stream"]);
}

#[test]
fn an_operation_can_have_several_answers_and_headers() {
    let declared = DrawNote::declared();
    let answers: Vec<_> = (declared.answers.iter())
        .map(|each| (each.status, each.about, each.content.map(Content::media_type)))
        .collect();
    let expected = [
        (201, "A drawing.", Some("application/json")),
        (200, "A drawing that was there.", Some("application/json")),
        (200, "The drawing, line by line.", Some("application/x-ndjson")),
        (304, "The client has it.", None),
    ];
    assert_eq!(answers, expected);
    let [header] = declared.parameters.as_slice() else { panic!("one parameter") };
    assert_eq!((header.name, header.location), ("if-none-match", Location::Header));
    assert!(!declared.body.unwrap().required);
}
