//! Opening a workspace: the whole of it, and the parts that grow with the catalog.

use crate::{
    Options, data, runs,
    table::{Table, median, row},
};
use std::{path::Path, sync::Arc, time::Instant};
use toolplan_store::Store;
use toolplan_workbench::{
    Options as WorkbenchOptions, Workbench,
    engine::{
        Problem,
        discovery::Index,
        tool::{Catalog, ToolSpec},
    },
};

pub(crate) fn tables(options: &Options) -> Vec<Table> {
    let mut table = Table::new(
        "Opening a workspace (ms)",
        &["tools", "whole, index built", "whole, index kept", "file", "specs", "catalog", "index", "index built", "MB"],
    );
    let repeat = if options.quick { 1 } else { 7 };
    for tools in [26, 1_000, 20_000] {
        match opened(data::tools(options, tools), repeat) {
            Ok(figures) => {
                let [built, kept, file, specs, catalog, index, anew, megabytes] = figures;
                table.add(row![tools, built, kept, file, specs, catalog, index, anew, megabytes]);
            }
            Err(problem) => table.note(format!("{tools} tools: {} ({})", problem.message, problem.hint)),
        }
    }
    table.note(format!(
        "Medians of {repeat}. The whole is `Workbench::open` without a model, from a warm file cache; its parts: opening \
         the database, reading and parsing the specs, making the catalog, and reading the kept index and comparing it \
         with every tool. For comparison: building the index anew. MB: the kept index."
    ));
    vec![table]
}

fn opened(specs: Vec<ToolSpec>, repeat: usize) -> Result<[f64; 8], Problem> {
    let folder = tempfile::tempdir().expect("a temporary folder can be written");
    let home = folder.path().join("home");
    std::fs::create_dir_all(folder.path().join("work")).expect("a temporary folder can be written");
    let open = || runs::block_on(Workbench::open(options(folder.path(), &home)));
    open()?.register_tools(specs, "benchmark")?;
    let index_folder = home.join("index");
    let (mut built, mut kept) = (vec![], vec![]);
    for _ in 0..repeat {
        std::fs::remove_dir_all(&index_folder).ok();
        built.push(ms(|| open().map(drop)).1);
        kept.push(ms(|| open().map(drop)).1);
    }
    let file = std::fs::read_dir(&index_folder).expect("the index is kept").next().expect("a file").expect("readable");
    let mut parts = [vec![], vec![], vec![], vec![], vec![]];
    for _ in 0..repeat {
        let (store, file_ms) = ms(|| Store::open(folder.path().join("work/.toolplan/workspace.db")));
        let (stored, specs_ms) = ms(|| store.as_ref().expect("opened before").registry().load());
        let stored = stored?;
        let ((catalog, _), catalog_ms) = ms(|| Catalog::new(stored.revision, stored.specs));
        let (index, index_ms) = ms(|| {
            let bytes = std::fs::read(file.path()).expect("the index is kept");
            let mut index = Index::from_bytes(&bytes).expect("the index is whole");
            assert!(index.sync(&catalog).is_unchanged());
            index
        });
        let (anew, anew_ms) = ms(|| Index::of(&catalog));
        assert_eq!(anew.len(), index.len());
        for (part, took) in parts.iter_mut().zip([file_ms, specs_ms, catalog_ms, index_ms, anew_ms]) {
            part.push(took);
        }
    }
    let [files, specs, catalogs, indexes, anews] = parts.map(|part| median(&part));
    let megabytes = file.metadata().map_or(0.0, |m| m.len() as f64 / 1e6);
    Ok([median(&built), median(&kept), files, specs, catalogs, indexes, anews, megabytes])
}

fn options(folder: &Path, home: &Path) -> WorkbenchOptions {
    let home = home.display().to_string();
    WorkbenchOptions {
        folder: Some(folder.join("work")),
        environment: Arc::new(move |name| (name == "TOOLPLAN_HOME").then(|| home.clone())),
    }
}

fn ms<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed().as_secs_f64() * 1000.0)
}
