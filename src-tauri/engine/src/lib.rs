//! The domain of Toolplan and every decision it makes.
//!
//! A query travels through the modules in this order: [`request`] and [`tool`] say what is asked and what there is,
//! [`visibility`] shows each tool or says why not, [`discovery`] ranks, [`decompose`] splits the query, [`select`]
//! proposes calls, [`guard`] admits or drops them, [`plan`] checks and stages them, [`schedule`] decides what runs
//! next and [`run`] does it. [`planning`] joins the steps up to the plan into one pure function. Everything they say
//! about a tool is a [`verdict`].
//!
//! This crate knows nothing of files, sockets, clocks, databases or windows: what it needs of them stands in [`ports`].

/// A regular expression that stands in this crate and therefore compiles; compiled at its first use.
macro_rules! pattern {
    ($name:ident, $re:expr) => {
        static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| regex::Regex::new($re).expect("a pattern of ours compiles"));
    };
}

pub mod cache;
pub mod capability;
pub mod classify;
pub mod compare;
pub mod decompose;
pub mod discovery;
pub mod filter;
pub mod guard;
pub mod intent;
pub mod lint;
pub mod plan;
pub mod planning;
pub mod ports;
pub mod problem;
pub mod redact;
pub mod replay;
pub mod request;
pub mod run;
pub mod savings;
pub mod schedule;
pub mod select;
pub mod session;
pub mod settings;
pub mod text;
pub mod tokens;
pub mod tool;
pub mod turns;
pub mod verdict;
pub mod visibility;

pub use problem::Problem;
