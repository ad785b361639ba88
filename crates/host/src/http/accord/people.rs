//! People over HTTP.

use accord_api::operations::people::{
    AddPerson, ChangePerson, LinkPerson, LinkRenewalEnvelope, LinkRenewalRequest, ListPeople,
    PersonEnvelope, PersonLinkEnvelope, PersonListEnvelope, RemovePerson, RenewLink,
};
use accord_api::{Call, Json};
use accord_serving::acting::door_of;
use accord_serving::body::Document;
use accord_serving::operation::serve;
use accord_serving::reply::{encoded, unstored};
use accord_serving::{FromPage, Reply, alx_envelope};
use hyper::StatusCode;

use crate::http::{Context, Host, Route};
use crate::inbox::PersonLink;

/// What is said of every request for another link.
const TAKEN: &str = "if the question still waits, a new link is on its way to your stored address; \
                     there is at most one in a minute, and five in a day";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, _: Call<ListPeople>| {
            let people = host.people().list(&caller).await?;
            Ok(Json(alx_envelope!(correlation, PersonListEnvelope { people })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<AddPerson>| {
            let person = host.people().add(&caller, call.body.0).await?;
            Ok(Json(alx_envelope!(correlation, PersonEnvelope { person })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<ChangePerson>| {
            let person = host.people().change(&caller, &call.path.name, call.body.0).await?;
            Ok(Json(alx_envelope!(correlation, PersonEnvelope { person })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<LinkPerson>| {
            let who = (call.query.actor.as_deref(), door_of(&caller, call.query.door));
            let made = host.link_person(&caller, who, &call.path.name, call.body.0).await?;
            let PersonLink { url, path, mailed_to, person, item, expires_at } = made;
            Ok(Json(alx_envelope!(
                correlation,
                PersonLinkEnvelope { url, path, mailed_to, person, item, expires_at }
            )))
        }),
        Route::serving::<RenewLink, _>(renew).admits_itself(false),
        serve(async |Context { host, caller, correlation }, call: Call<RemovePerson>| {
            let person = host.people().remove(&caller, &call.path.name).await?;
            Ok(Json(alx_envelope!(correlation, PersonEnvelope { person })))
        }),
    ]
}

/// Answers the same in every case, and before anything is looked up, so that the time says nothing,
/// too.
async fn renew(FromPage { visitor, .. }: FromPage<Host>, document: Document) -> Reply {
    let request: LinkRenewalRequest = document.read()?;
    visitor.check_worker()?;
    let (host, now) = (visitor.host.clone(), visitor.host.now());
    host.check_mail()?;
    // Every request counts as a guess: who has a link asks once.
    host.logins().check_failures(visitor.address(), now)?;
    host.logins().record_failure(visitor.address(), now);
    accord_system::spawn(async move { host.renew_link(&request.link).await });
    let note = TAKEN.to_owned();
    let envelope = alx_envelope!(visitor.correlation, LinkRenewalEnvelope { note });
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}
