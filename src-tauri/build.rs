//! Points tauri-build at the capabilities and permissions below `src-tauri/`; everything else it needs stands at the root.
fn main() {
    println!("cargo:rerun-if-changed=src-tauri/build.rs");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    tauri_build::try_build(
        tauri_build::Attributes::new()
            .capabilities_path_pattern("./src-tauri/capabilities/**/*.json")
            // The list of commands stands in permissions/app.toml: `AppManifest::commands` would write
            // generated files into the repository's root.
            .app_manifest(
                tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*.toml"),
            ),
    )
    .expect("tauri-build failed");
    // tauri-build writes schemas for editors to ./gen, wherever it runs; nothing here reads them.
    let _ = std::fs::remove_dir_all("gen");
}
