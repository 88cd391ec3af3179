import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  // The window loads the files from its own protocol, where there is no root path to rely on.
  base: "./",
  clearScreen: false,
  server: { port: 5173, strictPort: true },
  build: { target: ["safari17.5", "chrome123"], outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1200 },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], testTimeout: 20_000 },
});
