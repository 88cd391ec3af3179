//! The real window under a virtual display. Needs Xvfb and WebKitWebDriver; `make test` installs them.

mod debugger;
mod main_job;
mod pictures;
mod support;
