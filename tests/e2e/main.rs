//! The real window under a virtual display. Needs Xvfb and WebKitWebDriver; `.ci/run` installs them.

mod main_job;
mod pictures;
mod support;
