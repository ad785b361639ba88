//! People in the model.

use super::State;
use crate::{People, PersonRow, PersonWrites, Result};

impl People for State {
    fn person(&self, name: &str) -> Result<Option<PersonRow>> {
        Ok(self.people.get(name).cloned())
    }

    fn people(&self) -> Result<Vec<PersonRow>> {
        Ok(self.people.values().cloned().collect())
    }
}

impl PersonWrites for State {
    fn put_person(&mut self, row: &PersonRow) -> Result<()> {
        self.people.insert(row.name.clone(), row.clone());
        Ok(())
    }

    fn remove_person(&mut self, name: &str) -> Result<bool> {
        Ok(self.people.remove(name).is_some())
    }
}
