//! Drives the real window: a private X server, WebKitWebDriver, the program. One [`App`] is one start of the program;
//! two with the same home are a restart.

use base64::Engine;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The key under which WebDriver returns an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How long anything may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub type Answer<T> = Result<T, String>;

/// A child in a process group of its own; the group goes when this does, and with the test runner.
struct Group(Child);

impl Group {
    #[allow(unsafe_code)] // prctl has no safe form, and orphaned windows would fail every later test.
    fn spawn(command: &mut Command) -> Self {
        command.process_group(0);
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        Self(command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}; see the README for the packages")))
    }
}

impl Drop for Group {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        unsafe { libc::kill(-(self.0.id() as i32), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

pub struct App {
    http: ureq::Agent,
    base: String,
    session: String,
    // In the order of the goodbye: the driver takes the program with it, then the display goes.
    _driver: Group,
    _display: Group,
}

impl App {
    /// Starts the program with `home` as its data folder and waits for the first view.
    pub fn launch(home: &Path) -> Self {
        Self::launch_sized(home, 1280, 800)
    }

    pub fn launch_sized(home: &Path, width: u32, height: u32) -> Self {
        let mut display = Group::spawn(
            Command::new("Xvfb")
                .args(["-displayfd", "1", "-screen", "0", "2000x1200x24", "-nolisten", "tcp"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        );
        let mut number = String::new();
        let out = display.0.stdout.take().expect("stdout is piped");
        BufReader::new(out).read_line(&mut number).expect("Xvfb says its display");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let mut command = Command::new("WebKitWebDriver");
        command
            .arg(format!("--port={port}"))
            .env("DISPLAY", format!(":{}", number.trim()))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("TOOLPLAN_HOME", home.join("toolplan"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .stdout(Stdio::null());
        for key in [
            "WAYLAND_DISPLAY",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OLLAMA_HOST",
            "TOOL_PLANNER_LLM",
        ] {
            command.env_remove(key);
        }
        let driver = Group::spawn(&mut command);
        let http: ureq::Agent =
            ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build().into();
        let base = format!("http://127.0.0.1:{port}");
        let mut app = Self { http, base, session: String::new(), _driver: driver, _display: display };
        poll("the driver", || app.call("GET", "/status", None).map(|_| ()));
        let wanted = json!({"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": {
            "binary": env!("CARGO_BIN_EXE_toolplan-desktop"), "args": []}}}});
        let session = app.call("POST", "/session", Some(wanted)).expect("the program starts");
        app.session = format!("/session/{}", session["sessionId"].as_str().expect("a session has an id"));
        app.resize(width, height);
        app.find("[data-testid=\"query-input\"]");
        app
    }

    fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer<Value> {
        let url = format!("{}{path}", self.base);
        let sent = match method {
            "GET" => self.http.get(&url).call(),
            "DELETE" => self.http.delete(&url).call(),
            _ => self.http.post(&url).send_json(body.unwrap_or(json!({}))),
        };
        let mut answer: Value = sent.and_then(|mut r| r.body_mut().read_json()).map_err(|e| e.to_string())?;
        let value = answer["value"].take();
        match value["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", value["message"].as_str().unwrap_or_default())),
            None => Ok(value),
        }
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answer<Value> {
        self.call(method, &format!("{}{path}", self.session), body)
    }

    pub fn resize(&self, width: u32, height: u32) {
        let rect = json!({"x": 0, "y": 0, "width": width, "height": height});
        self.ask("POST", "/window/rect", Some(rect)).expect("the window can be sized");
    }

    fn element(&self, css: &str) -> Answer<String> {
        let found = self.ask("POST", "/element", Some(json!({"using": "css selector", "value": css})))?;
        found[ELEMENT].as_str().map(str::to_string).ok_or_else(|| format!("{css}: no element"))
    }

    /// Waits for an element.
    pub fn find(&self, css: &str) -> String {
        poll(css, || self.element(css))
    }

    pub fn has(&self, css: &str) -> bool {
        self.element(css).is_ok()
    }

    pub fn id(id: &str) -> String {
        format!("[data-testid=\"{id}\"]")
    }

    /// Clicks the element with the test id, and again until it takes the click.
    pub fn click(&self, id: &str) {
        poll(id, || {
            let element = self.element(&Self::id(id))?;
            self.ask("POST", &format!("/element/{element}/click"), None).map(|_| ())
        });
    }

    pub fn text(&self, css: &str) -> String {
        let read = || self.ask("GET", &format!("/element/{}/text", self.element(css)?), None);
        poll(css, read).as_str().unwrap_or_default().to_string()
    }

    /// Waits until the content of the element with the test id satisfies `wanted`, and returns it. The whole text counts:
    /// WebKit leaves out what an ellipsis may cut.
    pub fn wait_text(&self, id: &str, wanted: impl Fn(&str) -> bool) -> String {
        poll(id, || {
            let element = self.element(&Self::id(id))?;
            let text = self.ask("GET", &format!("/element/{element}/property/textContent"), None)?;
            let text = text.as_str().unwrap_or_default().to_string();
            if wanted(&text) { Ok(text) } else { Err(format!("it says {text:?}")) }
        })
    }

    /// Types into the element with the test id, after emptying it.
    pub fn fill(&self, id: &str, text: &str) {
        // A dialog that opens takes the focus first.
        poll(id, || {
            let element = self.element(&Self::id(id))?;
            self.ask("POST", &format!("/element/{element}/clear"), None)?;
            self.ask("POST", &format!("/element/{element}/value"), Some(json!({"text": text})))
        });
    }

    /// Chooses an option of a native select by its value, as a person would: the page sees a change event.
    pub fn choose(&self, id: &str, value: &str) {
        self.find(&Self::id(id));
        let script = format!(
            "const s = document.querySelector('[data-testid={id:?}]'); \
             if (![...s.options].some(o => o.value === {value:?})) throw new Error('no option {value} among ' + [...s.options].map(o => o.value)); \
             Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, {value:?}); \
             s.dispatchEvent(new Event('change', {{bubbles: true}})); return true"
        );
        self.ask("POST", "/execute/sync", Some(json!({"script": script, "args": []})))
            .expect("the option can be chosen");
    }

    /// Presses keys one after another, holding those before the last: `["\u{E009}", "\u{E007}"]` is Ctrl+Enter.
    pub fn press(&self, keys: &[&str]) {
        let down = keys.iter().map(|k| json!({"type": "keyDown", "value": k}));
        let up = keys.iter().rev().map(|k| json!({"type": "keyUp", "value": k}));
        let actions =
            json!({"actions": [{"type": "key", "id": "keyboard", "actions": down.chain(up).collect::<Vec<_>>()}]});
        self.ask("POST", "/actions", Some(actions)).expect("keys can be pressed");
    }

    /// Replaces what stands in the JSON editor with the test id, at the keyboard.
    pub fn write_json(&self, id: &str, value: &Value) {
        let css = format!("{} .cm-content", Self::id(id));
        let editor = self.find(&css);
        poll(&css, || self.ask("POST", &format!("/element/{editor}/click"), None));
        self.press(&["\u{E009}", "a"]);
        self.ask("POST", &format!("/element/{editor}/value"), Some(json!({"text": value.to_string()})))
            .expect("the editor can be written in");
        let shown = poll(&css, || self.ask("GET", &format!("/element/{editor}/text"), None));
        let read = serde_json::from_str::<Value>(shown.as_str().unwrap_or_default()).unwrap_or_default();
        assert_eq!(&read, value, "the editor holds what was typed: {shown}");
    }

    /// Drags with the left button from the middle of the element by so many pixels, in so many moves.
    pub fn drag(&self, css: &str, by: (i32, i32), moves: i32) {
        let element = self.find(css);
        let to = |x: i32, y: i32| json!({"type": "pointerMove", "duration": 16, "origin": {ELEMENT: element}, "x": x, "y": y});
        let mut actions = vec![to(0, 0), json!({"type": "pointerDown", "button": 0})];
        actions.extend((1..=moves).map(|n| to(by.0 * n / moves, by.1 * n / moves)));
        actions.push(json!({"type": "pointerUp", "button": 0}));
        let mouse =
            json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.ask("POST", "/actions", Some(json!({"actions": [mouse]}))).expect("the mouse can drag");
    }

    /// Runs a script in the page and returns what it returns.
    pub fn script(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", Some(json!({"script": script, "args": []}))).expect("the script runs")
    }

    /// Awaits a promise in the page: `{"ok": value}` or `{"err": text}`.
    pub fn promise(&self, promise: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; ({promise}).then(v => done({{ok: v}}), e => done({{err: String(e)}}))"
        );
        self.ask("POST", "/execute/async", Some(json!({"script": script, "args": []}))).expect("the script runs")
    }

    pub fn screenshot(&self, path: &Path) {
        let image = self.ask("GET", "/screenshot", None).expect("the window can be pictured");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(image.as_str().unwrap_or_default())
            .expect("a picture is base64");
        std::fs::write(path, bytes).expect("the picture can be written");
    }
}

impl Drop for App {
    /// A test that fails leaves a picture of what it saw.
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(image) = self.ask("GET", "/screenshot", None)
            && let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(image.as_str().unwrap_or_default())
        {
            let path = std::env::temp_dir().join(format!("toolplan-failed-{}.png", std::process::id()));
            if std::fs::write(&path, bytes).is_ok() {
                eprintln!("the window when the test failed: {}", path.display());
            }
        }
        let _ = self.ask("DELETE", "", None);
    }
}

/// Tries until it works; panics with the last error when patience ends.
#[track_caller]
pub fn poll<T>(what: &str, mut attempt: impl FnMut() -> Answer<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(error) if Instant::now() > end => panic!("waited in vain for {what}: {error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
