//! The offline selector.
