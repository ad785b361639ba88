//! The files of a governed repository, on real folders and on a simulated disk.

mod bundles;
mod checkups;
mod commits;
mod crashes;
mod fuzz;
mod indexes;
mod kills;
mod locks;
mod protection;
mod reading;
mod records;
mod roots;
mod support;
