//! People: whom the operator knows, by name and address.
//!
//! Invariants:
//! - who may manage keys, and nobody else, sees and changes addresses: a link to sign in is sent to
//!   no other address than the stored one;
//! - a person who is removed has no links and no logins from then on.

use std::sync::Arc;

use accord_api::operations::people::{Person, PersonChange, PersonRequest};
use accord_base::{ActorType, Author, Caller, Decision, Need};
use accord_contract::{Code, Failure, Object, Timestamp, Value, Wire as _};
use accord_store::{PersonRow, ReadUnit, UnitError, Units};
use accord_system::Clock;

use crate::keys::may_manage;
use crate::logins::forget_person;

/// The people of a host. A clone is the same people.
#[derive(Clone)]
pub struct People {
    units: Units,
    clock: Arc<Clock>,
}

impl People {
    pub fn new(units: &Units) -> Self {
        Self { units: units.clone(), clock: Arc::default() }
    }

    /// All people, by name.
    pub async fn list(&self, caller: &Caller) -> Result<Vec<Person>, Failure> {
        may_manage(caller)?;
        let rows = self.units.read(|unit| Ok(unit.people()?)).await?;
        rows.iter().map(read).collect()
    }

    /// Adds a person. Fails with `PERSON_EXISTS` when there is one of the name.
    pub async fn add(&self, caller: &Caller, asked: PersonRequest) -> Result<Person, Failure> {
        let by = self.may_change(caller)?;
        let (name, email) = asked.checked()?;
        let person = Person {
            actor: format!("{}:{name}", ActorType::Human),
            name,
            email,
            added_at: Timestamp::emit(self.clock.now()),
            added_by: by,
            changed_at: None,
            extra: Object::new(),
        };
        let write = self.units.write(move |unit| {
            if unit.person(&person.name)?.is_some() {
                let message = format!("there is a person {:?} already", person.name);
                return Err(Failure::new(Code::PersonExists, message).at("/name").into());
            }
            unit.put_person(&row(&person))?;
            Ok(person.clone())
        });
        write.await
    }

    /// Changes the address of a person. Fails with `PERSON_NOT_FOUND`.
    pub async fn change(
        &self,
        caller: &Caller,
        name: &str,
        asked: PersonChange,
    ) -> Result<Person, Failure> {
        self.may_change(caller)?;
        let (name, email) = (name.to_owned(), asked.checked()?);
        let now = Timestamp::emit(self.clock.now());
        let write = self.units.write(move |unit| {
            let mut person = found(unit, &name)?;
            if person.email != email {
                person.email.clone_from(&email);
                person.changed_at = Some(now.clone());
                unit.put_person(&row(&person))?;
            }
            Ok(person)
        });
        write.await
    }

    /// Removes a person, whose links and logins end. Fails with `PERSON_NOT_FOUND`.
    pub async fn remove(&self, caller: &Caller, name: &str) -> Result<Person, Failure> {
        may_manage(caller)?;
        let name = name.to_owned();
        let write = self.units.write(move |unit| {
            let person = found(unit, &name)?;
            unit.remove_person(&name)?;
            forget_person(unit, &name)?;
            Ok(person)
        });
        write.await
    }

    /// Who adds or changes. A worker could have links of others sent to itself.
    fn may_change(&self, caller: &Caller) -> Result<Option<String>, Failure> {
        may_manage(caller)?;
        let by = caller.attribute(Need::Decide(Decision::Grant), Author::unnamed())?.actor;
        Ok(by.map(|actor| format!("{}:{}", actor.kind, actor.id)))
    }
}

/// The person of a name. Fails with `PERSON_NOT_FOUND`.
pub fn found(unit: &dyn ReadUnit, name: &str) -> Result<Person, UnitError> {
    let missing = || {
        let message = format!("there is no person {name:?}");
        UnitError::from(Failure::new(Code::PersonNotFound, message))
    };
    Ok(read(&unit.person(name)?.ok_or_else(missing)?)?)
}

fn row(person: &Person) -> PersonRow {
    PersonRow {
        name: person.name.clone(),
        added_at: person.added_at.clone(),
        text: person.encode().to_string(),
    }
}

fn read(row: &PersonRow) -> Result<Person, Failure> {
    let document = serde_json::from_str(&row.text).unwrap_or(Value::Null);
    Person::from_document(document).map_err(|_| {
        let message = format!("the stored person {:?} is damaged", row.name);
        Failure::new(Code::StoreCorrupt, message)
    })
}
