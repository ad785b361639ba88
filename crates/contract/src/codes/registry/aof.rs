//! The codes of AOF/1.

#[rustfmt::skip]
macro_rules! aof_codes {
    ($next:ident $($later:ident)*; $($rows:tt)*) => { $next! { $($later)*; $($rows)* Aof {
    AofInvalidJson = "invalid_json", Validation, AfterChange, 400,
        "The text after AOF/1, or the text that begins with a brace, is not JSON; send one JSON \
         object and nothing after it.";
    AofInvalidEnvelope = "invalid_envelope", Validation, AfterChange, 422,
        "The message is not a valid AOF/1 envelope; correct the member that the error names.";
    AofUnknownType = "unknown_type", Validation, AfterChange, 422,
        "AOF/1 has no message of this type; send one of the five types.";
    AofTaskNotFound = "task_not_found", NotFound, AfterChange, 404,
        "The project has no task with this id; list the tasks with accord task list.";
    AofTaskidMismatch = "taskId_mismatch", Validation, AfterChange, 422,
        "The payload names another task than the envelope; name the same task in both.";
    AofParentNotFound = "parent_not_found", NotFound, AfterChange, 404,
        "The project has no task with the id of the parent; name the task that you hold.";
    AofNestedDelegation = "nested_delegation", Validation, Never, 409,
        "A task that was delegated cannot be delegated again; do the work, or reject the handoff.";
    AofAmbiguousTaskId = "ambiguous_task_id", Validation, AfterChange, 409,
        "Several tasks have ids that begin or end so; write more of the id.";
    AofInvalidTaskTransition = "invalid_task_transition", Validation, AfterChange, 409,
        "A task with this status cannot get the other one; look at the task with accord task show.";
    AofTaskFinished = "task_finished", Validation, Never, 409,
        "The task is done or cancelled and is not changed any more; create another task.";
    AofPersonRequired = "person_required", Approval, AfterChange, 403,
        "The decision belongs to a person; a person must take it, through a key of their own or on \
         the command line.";
    AofDependencyUnmet = "dependency_unmet", Validation, AfterChange, 409,
        "The task waits for tasks that are not done; finish them, remove the dependency, or let a \
         person promote or claim it with --force.";
    AofResourceBusy = "resource_busy", Execution, Backoff, 409,
        "Another task in progress uses the resource of this one; claim it when that one is over.";
    AofPathOutsideTask = "path_outside_task", Validation, AfterChange, 422,
        "A path of the message is absolute or leads out of the folder of the task; name files \
         inside it.";
    AofInvalidProjectId = "invalid_project_id", Validation, AfterChange, 422,
        "The message names another project than the tree that it was sent to; send it there, or \
         leave projectId out.";
    AofInvalidRunResult = "invalid_run_result", Validation, AfterChange, 422,
        "run_result.json cannot be read, so that it moves nothing; report again, or remove the \
         file and release the task.";
    AofNoTaskTree = "no_task_tree", NotFound, AfterChange, 404,
        "The folder has no tree of tasks; make one with accord task init.";
    AofProjectMismatch = "project_mismatch", Validation, AfterChange, 409,
        "The tree belongs to another project; name that project, or another folder.";
    AofProjectManifestInvalid = "project_manifest_invalid", Validation, AfterChange, 422,
        "project.yaml cannot be read; correct the place that the message names.";
    AofTaskNotReady = "task_not_ready", Validation, AfterChange, 409,
        "Only a ready task can be claimed; take another one, or wait until this one is ready.";
    AofUnassignedTask = "unassigned_task", Validation, AfterChange, 409,
        "The task has neither a lease nor an agent; claim it first.";
    AofUnauthorizedAgent = "unauthorized_agent", Auth, AfterChange, 403,
        "Another agent has this task; only its agent can report on it.";
    AofDependencyNotFound = "dependency_not_found", Validation, AfterChange, 422,
        "A task cannot wait for a task that does not exist; create that task first.";
    AofDependencyCycle = "dependency_cycle", Validation, AfterChange, 409,
        "The tasks would wait for each other; remove one of the dependencies that the message \
         names.";
    AofStaleRun = "stale_run", Validation, Never, 409,
        "The message belongs to an earlier run of the task; stop the work, because the task was \
         given to another run.";
    AofTaskFileInvalid = "task_file_invalid", Validation, AfterChange, 422,
        "The file of the task is not valid; correct it as the message says, or restore it.";
    AofTaskTreeUnavailable = "task_tree_unavailable", Execution, Backoff, 503,
        "The tree of tasks cannot be read or written; look at the file that the message names.";
    AofTaskChangeUnconfirmed = "task_change_unconfirmed", Execution, Never, 503,
        "The change is recorded, or may be, but its files could not be written; look at the list \
         of tasks, and send it again only if it is missing there.";
    AofTaskTreeElsewhere = "task_tree_elsewhere", Execution, AfterChange, 421,
        "The files of the tasks are on another machine; run the command there, as the message \
         says.";
    AofOutputNotFound = "output_not_found", NotFound, AfterChange, 404,
        "The task has no such file, or a link is there; list its files with accord task outputs.";
    AofOutputTooLarge = "output_too_large", Validation, AfterChange, 413,
        "The outputs of a run are larger than a host takes; leave fewer or smaller files in \
         outputs/.";
    AofOutputOffset = "output_offset", Validation, AfterChange, 409,
        "The bytes do not follow those that are there; go on after the received ones that the \
         details name.";
    AofOutputDamaged = "output_damaged", Validation, AfterChange, 422,
        "The uploaded bytes do not have the digest that was announced, and were removed; read the \
         file again and send it from its start.";
    AofRunReported = "run_reported", Validation, Never, 409,
        "The run has reported, so that its outputs do not change any more; send nothing \
         more of it.";
    AofAgentNotStarted = "agent_not_started", Execution, AfterChange, 500,
        "The program of the agent cannot be started; the task was given back. Correct the command \
         of the agent.";
    AofTaskNeedsAdopt = "task_needs_adopt", Approval, AfterChange, 409,
        "Nothing that this copy of the tasks trusts says who gave out the lease of the task or \
         moved it; a person must look at it and take it over with accord task adopt.";
    AofNothingToAdopt = "nothing_to_adopt", Validation, AfterChange, 409,
        "Nothing of it waits for a person; accord task lint lists what a person can take over.";
    AofTaskTreeOfAnotherHost = "task_tree_of_another_host", Validation, AfterChange, 409,
        "A host of another data folder schedules these tasks; unlink them there with accord \
         project unlink, or use that host.";
    AofTaskTreeOfAnotherProject = "task_tree_of_another_project", Validation, AfterChange, 409,
        "The folder has the tasks of another project; link it to the project that its \
         project.yaml names.";
    AofTaskIdsExhausted = "task_ids_exhausted", Execution, AfterChange, 507,
        "Every task id of this day is in use; create the task tomorrow (UTC), or in another \
         project.";
    } } };
}
