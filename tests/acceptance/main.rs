//! Whole scenarios through `Workbench`: real SQLite, real files, real HTTP on loopback.

mod bad_input;
mod bench;
mod catalog;
mod guard;
mod meaning;
mod model;
mod plan;
mod run;
mod visibility;
