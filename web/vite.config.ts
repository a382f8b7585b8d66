import { readFileSync } from "node:fs";
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

/** What is bundled goes out with its licence texts. */
function licences(packages: readonly string[]): Plugin {
  const notice = (name: string): string => {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const { version, license } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Record<string, string>;
    const files = ["LICENSE", "LICENSE.md"];
    const text = files.map((file) => readIfThere(new URL(file, folder))).find((found) => found !== null);
    if (text === undefined) throw new Error(`${name} has no licence file: name it in vite.config.ts`);
    return `${name} ${version} (${license})\n\n${text}\n`;
  };
  return {
    name: "licences",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "licences.txt", source: packages.map(notice).join(`\n${"-".repeat(78)}\n\n`) });
    },
  };
}

function readIfThere(file: URL): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

export default defineConfig({
  base: "./",
  plugins: [woff2Only(), licences(["preact", "mqtt", "mqtt-packet", "@fontsource/noto-sans-tc"])],
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
