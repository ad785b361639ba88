//! `accord person`: whom the operator knows, by name and address.

use accord_api::operations::people::{
    AddPerson, ChangePerson, LinkPerson, ListPeople, OfPerson, PersonChange, PersonEnvelope,
    PersonLinkRequest, PersonListEnvelope, PersonRequest, RemovePerson,
};
use accord_api::parameter::Acting as Who;
use accord_api::{Answered, Call, Json, NoParams};
use accord_base::Door;

use crate::host::{ActorArg, HostArgs, print_answer, print_document, print_items};
use crate::render::{self, Page, Times, clean};
use crate::{Exit, Result, print_note};

subcommands! {
    /// Add people, give them links to questions, and remove them
    pub(crate) PeopleArgs, PeopleCommand {
        Add(AddArgs),
        /// List people with their addresses
        List(HostArgs) => list,
        Change(ChangeArgs),
        Link(LinkArgs),
        Remove(RemoveArgs),
    }
}

/// Add a person, who acts as human:NAME
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The name, for example lead
    #[arg(value_parser = name)]
    name: String,

    /// The e-mail address. Links to sign in are sent to no other one
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// Change the e-mail address of a person
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("address").required(true))]
struct ChangeArgs {
    /// The name
    #[arg(value_parser = name)]
    name: String,

    /// The new e-mail address
    #[arg(long, value_name = "ADDRESS", group = "address")]
    email: Option<String>,

    /// Remove the e-mail address
    #[arg(long, group = "address")]
    no_email: bool,

    #[command(flatten)]
    host: HostArgs,
}

/// Print or mail a link that signs a person in once, to answer one question and nothing else
///
/// The link can be used for a day. Whoever has it answers as the person: send it to nobody else.
/// Only questions of live sessions have links; everything else needs a login or a key.
#[derive(Debug, clap::Args)]
struct LinkArgs {
    /// The name
    #[arg(value_parser = name)]
    name: String,

    /// The question: the short name or the id of its item in `accord inbox`
    #[arg(long, value_name = "ITEM")]
    item: String,

    /// Mail it to the stored address, with the program of the setting notify.mail; it is not
    /// printed
    #[arg(long)]
    mail: bool,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

/// Remove a person, whose links end
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The name
    #[arg(value_parser = name)]
    name: String,

    #[command(flatten)]
    host: HostArgs,
}

impl AddArgs {
    fn run(self) -> Result<Exit> {
        let body = PersonRequest { name: self.name, email: self.email.into() };
        let host = self.host.connect()?;
        let added = host.call(&Call::<AddPerson>::new(NoParams, NoParams, Json(body)))?;
        print_person(self.host.json, &added, "added")
    }
}

fn list(host: HostArgs) -> Result<Exit> {
    let listed = host.connect()?.ask::<ListPeople>(NoParams, NoParams)?;
    let render = |page: &mut Page, list: &PersonListEnvelope| render::people(page, &list.people);
    print_items(host.json, &listed, render, || "nobody; `accord person add NAME` adds one".into())
}

impl ChangeArgs {
    fn run(self) -> Result<Exit> {
        let body = PersonChange { email: self.email };
        let of_person = OfPerson { name: self.name };
        let host = self.host.connect()?;
        let changed = host.call(&Call::<ChangePerson>::new(of_person, NoParams, Json(body)))?;
        print_person(self.host.json, &changed, "changed")
    }
}

impl LinkArgs {
    fn run(self) -> Result<Exit> {
        let by = self.actor.acting()?;
        let host = self.host.connect()?;
        let body = Json(PersonLinkRequest { item: self.item, mail: self.mail.then_some(true) });
        let who = Who { actor: None, door: Some(Door::Cli) };
        let call = Call::<LinkPerson>::new(OfPerson { name: self.name }, who, body);
        let answered = host.call_by(&by, &call)?;
        let made = &answered.answer.0;
        let mailed = made.mailed_to.as_ref().map(|address| format!("mailed to {address}"));
        let line = mailed.as_ref().or(made.url.as_ref()).unwrap_or(&made.path);
        print_document(self.host.json, &answered.text, |page| page.line(clean(line)))?;
        if !self.host.json {
            let until = Times::default().at(Some(&made.expires_at));
            print_note(format!("it signs human:{} in once, until {until}", clean(&made.person)));
            if made.url.is_none() && mailed.is_none() {
                print_note("no server runs; put its address before the path");
            }
        }
        Ok(Exit::Yes)
    }
}

impl RemoveArgs {
    fn run(self) -> Result<Exit> {
        let of_person = OfPerson { name: self.name };
        let removed = self.host.connect()?.ask::<RemovePerson>(of_person, NoParams)?;
        print_person(self.host.json, &removed, "removed")
    }
}

fn print_person(json: bool, answer: &Answered<Json<PersonEnvelope>>, done: &str) -> Result<Exit> {
    print_answer(json, answer, |page, answer| {
        let person = &answer.0.person;
        let address = person.email.as_deref().unwrap_or("no e-mail address");
        page.line(clean(&format!("{done} {} ({address})", person.actor)));
    })
}

/// Parses a name, which may be given as the actor.
fn name(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("human:").unwrap_or(text);
    match name {
        "" => Err("a name is not empty, for example lead".to_owned()),
        _ => Ok(name.to_owned()),
    }
}
