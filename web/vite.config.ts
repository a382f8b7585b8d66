import { defineConfig, type Plugin } from "vite";

/** Every browser that runs this page reads WOFF2; the WOFF copies would double the wheel. */
function woff2Only(): Plugin {
  return {
    name: "woff2-only",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("@fontsource") || !id.endsWith(".css")) return null;
      return { code: code.replace(/,\s*url\([^)]+\.woff\)\s*format\(["']woff["']\)/g, ""), map: null };
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [woff2Only()],
  build: {
    outDir: "../tablectl/web/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1200,
    assetsInlineLimit: 0,
  },
  server: {
    fs: { allow: [".."] },
    // A daemon (or the test server) on its usual port answers what the page asks for.
    proxy: {
      "/api": "http://127.0.0.1:8080",
      "/mqtt": { target: "ws://127.0.0.1:8080", ws: true },
    },
  },
});
