//! The commands that the window may call, a file per feature. Each decodes, asks the [`Workbench`] and encodes.
//!
//! Every command must also be named in `src-tauri/permissions/app.toml`: the window is refused all others.

pub mod capability;
pub mod catalog;
pub mod catalog_table;
pub mod control;
pub mod discovery;
pub mod embedding;
pub mod past;
pub mod plan;
pub mod run;
pub mod session;
pub mod settings;
pub mod visibility;
