//! Tools that really run.
