//! The texts of settings, before and after.

mod desk;
mod hooks;
mod instructions;
mod properties;
mod servers;
mod taking_out;
mod trusting;
mod user_scope;
