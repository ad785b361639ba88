//! Whom the operator knows, by name and address.

use accord_base::{Decision, Need};
use accord_contract::{Code, Failure, Field, Limits, TextForm, Timestamp, envelope, message};

use crate::body::{Json, Verbatim};
use crate::parameter::{Acting, Text};
use crate::{operation, params};

/// A name. It begins with no kind of actor, because the actor is `human:` and the name.
const NAME: TextForm =
    TextForm::ANY.chars(1, 200).pattern(r"^[^:\u0000-\u001f\u007f-\u009f]*$").example("lead");
/// An address. It is handed to the operator's command, so that it can be neither an option nor a
/// list nor the line of a header.
const ADDRESS: TextForm = TextForm::ANY
    .bytes(254)
    .pattern(r"^[A-Za-z0-9._+][A-Za-z0-9._+-]*@[A-Za-z0-9.-]*[A-Za-z0-9]$")
    .example("lead@example.org");
const SECRET: TextForm = TextForm::ANY.chars(1, 200).without_nul();
const ITEM: TextForm = TextForm::ANY.chars(1, 2048).without_nul();

params! {
    /// A person.
    pub struct OfPerson {
        /// The name of the person.
        required name: Text = Text::new("name", TextForm::ANY.not_empty());
    }
}

message! {
    /// A person to add.
    pub struct PersonRequest("PersonRequest", closed) {
        /// The name, in one line and without a colon. The person acts as `human:` and the name.
        required name: String = "name", "person-name", Limits::text(NAME);
        /// The e-mail address; null or absent if there is none.
        nullable email: String = "email", "email-address", Limits::text(ADDRESS);
    }

    /// What is changed about a person.
    pub struct PersonChange("PersonChange", closed) {
        /// The new e-mail address; null to remove it.
        required_or_null email: String = "email", "email-address", Limits::text(ADDRESS);
    }

    /// A person.
    pub struct Person("Person", open) {
        /// The name.
        required name: String = "name", "person-name";
        /// In whose name the person acts.
        required actor: String = "actor", "actor";
        /// The e-mail address; null if there is none.
        required_or_null email: String = "email", "email-address";
        /// When the person was added.
        required added_at: Timestamp = "added_at", "time:rfc-3339";
        /// Who added the person, if that is known.
        required_or_null added_by: String = "added_by", "actor";
        /// When the address was last changed; null for never.
        required_or_null changed_at: Timestamp = "changed_at", "time:rfc-3339";
    }
}

envelope! {
    /// All people.
    pub struct PersonListEnvelope("PersonListEnvelope") {
        /// The people, by name.
        required people: Vec<Person> = "people", "people-by-name";
    }

    /// One person.
    pub struct PersonEnvelope("PersonEnvelope") {
        /// The person.
        required person: Person = "person", "person";
    }
}

message! {
    /// What a link is for.
    pub struct PersonLinkRequest("PersonLinkRequest", closed) {
        /// The item of the inbox: its id, or its short name, of which the first digits are enough.
        required item: String = "item", "inbox-item-id", Limits::text(ITEM);
        /// Whether the link is sent to the stored address of the person, by the operator's program
        /// (`notify.mail`). Then the answer does not have it.
        optional mail: bool = "mail", "flag";
    }
}

message! {
    /// Which link is to be replaced.
    pub struct LinkRenewalRequest("LinkRenewalRequest", closed) {
        /// The secret of the link, which is the part after `#p=`.
        required link: String = "link", "credential", Limits::text(SECRET);
    }
}

envelope! {
    /// What becomes of a request for another link. It is the same in every case, so that it says
    /// nothing about people and questions.
    pub struct LinkRenewalEnvelope("LinkRenewalEnvelope") {
        /// What the server does now.
        required note: String = "note", "text-for-people";
    }

    /// A link that signs a person in for one item.
    pub struct PersonLinkEnvelope("PersonLinkEnvelope") {
        /// The link: the address of the page with a secret that works once. The secret is in the
        /// fragment, which no browser sends. Null if the server does not listen on an address, or
        /// if the link was mailed.
        required_or_null url: String = "url", "url";
        /// The link without the address of the server. The path of the page alone if the link was
        /// mailed.
        required path: String = "path", "path";
        /// The address to which the link was mailed.
        optional mailed_to: String = "mailed_to", "email";
        /// The person.
        required person: String = "person", "person-name";
        /// The item, by its id.
        required item: String = "item", "inbox-item-id";
        /// Until when it can be used.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }
}

operation! {
    /// Lists people, with their addresses.
    pub struct ListPeople("people", Get "/accord/v1/people") of Agentic {
        needs Need::Admin;
        answers 200 "The people.", Json<PersonListEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied]];
    }

    /// Adds a person. Links to sign in are sent to no other address than the one that is stored
    /// here.
    pub struct AddPerson("add_person", Post "/accord/v1/people") of Agentic {
        body Json<PersonRequest>;
        needs Need::Decide(Decision::Grant);
        answers 201 "The person.", Json<PersonEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::WireFieldMissing,
            Code::WireFieldValue,
            Code::PersonExists,
        ]];
    }

    /// Changes the address of a person.
    pub struct ChangePerson("change_person", Patch "/accord/v1/people/{name}") of Agentic {
        path OfPerson;
        body Json<PersonChange>;
        needs Need::Decide(Decision::Grant);
        answers 200 "The person.", Json<PersonEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::WireFieldMissing,
            Code::WireFieldValue,
            Code::PersonNotFound,
        ]];
    }

    /// Makes a link that signs a person in once, within a day, to answer one question of a live
    /// session, and nothing else. The record of decisions says who made it. `accord person link`
    /// prints it.
    pub struct LinkPerson("person_link", Post "/accord/v1/people/{name}/link") of Agentic {
        path OfPerson;
        query Acting;
        body Json<PersonLinkRequest>;
        needs Need::Decide(Decision::Grant);
        answers 201 "The link.", Json<PersonLinkEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::WireFieldMissing,
            Code::WireFieldValue,
            Code::PersonNotFound,
            Code::InboxItemNotFound,
            Code::IdAmbiguous,
            Code::ItemNeedsLogin,
            Code::MailNotSent,
        ]];
    }

    /// Asks for another link instead of one of a person that was used or has expired. The server
    /// mails it to the stored address of the person, if the question still waits, with the
    /// operator's program (`notify.mail`): at most one in a minute, and five in a day. Needs no
    /// key; the answer is always the same.
    pub struct RenewLink("renew_link", Post "/accord/v1/links/renew") of Agentic {
        body Verbatim<LinkRenewalRequest>;
        needs Need::Decide(Decision::SignIn);
        answers 200 "The request was taken.", Json<LinkRenewalEnvelope>;
        refuses [&[
            Code::LoginTooOften,
            Code::NotForWorkers,
            Code::MailNotSent,
            Code::HttpMediaType,
            Code::WireFieldMissing,
            Code::WireFieldValue,
        ]];
    }

    /// Removes a person. Links that the person was given, and the logins of such links, end.
    pub struct RemovePerson("remove_person", Delete "/accord/v1/people/{name}") of Agentic {
        path OfPerson;
        needs Need::Admin;
        answers 200 "The person as it was.", Json<PersonEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied, Code::PersonNotFound]];
    }
}

impl PersonRequest {
    /// The name and the address. Fails when one of them cannot be stored.
    pub fn checked(self) -> Result<(String, Option<String>), Failure> {
        let Self { name, email } = self;
        if name.chars().any(|letter| letter == ':' || letter.is_control()) {
            let message = "a name has 1 to 200 characters, in one line and without a colon";
            return Err(refused(message, "/name"));
        }
        let email = match email {
            Field::Value(email) => Some(email),
            Field::Null | Field::Absent => None,
        };
        email.as_deref().map_or(Ok(()), check_address)?;
        Ok((name, email))
    }
}

impl PersonChange {
    /// The address. Fails when it is none.
    pub fn checked(self) -> Result<Option<String>, Failure> {
        self.email.as_deref().map_or(Ok(()), check_address)?;
        Ok(self.email)
    }
}

/// Refuses what is not one address.
fn check_address(text: &str) -> Result<(), Failure> {
    let is_local = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
    let is_domain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
    let fits = text.split_once('@').is_some_and(|(local, domain)| {
        let is_edge = |letter: char| letter.is_ascii_alphanumeric();
        !local.is_empty()
            && !local.starts_with('-')
            && local.chars().all(is_local)
            && domain.chars().all(is_domain)
            && domain.starts_with(is_edge)
            && domain.ends_with(is_edge)
    });
    if fits {
        return Ok(());
    }
    let message = "an address is of the form lead@example.org: letters, digits and . _ + - before \
                   the @, the name of a host after it";
    Err(refused(message, "/email"))
}

fn refused(message: &str, pointer: &str) -> Failure {
    Failure::new(Code::WireFieldValue, message).at(pointer)
}
