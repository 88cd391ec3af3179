//! `ui/src/ipc/bindings.ts` is generated from the Rust types and committed; this fails when it is stale.
//! `BLESS=1` rewrites it.

#[test]
fn bindings_are_current() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/ui/src/ipc/bindings.ts");
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("bindings.ts");
    toolplan_desktop::export_bindings(&fresh);
    let new = std::fs::read_to_string(&fresh).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &new).unwrap();
    }
    let old = std::fs::read_to_string(file).unwrap_or_default();
    assert!(old == new, "ui/src/ipc/bindings.ts is stale: run `make bindings`");
}
