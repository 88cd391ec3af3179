//! Whole scenarios through `Workbench`: real SQLite, real files, real HTTP on loopback.

mod bad_input;
mod bench;
mod catalog;
mod control;
mod guard;
mod model;
mod past;
mod plan;
mod run;
mod visibility;
