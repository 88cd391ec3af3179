//! The commands that the window may call, a file per feature. Each decodes, asks the [`Workbench`] and encodes.
//!
//! Every command must also be named in `src-tauri/permissions/app.toml`: the window is refused all others.

pub mod catalog;
pub mod control;
pub mod past;
pub mod plan;
pub mod run;
pub mod settings;
