//! Links that sign a person in for one item.
//!
//! Invariants:
//! - a link is for a question of a live session. What runs commands, what ends work, and what is
//!   decided elsewhere needs a login;
//! - the link and its record are stored in one transaction;
//! - a link is mailed to the stored address of the person, and the answer does not have it then;
//! - a link that replaces another one is mailed, and is for the same question.

use accord_api::operations::people::{Person, PersonLinkRequest};
use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::excerpt::one_line;
use accord_base::inbox::{InboxItem, kind};
use accord_base::{Author, By, Caller, Decision, Door, Need};
use accord_contract::text::percent_encoded;
use accord_contract::{Code, Failure, Time, Timestamp};
use accord_serving::acting::service;
use accord_serving::keys::may_manage;
use accord_serving::logins::linked::{self, LinkedQuestion, NewLink};
use accord_serving::people::found as found_person;
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
        let known = self.units().read(move |unit| found_person(unit, &person)).await?;
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
        let mut record = recorded(&question, "made", &by, now);
        record.key_id = caller.key_id().map(str::to_owned);
        let link = NewLink::to(question, now);
        let path = path_of(&link);
        let (person, expires_at) = (name.to_owned(), Timestamp::emit(link.until));
        let project = item.project_id.clone();
        let units = self.units();
        let write = units.write(move |unit| {
            found_person(unit, &person)?;
            link.put(unit)?;
            record_decision(unit, &project, &record, now)?;
            Ok(())
        });
        write.await?;
        let url = self.url().map(|base| format!("{base}{path}"));
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

    /// Mails another link instead of one that was used or has expired, if its question still waits
    /// and its person has an address. Says in the log why not, and nothing to who asks.
    pub(crate) async fn renew_link(&self, secret: &str) {
        match self.try_renew_link(secret).await {
            Ok(true) => {}
            Ok(false) => tracing::info!(
                "a link was not replaced: there is nothing to answer, or \
                                         too many links to the question"
            ),
            Err(failure) => {
                let code = failure.code;
                tracing::warn!(%code, "a link was not replaced: {}", failure.message);
            }
        }
    }

    async fn try_renew_link(&self, secret: &str) -> Result<bool, Failure> {
        let (now, text) = (self.now(), secret.to_owned());
        let found = self.units().read(move |unit| linked::renewable(unit, &text, now)).await?;
        let Some(question) = found else { return Ok(false) };
        let item = match self.find_item(&None, &question.item(), None).await {
            Err(failure) if failure.code == Code::InboxItemNotFound => return Ok(false),
            found => found?,
        };
        let (text, of) = (secret.to_owned(), question.clone());
        let units = self.units();
        let write = units.write(move |unit| {
            // Two requests at once make one link.
            let Some(question) = linked::renewable(unit, &text, now)? else { return Ok(None) };
            let person = found_person(unit, &question.person)?;
            let Some(address) = person.email else { return Ok(None) };
            let record = recorded(&question, "renewed", &service(Door::Page), now);
            let project = question.project.clone();
            let link = NewLink::replacing(question, now);
            link.put(unit)?;
            record_decision(unit, &project, &record, now)?;
            Ok(Some((path_of(&link), link.until, address)))
        });
        let Some((path, until, address)) = write.await? else { return Ok(false) };
        let Some(base) = self.url() else { return Ok(false) };
        let (subject, text) = letter(&item, &format!("{base}{path}"), &Timestamp::emit(until));
        self.send_mail(&address, (&subject, &text)).await?;
        tracing::info!(person = of.person, "a link was replaced and mailed");
        Ok(true)
    }

    /// Where a link is mailed: to the stored address alone. Fails with `MAIL_NOT_SENT`.
    fn address_for_link(&self, person: Person) -> Result<String, Failure> {
        self.check_mail()?;
        if self.url().is_none() {
            let message = "the server does not listen on an address that a link could have";
            return Err(not_sent(message).suggesting("accord serve"));
        }
        person.email.ok_or_else(|| {
            let message = format!("{} has no stored e-mail address", person.actor);
            not_sent(&message).suggesting("accord person change NAME --email ADDRESS")
        })
    }
}

/// The link without the address of the server.
fn path_of(link: &NewLink) -> String {
    format!("/live/{}#p={}", percent_encoded(&link.question().session), link.secret)
}

/// The record of a link to a question.
fn recorded(question: &LinkedQuestion, outcome: &str, by: &By, now: Time) -> DecisionRecord {
    let decided = Decided {
        protocol: DecisionProtocol::Live,
        kind: "person.link",
        subject: &question.session,
        outcome,
    };
    let mut record = DecisionRecord::new(DecisionId::mint(random()), decided, by, now);
    record.title = Some(format!("a link for human:{}", question.person));
    record
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
