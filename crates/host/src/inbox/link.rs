//! Links that sign a person in for one item.
//!
//! Invariants:
//! - a link is for a question of a live session. What runs commands, what ends work, and what is
//!   decided elsewhere needs a login;
//! - the link and its record are stored in one transaction;
//! - a link is mailed to the stored address of the person, and the answer does not have it then.

use accord_api::operations::people::{Person, PersonLinkRequest};
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::excerpt::one_line;
use accord_base::inbox::{InboxItem, kind};
use accord_base::{Author, By, Caller, Decision, Door, Need};
use accord_contract::text::percent_encoded;
use accord_contract::{Code, Failure, Timestamp};
use accord_serving::acting::service;
use accord_serving::keys::may_manage;
use accord_serving::listen::url_of_host;
use accord_serving::logins::linked::{LinkedQuestion, NewLink};
use accord_serving::people::found;
use accord_store::record_decision;
use accord_system::random;

use crate::http::Host;
use crate::notify::not_sent;

/// The longest question in a mail, in characters.
const WORDS: usize = 500;

/// A link, for the person only.
pub(crate) struct PersonLink {
    pub(crate) url: Option<String>,
    pub(crate) path: String,
    /// The address to which it was mailed; then the link is in no other place.
    pub(crate) mailed_to: Option<String>,
    pub(crate) person: String,
    pub(crate) item: String,
    pub(crate) expires_at: Timestamp,
}

impl Host {
    /// Makes a link that signs a person in for one item. Fails with `ITEM_NEEDS_LOGIN`.
    pub(crate) async fn link_person(
        &self,
        caller: &Caller,
        (named, door): (Option<&str>, Door),
        name: &str,
        asked: PersonLinkRequest,
    ) -> Result<PersonLink, Failure> {
        may_manage(caller)?;
        let named = named.map(|named| By::parse(named, door)).transpose();
        let named = named.map_err(|refused| refused.at("/actor"))?.map(|by| by.actor);
        // A worker could answer its own question as a person.
        let need = Need::Decide(Decision::Grant);
        let by = caller.attribute(need, Author::proven(named, "/actor"))?.by(door);
        let by = by.unwrap_or_else(|| service(door));
        let person = name.to_owned();
        let known = self.units().read(move |unit| found(unit, &person)).await?;
        let item = self.inbox_item(caller, &asked.item, None).await?;
        if item.kind != kind::LIVE_ASK {
            let message = format!("a {} is decided with a login or a key", item.kind);
            return Err(Failure::new(Code::ItemNeedsLogin, message).at("/item"));
        }
        let address = match asked.mail {
            Some(true) => Some(self.address_for_link(known)?),
            Some(false) | None => None,
        };
        let now = self.now();
        let question = LinkedQuestion {
            person: name.to_owned(),
            project: item.project_id.clone(),
            session: item.subject.clone(),
            since: item.since.time().unix_millis(),
        };
        let decided = Decided {
            protocol: DecisionProtocol::Live,
            kind: "person.link",
            subject: &item.subject,
            outcome: "made",
        };
        let mut record = DecisionRecord::new(DecisionId::mint(random()), decided, &by, now);
        record.title = Some(format!("a link for human:{name}"));
        record.key_id = caller.key_id().map(str::to_owned);
        let link = NewLink::to(question, now);
        let path = format!("/live/{}#p={}", percent_encoded(&item.subject), link.secret);
        let (person, expires_at) = (name.to_owned(), Timestamp::emit(link.until));
        let project = item.project_id.clone();
        let units = self.units();
        let write = units.write(move |unit| {
            found(unit, &person)?;
            link.put(unit)?;
            record_decision(unit, &project, &record, now)?;
            Ok(())
        });
        write.await?;
        let url = url_of_host(self.folder()).map(|base| format!("{base}{path}"));
        let (url, path, mailed_to) = match (address, url) {
            (Some(address), Some(url)) => {
                let (subject, text) = letter(&item, &url, &expires_at);
                self.send_mail(&address, (&subject, &text)).await?;
                let page = format!("/live/{}", percent_encoded(&item.subject));
                (None, page, Some(address))
            }
            (_, url) => (url, path, None),
        };
        let (person, item) = (name.to_owned(), item.id);
        Ok(PersonLink { url, path, mailed_to, person, item, expires_at })
    }

    /// Where a link is mailed: to the stored address alone. Fails with `MAIL_NOT_SENT`.
    fn address_for_link(&self, person: Person) -> Result<String, Failure> {
        self.check_mail()?;
        if url_of_host(self.folder()).is_none() {
            let message = "the server does not listen on an address that a link could have";
            return Err(not_sent(message).suggesting("accord serve"));
        }
        person.email.ok_or_else(|| {
            let message = format!("{} has no stored e-mail address", person.actor);
            not_sent(&message).suggesting("accord person change NAME --email ADDRESS")
        })
    }
}

/// The subject and the text of a mail with a link. What an agent wrote is quoted, and comes after
/// what Accord says.
fn letter(item: &InboxItem, url: &str, until: &Timestamp) -> (String, String) {
    let asked = item.words.as_deref().unwrap_or("a question");
    let asked = one_line(asked, WORDS);
    let subject = format!("[Accord] {} ({})", item.title, item.project_id.as_str());
    let text = format!(
        "{} in the project {}:\n\n  \"{asked}\"\n\nThis link signs you in once, until {until}, to \
         answer this question and nothing else. Whoever has it answers in your name: send it to \
         nobody.\n\n{url}\n",
        item.title,
        item.project_id.as_str(),
    );
    (subject, text)
}
