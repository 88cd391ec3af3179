//! Whole scenarios through `Workbench`: real SQLite, real files, real HTTP on loopback.

mod answer;
mod bad_input;
mod bench;
mod catalog;
mod control;
mod discovery;
mod guard;
mod handshake;
mod meaning;
mod model;
mod past;
mod plan;
mod run;
mod sessions;
mod table;
mod visibility;
