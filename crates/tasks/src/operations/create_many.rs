//! Many new tasks, in one commit.

use std::collections::HashMap;

use accord_base::By;
use accord_contract::{Code, Failure};
use accord_tasks_core::operations::{
    CreateManyAnswer, CreateManyRequest, CreateRequest, NewTask, NewTaskOutcome,
};
use accord_tasks_core::plan::circle;
use accord_tasks_core::{Status, TaskId};

use super::apply::resolve_as;
use super::create::{New, check, keys, stage, status_of};
use crate::work::Work;
use crate::{Result, Tree};

/// The most tasks of a list.
const MOST: usize = 500;

/// What a text in a request names.
#[derive(Clone, Copy)]
enum Named {
    /// The task at this place of the list.
    New(usize),
    Known(TaskId),
}

impl Tree {
    /// Creates all tasks of a list, or none. A task whose key is known is left as it is.
    pub fn create_many(&self, request: &CreateManyRequest, by: &By) -> Result<CreateManyAnswer> {
        let tasks = with_keys(&request.tasks)?;
        for (place, task) in tasks.iter().enumerate() {
            check(task, by).map_err(|failure| at_place(failure, place, task))?;
        }
        let (by, aof_id, environment) = (by.clone(), self.aof_id(), self.environment().clone());
        let is_trial = request.dry_run == Some(true);
        self.change(move |work| {
            let plan = Plan::of(work, &tasks)?;
            plan.check_circle()?;
            if is_trial {
                return Ok(plan.answer(work, &plan.ids_of_known()));
            }
            let mut ids = plan.ids_of_known();
            for id in ids.iter_mut().filter(|id| id.is_none()) {
                *id = Some(work.next_id(environment.random())?);
            }
            // Nothing is written before everything is known to be right.
            let mut files = Vec::new();
            for (place, task) in tasks.iter().enumerate().filter(|(at, _)| plan.is_new(*at)) {
                let id = |named: &Named| match named {
                    Named::New(place) => ids[*place],
                    Named::Known(id) => Some(*id),
                };
                let depends_on: Vec<TaskId> = plan.needs[place].iter().filter_map(id).collect();
                let parent = plan.parents[place].as_ref().and_then(id);
                let Some(own) = ids[place] else { continue };
                let status = status_of(work, task, &depends_on);
                let new = New { request: task, id: own, status, depends_on, parent };
                files.push(new.file(work, &aof_id, &by)?);
            }
            let answer = plan.answer(work, &ids);
            for file in &files {
                stage(work, file, &by)?;
            }
            Ok(created(answer))
        })
    }
}

/// The requests, each with a key that no other one has.
fn with_keys(tasks: &[CreateRequest]) -> Result<Vec<CreateRequest>> {
    if tasks.is_empty() || tasks.len() > MOST {
        let message = format!("a list has 1 to {MOST} tasks; this one has {}", tasks.len());
        return Err(Failure::new(Code::WireFieldValue, message).at("/tasks"));
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut keyed = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let key = task.key.clone().unwrap_or_else(|| task.title.clone());
        if let Some(first) = seen.insert(key.clone(), place) {
            let message = format!(
                "the tasks {} and {} of the list have the key {key:?}; give one of them another",
                first + 1,
                place + 1
            );
            let failure = Failure::new(Code::WireFieldValue, message);
            return Err(failure.at(format!("/tasks/{place}/key")));
        }
        keyed.push(CreateRequest { key: Some(key), ..task.clone() });
    }
    Ok(keyed)
}

fn at_place(mut failure: Failure, place: usize, task: &CreateRequest) -> Failure {
    failure.message = format!("task {} ({}): {}", place + 1, task.title, failure.message);
    failure
}

/// A list of new tasks, with what their texts name.
struct Plan<'t> {
    tasks: &'t [CreateRequest],
    /// The tasks that exist.
    known: Vec<Option<TaskId>>,
    needs: Vec<Vec<Named>>,
    parents: Vec<Option<Named>>,
}

impl<'t> Plan<'t> {
    fn of(work: &Work<'_>, tasks: &'t [CreateRequest]) -> Result<Self> {
        let keys = keys(work);
        let key = |task: &'t CreateRequest| task.key.as_deref().unwrap_or_default();
        let known: Vec<Option<TaskId>> =
            tasks.iter().map(|task| keys.get(key(task)).copied()).collect();
        let places: HashMap<&str, usize> =
            tasks.iter().enumerate().map(|(place, task)| (key(task), place)).collect();
        let named = |text: &str, missing: Code| match places.get(text) {
            Some(place) => Ok(known[*place].map_or(Named::New(*place), Named::Known)),
            None => match keys.get(text) {
                Some(id) => Ok(Named::Known(*id)),
                None => resolve_as(work, text, missing).map(Named::Known),
            },
        };
        let (mut needs, mut parents) = (Vec::new(), Vec::new());
        for (place, task) in tasks.iter().enumerate() {
            let wrong = |failure| at_place(failure, place, task);
            let texts = task.depends_on.iter().flatten();
            let of_task = texts.map(|text| named(text, Code::AofDependencyNotFound));
            needs.push(of_task.collect::<Result<Vec<Named>>>().map_err(wrong)?);
            let parent = task.parent.as_deref();
            let parent = parent.map(|text| named(text, Code::AofParentNotFound)).transpose();
            parents.push(parent.map_err(wrong)?);
        }
        Ok(Self { tasks, known, needs, parents })
    }

    fn is_new(&self, place: usize) -> bool {
        self.known[place].is_none()
    }

    fn ids_of_known(&self) -> Vec<Option<TaskId>> {
        self.known.clone()
    }

    /// Refuses tasks that would wait for each other. A task waits for its parts, too.
    fn check_circle(&self) -> Result<()> {
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); self.tasks.len()];
        for place in 0..self.tasks.len() {
            for named in &self.needs[place] {
                if let Named::New(needed) = named {
                    needs[place].push(*needed);
                }
            }
            if let Some(Named::New(parent)) = self.parents[place] {
                needs[parent].push(place);
            }
        }
        let Some(circle) = circle(&needs) else { return Ok(()) };
        let titles: Vec<&str> = circle.iter().map(|at| self.tasks[*at].title.as_str()).collect();
        let message = format!("the tasks would wait for each other: {}", titles.join(", "));
        Err(Failure::new(Code::AofDependencyCycle, message).at("/tasks"))
    }

    fn answer(&self, work: &Work<'_>, ids: &[Option<TaskId>]) -> CreateManyAnswer {
        let mut answer = CreateManyAnswer { tasks: Vec::new(), created: 0, existing: 0 };
        for (place, task) in self.tasks.iter().enumerate() {
            let shown = |named: &Named| match named {
                Named::Known(id) => id.to_string(),
                Named::New(at) => match ids[*at] {
                    Some(id) => id.to_string(),
                    None => self.tasks[*at].key.clone().unwrap_or_default(),
                },
            };
            let is_known = |named: &Named| match named {
                Named::Known(id) => Some(*id),
                Named::New(_) => None,
            };
            let known: Vec<TaskId> = self.needs[place].iter().filter_map(is_known).collect();
            let waits = known.len() < self.needs[place].len();
            let status = match self.known[place] {
                Some(id) => work.board().status(id).unwrap_or(Status::Backlog),
                None if waits => Status::Backlog,
                None => status_of(work, task, &known),
            };
            let outcome = match self.known[place] {
                Some(_) => NewTaskOutcome::Exists,
                None => NewTaskOutcome::WouldCreate,
            };
            answer.created += u64::from(self.is_new(place));
            answer.existing += u64::from(!self.is_new(place));
            answer.tasks.push(NewTask {
                key: task.key.clone().unwrap_or_default(),
                title: task.title.clone(),
                outcome,
                id: ids[place],
                status,
                depends_on: self.needs[place].iter().map(shown).collect(),
            });
        }
        answer
    }
}

/// The same after everything was written.
fn created(mut answer: CreateManyAnswer) -> CreateManyAnswer {
    for task in &mut answer.tasks {
        if task.outcome == NewTaskOutcome::WouldCreate {
            task.outcome = NewTaskOutcome::Created;
        }
    }
    answer
}
