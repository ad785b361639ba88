//! People over HTTP.

use accord_api::operations::people::{
    AddPerson, ChangePerson, ListPeople, PersonEnvelope, PersonListEnvelope, RemovePerson,
};
use accord_api::{Call, Json};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

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
        serve(async |Context { host, caller, correlation }, call: Call<RemovePerson>| {
            let person = host.people().remove(&caller, &call.path.name).await?;
            Ok(Json(alx_envelope!(correlation, PersonEnvelope { person })))
        }),
    ]
}
