//! People over HTTP.

use accord_api::operations::people::{
    AddPerson, ChangePerson, LinkPerson, ListPeople, PersonEnvelope, PersonLinkEnvelope,
    PersonListEnvelope, RemovePerson,
};
use accord_api::{Call, Json};
use accord_serving::acting::door_of;
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};
use crate::inbox::PersonLink;

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
        serve(async |Context { host, caller, correlation }, call: Call<RemovePerson>| {
            let person = host.people().remove(&caller, &call.path.name).await?;
            Ok(Json(alx_envelope!(correlation, PersonEnvelope { person })))
        }),
    ]
}
