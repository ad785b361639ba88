//! People.

use accord_api::operations::people::Person;

use super::page::Page;
use super::table::table;
use super::text::clean;
use super::time::Times;

pub(crate) fn people(page: &mut Page, people: &[Person]) {
    let times = Times::of_times(people.iter().map(|person| Some(&person.added_at)));
    let row = |person: &Person| {
        let email = person.email.as_deref().map(clean).unwrap_or_default();
        let added_by = person.added_by.as_deref().map(clean).unwrap_or_default();
        vec![clean(&person.actor), email, times.at(Some(&person.added_at)), added_by]
    };
    let rows: Vec<Vec<String>> = people.iter().map(row).collect();
    table(page, &["PERSON", "E-MAIL", "SINCE", "ADDED BY"], &rows);
}
