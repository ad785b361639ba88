//! A small set of operations.

use accord_api::body::{
    Bytes, Either, Events, Json, Lines, Markdown, Maybe, NoBody, OneOf, Text as TextBody, Verbatim,
};
use accord_api::parameter::{
    CURSOR, Flag, Moment, NoParams, Number, Opaque, Segment, Sequence, Text, Word, Words,
};
use accord_api::{Decision, Need, operation, params};
use accord_base::ProjectId;
use accord_contract::{Code, TextForm, message, wire_enum};

wire_enum! {
    /// A colour.
    pub enum Colour("Colour", closed) {
        /// Red.
        Red = "red",
        /// Blue.
        Blue = "blue",
    }
}

message! {
    /// A note to keep.
    pub struct NewNote("NewNote", closed) {
        /// What it says.
        required text: String = "text", "text";
        /// Its colour.
        optional colour: Colour = "colour", "colour";
    }

    /// What is left out.
    pub struct Filter("Filter", closed) {
        /// Its colour.
        optional colour: Colour = "colour", "colour";
    }

    /// A note.
    pub struct Note("Note", closed) {
        /// What it says.
        required text: String = "text", "text";
    }
}

accord_api::envelopes! {
    "The note.";
    /// A note that was kept.
    NoteEnvelope("NoteEnvelope") of Note;
}

params! {
    /// A note of a project.
    pub struct OfNote {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The note.
        required note: Text = Text::new("note_id", TextForm::ANY.not_empty());
    }

    /// Which notes.
    #[derive(Default, PartialEq)]
    pub struct NotesQuery {
        /// Colours.
        optional colours: Words<Colour> = Words::new("colours", TextForm::ANY.not_empty());
        /// One colour.
        optional colour: Word<Colour> = Word::new("colour").or(Colour::Blue);
        /// Also old ones.
        flag all: Flag = Flag::new("all");
        /// The most notes.
        optional limit: Number = Number::new("limit", 1, 10);
        /// After this event.
        optional after: Sequence = Sequence::new("after");
        /// Since then.
        optional since: Moment = Moment::new("since");
        /// The next page.
        optional cursor: Opaque = CURSOR;
    }

    /// Who acts.
    pub struct By {
        /// The actor.
        required actor: Text = Text::new("actor", TextForm::ANY.chars(1, 5));
    }
}

/// The codes of every operation.
const COMMON: &[Code] = &[Code::StoreBusy];

operation! {
    /// Keeps a note. It replaces
    /// an older one.
    pub struct KeepNote("keep_note", Post "/v1/projects/{project_id}/notes/{note_id}/keep")
        of Agentic
    {
        path OfNote;
        query By;
        body Json<NewNote>;
        needs Need::Decide(Decision::Review);
        answers 201, Json<NoteEnvelope>;
        refuses [COMMON, &[Code::StoreFull]];
    }

    /// Lists notes.
    pub struct ListNotes("notes", Get "/v1/notes") of Agentic {
        path NoParams;
        query NotesQuery;
        body NoBody;
        needs Need::Read;
        answers 200 "The notes.", OneOf<Json<NoteEnvelope>, TextBody<Markdown>>;
        refuses [];
    }

    /// Counts notes.
    pub struct CountNotes("count_notes", Post "/v1/count") of Agentic {
        path NoParams;
        query NoParams;
        body Json<Filter>;
        needs Need::Read;
        answers 200, Lines<Note>;
        refuses [];
    }

    /// Follows notes.
    pub struct FollowNotes("follow_notes", Get "/v1/follow") of Agentic {
        path NoParams;
        query NoParams;
        body NoBody;
        needs Need::Read;
        answers 200, Events<Note>;
        refuses [];
    }

    /// Reads a picture.
    pub struct Picture("picture", Get "/v1/picture") of Agentic {
        path NoParams;
        query NoParams;
        body NoBody;
        needs Need::Read;
        answers 200, Bytes;
        refuses [];
    }
}

params! {
    /// What the client has.
    pub struct Known {
        /// A version.
        optional version: Text = Text::new("if-none-match", TextForm::ANY);
    }
}

operation! {
    /// Draws a note.
    pub struct DrawNote("draw_note", Post "/v1/draw") of Agentic {
        path NoParams;
        query NoParams;
        headers Known;
        body Maybe<Verbatim<NewNote>>;
        needs Need::Write;
        answers 201 "A drawing.", Either<NoteEnvelope, Note>;
        also 200 "A drawing that was there.";
        or 200 "The drawing, line by line.", Lines<Note>;
        nothing 304 "The client has it.";
        refuses [];
    }
}
