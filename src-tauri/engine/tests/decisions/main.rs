//! The engine's decisions, tested from outside through its public interface (STYLE 3.7).
//!
//! One module per area, each with one `check` helper: a fixture is a line of text, the expectation an inline snapshot.
//! [`desk`] makes tools, requests and plannings of such lines, [`lines`] plans and what happens to them, [`bench`] runs them. Nothing here waits
//! for real time, reads a file or opens a socket.

mod bench;
mod capability;
mod compare;
mod control;
mod desk;
mod discovery;
mod faults;
mod filter;
mod gate;
mod guard;
mod hostile;
mod laws;
mod lines;
mod lint;
mod plan;
mod properties;
mod redact;
mod reopened;
mod replay;
mod run;
mod savings;
mod schedule;
mod session;
mod turns;
mod visibility;
