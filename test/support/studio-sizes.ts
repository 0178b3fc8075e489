/** What the build wrote down about one file; addresses of chunks are keys of the manifest, those of files lie in dist/studio. */
export interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
  readonly isEntry?: boolean;
}

export type StudioManifest = Readonly<Record<string, Chunk>>;

const PAGE = "index.html";
/** Loaded by the page as soon as the key has left the address, so that Home cannot be shown without it. */
const PROGRAM = "src/app/main.tsx";

/** Files that a browser needs before it shows Home. */
export function filesOfHome(manifest: StudioManifest): ReadonlySet<string> {
  return new Set([...filesOf(manifest, PAGE), ...filesOf(manifest, PROGRAM)]);
}

/** The screens that come when somebody goes to them, each with the files that it needs and Home does not. */
export function filesOfScreens(manifest: StudioManifest): ReadonlyMap<string, ReadonlySet<string>> {
  const home = filesOfHome(manifest);
  const lazy = new Set(Object.values(manifest).flatMap(({ dynamicImports = [] }) => dynamicImports));
  lazy.delete(PROGRAM);
  const own = (screen: string) => new Set([...filesOf(manifest, screen)].filter((file) => !home.has(file)));
  return new Map([...lazy].map((screen) => [screen, own(screen)]));
}

/** Scripts that the page does not import: workers. */
export function filesOfWorkers(manifest: StudioManifest, assets: readonly string[]): readonly string[] {
  const known = new Set(Object.values(manifest).map(({ file }) => file));
  return assets.filter((file) => file.endsWith(".js") && !known.has(file));
}

/** A chunk, all that it imports, and the styles of each. */
function filesOf(manifest: StudioManifest, start: string): Set<string> {
  const seen = new Set([start]);
  const files = new Set<string>();
  for (const name of seen) {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`the build names no ${name}`);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const imported of chunk.imports ?? []) seen.add(imported);
  }
  return files;
}
