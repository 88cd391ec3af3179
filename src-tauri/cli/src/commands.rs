//! The commands: read what was typed, ask the workbench, print.

mod catalog;

use crate::{
    arguments::{Ask, Cli, Command, Context, Drive, Format, Guard, Policy, Tools},
    discovery, model, past, print, visibility,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{io::Read, path::Path};
use toolplan_workbench::{
    Options, Problem, Workbench,
    engine::{
        request::{ExecutionState, Planner, Request},
        run::{Breakpoint, RunOptions, RunOutcome},
    },
    views::{PlanView, SampleQuery},
};

/// Carries the command out. False: it worked, and the answer is bad news.
pub async fn run(cli: Cli) -> Result<bool, Problem> {
    let json = cli.format == Format::Json;
    // Scoring cases needs no workspace.
    let command = match cli.command {
        Command::Eval { command } => return crate::eval::eval(command, json),
        Command::Model { command } => match model::without_workspace(&command, json) {
            Some(done) => return done,
            None => Command::Model { command },
        },
        other => other,
    };
    let workbench = Workbench::open(Options { folder: cli.workspace, ..Options::default() }).await?;
    // What is asked must not depend on how fast the model loads.
    workbench.settle_model().await;
    let info = workbench.info();
    for notice in &info.workspace.notices {
        eprintln!("note: {} ({})", notice.message, notice.hint);
    }
    match command {
        Command::Plan(ask) => {
            let view = plan(&workbench, &ask, &info.samples).await?;
            show(json, &view, || print::plan(&view));
            Ok(view.planning.findings.is_empty())
        }
        Command::Run { ask, plan, follow, drive } => {
            let view = match plan {
                Some(file) => workbench.plan_from(request(&ask, &info.samples)?, read_json(&file)?)?,
                None => self::plan(&workbench, &ask, &info.samples).await?,
            };
            if !json && !follow {
                print::plan(&view);
            }
            if !view.planning.findings.is_empty() || view.planning.plan.steps.is_empty() {
                show(json, &view, || println!("There is nothing to run."));
                return Ok(false);
            }
            let options = run_options(&drive)?;
            let (updates, followed) = (workbench.follow(), follow.then(|| print::follow(workbench.follow())));
            let run = workbench.start_run_with(view.id, options).await?;
            let Some(followed) = followed else { return ended(&workbench, run, updates, json).await };
            crate::debug::attend(&workbench, run, updates).await?;
            let state = workbench.wait_run(run).await?;
            // The followers end with the workbench.
            drop(workbench);
            let _ = followed.await;
            Ok(state.outcome == Some(RunOutcome::Succeeded))
        }
        Command::Resume { run, confirm, paused } => {
            let updates = workbench.follow();
            workbench.resume_run(run, confirm, paused).await?;
            ended(&workbench, run, updates, json).await
        }
        Command::Timeline { run } => {
            let timeline = workbench.run_timeline(run)?;
            show(json, &timeline, || crate::debug::timeline(&timeline));
            Ok(true)
        }
        Command::Runs { storage, command } => past::runs(&workbench, command, storage, json).await,
        Command::Replay { run, check: true, .. } => past::check(&workbench, run, json),
        Command::Replay { run, answers, .. } => past::replay(&workbench, run, &answers, json).await,
        Command::Fork { run, at, answers, recorded, preview } => {
            let fork = past::fork_of(&workbench, run, &at)?;
            let policy = past::fork_policy(&answers, recorded)?;
            match preview {
                true => past::preview(&workbench, run, fork, policy, json),
                false => past::fork(&workbench, run, fork, policy, answers.speed, json).await,
            }
        }
        Command::Replan { run } => past::replan(&workbench, run, json),
        Command::Diff { a, b } => past::diff(&workbench, &a, &b, json),
        Command::Export { run, out, redact } => past::export(&workbench, run, out, redact, json).await,
        Command::Import { files } => past::import(&workbench, files, json).await,
        Command::Show { run, events, at, filter } => {
            let mut detail = workbench.open_run(run)?;
            if let Some(filter) = &filter {
                detail.events = workbench.run_events(run, filter, 0, u32::MAX)?.rows;
            }
            if let Some(seq) = at {
                detail.state = workbench.run_at(run, seq)?.state;
                detail.events.retain(|e| e.seq <= seq);
            }
            show(json, &detail, || {
                print::run(&detail);
                if events || filter.is_some() {
                    print::events(&detail.events);
                }
            });
            Ok(true)
        }
        Command::Tools { command } => tools(&workbench, command, &info.samples, json).await,
        Command::Visibility(wanted) => visibility::visibility(&workbench, &wanted, json),
        Command::Tokens(tokens) => {
            let savings = match &tokens.conversation {
                Some(file) => workbench.conversation_savings(&read_json(file)?)?,
                None => workbench.token_savings(plan(&workbench, &tokens.ask, &info.samples).await?.id)?,
            };
            show(json, &savings, || visibility::print_savings(&savings));
            Ok(true)
        }
        Command::Policy { command: Policy::Import { file, try_only } } => {
            let import = workbench.import_policy(&read_text(&file)?, try_only)?;
            import.notices.iter().for_each(print::problem);
            show(json, &import, || visibility::print_import(&import));
            Ok(true)
        }
        Command::Session { name, command } => visibility::session(&workbench, &name, command, json),
        Command::Guard { command: Guard::Check { ask, text } } => {
            let text = if text == "-" { standard_input()? } else { text };
            let report = workbench.check_guard(request(&ask, &info.samples)?, &text)?;
            show(json, &report, || print::guard(&report));
            Ok(true)
        }
        Command::Doctor => {
            let checks = workbench.doctor();
            show(json, &checks, || print::checks(&checks));
            Ok(checks.iter().all(|c| c.ok))
        }
        Command::Lint(lint) => catalog::lint(&workbench, &lint, json),
        Command::Capabilities { extensions, tool_for } => {
            catalog::capabilities(&workbench, extensions, tool_for.as_deref(), json)
        }
        Command::Model { command } => model::with_workspace(&workbench, &command, json).await,
        Command::Eval { .. } => unreachable!("carried out above"),
    }
}

fn run_options(drive: &Drive) -> Result<RunOptions, Problem> {
    let breakpoints = (1..)
        .zip(&drive.breakpoint)
        .map(|(id, text)| Ok(Breakpoint { id, on: toolplan_workbench::parse_breakpoint(text)?, enabled: true }));
    Ok(RunOptions {
        breakpoints: breakpoints.collect::<Result<_, Problem>>()?,
        faults: drive.fault.iter().map(|text| toolplan_workbench::parse_fault(text)).collect::<Result<_, _>>()?,
        no_cache: drive.no_cache,
        step_mode: drive.step,
        seed: drive.seed,
        jitter_percent: drive.jitter,
        ..RunOptions::default()
    })
}

/// Waits for the end of a run, asking at every pause, and shows it.
async fn ended(
    workbench: &Workbench,
    run: u32,
    updates: tokio::sync::mpsc::UnboundedReceiver<toolplan_workbench::RunUpdate>,
    json: bool,
) -> Result<bool, Problem> {
    crate::debug::attend(workbench, run, updates).await?;
    workbench.wait_run(run).await?;
    let detail = workbench.open_run(run)?;
    show(json, &detail, || print::run(&detail));
    Ok(detail.summary.outcome == Some(RunOutcome::Succeeded))
}

async fn tools(workbench: &Workbench, command: Tools, samples: &[SampleQuery], json: bool) -> Result<bool, Problem> {
    match command {
        Tools::List { capability } => {
            let specs = match capability {
                Some(capability) => workbench.tools_by_capability(&capability),
                None => workbench.tool_specs(),
            };
            show(json, &specs, || print::tools(&specs));
        }
        Tools::Get { name } => {
            let detail = workbench.tool(&name, &Request::default(), None)?;
            show(json, &detail, || print::tool(&detail));
        }
        Tools::Why { name, ask } => {
            let request = request(&ask, samples)?;
            let view = workbench.plan(request.clone(), None).await?;
            let detail = workbench.tool(&name, &request, Some(view.id))?;
            show(json, &detail.trail, || print::trail(&detail.trail));
        }
        Tools::History { limit } => catalog::history(workbench, limit, json)?,
        Tools::Diff { from, to, tool } => catalog::diff(workbench, from, to, tool.as_deref(), json)?,
        Tools::Undo => catalog::undone(&workbench.undo()?, "taken back", json),
        Tools::Redo => catalog::undone(&workbench.redo()?, "made again", json),
        Tools::Import { file } => {
            let report = workbench.import_catalog(&file, &mut progress("reading"))?;
            for note in &report.notes {
                eprintln!("note: {}", note.message);
            }
            for problem in &report.problems {
                eprintln!("left out: {} ({})", problem.message, problem.hint);
            }
            show(json, &report, || println!("{} tools are registered at revision {}", report.taken, report.revision));
            return Ok(report.problems.is_empty());
        }
        Tools::Search(search) => discovery::search(workbench, &search, json)?,
        Tools::Directory(context) => discovery::directory(workbench, &context, json)?,
    }
    Ok(true)
}

/// Plans what was asked, in a session where one is named.
async fn plan(workbench: &Workbench, ask: &Ask, samples: &[SampleQuery]) -> Result<PlanView, Problem> {
    let request = request(ask, samples)?;
    match &ask.context.session {
        // A state that was named is the person's word.
        Some(name) if ask.context.state.is_none() && ask.context.intent.is_none() => {
            Ok(workbench.plan_in_session(name, request, None).await?.plan)
        }
        _ => workbench.plan(request, None).await,
    }
}

/// The request that the arguments describe.
fn request(ask: &Ask, samples: &[SampleQuery]) -> Result<Request, Problem> {
    let mut request = match ask.sample {
        Some(number) => {
            number.checked_sub(1).and_then(|i| samples.get(i)).map(|s| s.request.clone()).ok_or_else(|| {
                Problem::new(
                    "sample.unknown",
                    format!("there is no sample query {number}"),
                    format!("choose 1 to {}", samples.len()),
                )
            })?
        }
        None => Request { state: ExecutionState::Reasoning, query: query(ask)?, ..Request::default() },
    };
    if let Some(tools) = &ask.suggest {
        request.routing.suggested_tools = Some(tools.iter().filter(|t| !t.is_empty()).cloned().collect());
    }
    if !ask.sub_question.is_empty() {
        request.routing.sub_questions = ask.sub_question.clone();
    }
    if let Some(file) = &ask.decomposition {
        request.decomposition = Some(read_json(file)?);
    }
    if let Some(planner) = &ask.planner {
        request.planner = match planner.as_str() {
            "offline" => Planner::Offline,
            "model" => Planner::Model,
            "recorded" => Planner::Recorded,
            other => {
                return Err(Problem::new(
                    "planner.unknown",
                    format!("there is no planner called {other:?}"),
                    "choose offline, model or recorded",
                ));
            }
        };
    }
    apply(&ask.context, &mut request);
    Ok(request)
}

fn query(ask: &Ask) -> Result<String, Problem> {
    match (&ask.query, &ask.query_file) {
        (Some(query), _) if query == "-" => standard_input(),
        (Some(query), _) => Ok(query.clone()),
        (None, Some(file)) => read_text(file),
        (None, None) => {
            Err(Problem::new("query.missing", "there is no query", "type one, or use --query-file or --sample"))
        }
    }
}

pub(crate) fn apply(context: &Context, request: &mut Request) {
    if let Some(state) = &context.state {
        request.state = ExecutionState::parse_closed(state);
    }
    let set = |from: &Option<String>, to: &mut String| {
        if let Some(value) = from {
            value.clone_into(to);
        }
    };
    set(&context.mode, &mut request.mode);
    set(&context.tenant, &mut request.session.tenant);
    set(&context.user, &mut request.session.user);
    set(&context.intent, &mut request.intent);
    set(&context.session, &mut request.session.id);
    if !context.flag.is_empty() {
        request.session.flags.clone_from(&context.flag);
    }
}

/// Tells of long work on standard error, at most ten times.
fn progress(what: &str) -> impl FnMut(u64, u64) {
    let mut told = 0;
    move |done, all| {
        let tenths = done * 10 / all.max(1);
        if all > 10 << 20 && tenths > told {
            told = tenths;
            eprintln!("{what}: {} %", tenths * 10);
        }
    }
}

pub(crate) fn show(json: bool, value: &impl Serialize, text: impl FnOnce()) {
    if json {
        match serde_json::to_string_pretty(value) {
            Ok(json) => println!("{json}"),
            Err(error) => eprintln!("error: {error}"),
        }
    } else {
        text();
    }
}

fn standard_input() -> Result<String, Problem> {
    let mut bytes = vec![];
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|e| Problem::new("input.unreadable", format!("standard input: {e}"), "pipe text into the command"))?;
    utf8(bytes, "standard input")
}

fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = std::fs::read(path)
        .map_err(|e| Problem::new("file.unreadable", format!("{}: {e}", path.display()), "check the path"))?;
    utf8(bytes, &path.display().to_string())
}

fn utf8(bytes: Vec<u8>, what: &str) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Problem::new(
            "file.not_utf8",
            format!("{what} is not UTF-8 text: the byte at {at} is invalid"),
            "save it as UTF-8",
        )
    })
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|e| {
        Problem::new(
            "file.malformed",
            format!("{}: {e}", path.display()),
            "correct the JSON at that line; nothing was changed",
        )
    })
}
