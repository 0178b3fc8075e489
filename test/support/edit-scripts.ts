import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

type Next = (bound: number) => number;

const NAMES = ["a.md", "b.md", "a-b.md", "a/x.md", "a/y.md", "a/deep/z.md", "\u00fc.md", "\u{1f600}/q.md", "s/t.md"];
const LINES = [
  "# One\n",
  "## Two\n",
  "text\n",
  "---\n",
  "```\n",
  "Title\n===\n",
  "\n",
  "caf\u00e9 \u{1f600}\n",
  "last",
];
const FOLDERS = ["a", "a/deep", "s", "\u{1f600}", "new"];

/** Random edits of a folder with a few Markdown files, of the kinds that are easily missed. */
export class EditScript {
  readonly root: string;
  readonly #next: Next;

  constructor(root: string, next: Next) {
    this.root = root;
    this.#next = next;
    for (const name of NAMES.slice(0, 6)) this.#write(name, this.#content());
  }

  /** Makes one edit and names it. */
  edit(): string {
    const kinds = Object.entries(this.#kinds());
    const [kind, run] = kinds[this.#next(kinds.length)]!;
    run();
    return kind;
  }

  #kinds(): Record<string, () => void> {
    return {
      write: () => this.#write(this.#name(), this.#content()),
      "edit of the same size": () => this.#sameSize(this.#file()),
      "edit of the same size with the old time": () => this.#keepTime(this.#file(), (file) => this.#sameSize(file)),
      "time set back": () => utimesSync(this.#place(this.#file()), 1_000_000_000, 1_000_000_000 - this.#next(3)),
      "rename over another": () => this.#renameOver(),
      "older copy over it": () => this.#olderCopy(this.#file()),
      "line ends": () => this.#flipLineEnds(this.#file()),
      "delete and recreate": () => this.#recreate(this.#file()),
      delete: () => rmSync(this.#place(this.#file()), { force: true }),
      "rename a folder": () => this.#renameFolder(),
      "link to a file": () => this.#link("link.md", this.#next(2) === 0 ? "a.md" : "a/x.md"),
      "link to a folder": () => this.#link("links.md", "a"),
      "remove the links": () => {
        for (const name of ["link.md", "links.md"]) rmSync(this.#place(name), { force: true });
      },
      "hard link": () => this.#hardLink(),
      "two edits": () => [this.edit(), this.edit()],
    };
  }

  #place(name: string): string {
    return join(this.root, name);
  }

  #name(): string {
    return NAMES[this.#next(NAMES.length)]!;
  }

  /** A file that is there; one is made when there is none. */
  #file(): string {
    const there = NAMES.filter((name) => existsSync(this.#place(name)));
    if (there.length === 0) this.#write("a.md", this.#content());
    return there[this.#next(there.length)] ?? "a.md";
  }

  #content(): string {
    return Array.from({ length: this.#next(6) }, () => LINES[this.#next(LINES.length)]).join("");
  }

  #write(name: string, content: string | Uint8Array): void {
    const place = this.#place(name);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
  }

  #sameSize(name: string): void {
    const bytes = readFileSync(this.#place(name));
    if (bytes.length > 0) bytes[0] = bytes[0] === 0x23 ? 0x2d : 0x23;
    if ((bytes[1] ?? 0) >= 0x80) return;
    writeFileSync(this.#place(name), bytes);
  }

  #keepTime(name: string, edit: (name: string) => void): void {
    const { atime, mtime } = statSync(this.#place(name));
    edit(name);
    utimesSync(this.#place(name), atime, mtime);
  }

  #renameOver(): void {
    const from = this.#file();
    const to = this.#name();
    mkdirSync(dirname(this.#place(to)), { recursive: true });
    renameSync(this.#place(from), this.#place(to));
  }

  #olderCopy(name: string): void {
    const { mtime, size } = statSync(this.#place(name));
    this.#write("copy.tmp", "x".repeat(size));
    utimesSync(this.#place("copy.tmp"), mtime, mtime);
    renameSync(this.#place("copy.tmp"), this.#place(name));
  }

  #flipLineEnds(name: string): void {
    const text = readFileSync(this.#place(name), "utf8");
    writeFileSync(
      this.#place(name),
      text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text.replaceAll("\n", "\r\n"),
    );
  }

  #recreate(name: string): void {
    const bytes = readFileSync(this.#place(name));
    rmSync(this.#place(name));
    this.#write(name, this.#next(2) === 0 ? bytes : this.#content());
  }

  #renameFolder(): void {
    const there = FOLDERS.filter((name) => existsSync(this.#place(name)));
    const from = there[this.#next(Math.max(1, there.length))];
    const to = FOLDERS[this.#next(FOLDERS.length)]!;
    if (from === undefined || existsSync(this.#place(to)) || to.startsWith(from)) return;
    mkdirSync(dirname(this.#place(to)), { recursive: true });
    renameSync(this.#place(from), this.#place(to));
  }

  /** A link that leads nowhere is a problem of its own; here links lead to what is there. */
  #link(name: string, target: string): void {
    rmSync(this.#place(name), { force: true });
    if (existsSync(this.#place(target))) symlinkSync(target, this.#place(name));
  }

  #hardLink(): void {
    const to = this.#name();
    const from = this.#file();
    if (existsSync(this.#place(to))) return;
    mkdirSync(dirname(this.#place(to)), { recursive: true });
    linkSync(this.#place(from), this.#place(to));
  }

  /** Takes away links that an edit left leading nowhere. */
  dropDangling(): void {
    for (const name of readdirSync(this.root)) {
      if (!existsSync(this.#place(name))) rmSync(this.#place(name), { force: true });
    }
  }
}

/** Writes a file until the file system's clock has moved on, so that what follows has another time. */
export function passTick(probe: string): void {
  const read = (): number => {
    writeFileSync(probe, "\n");
    return statSync(probe).mtimeMs;
  };
  for (const before = read(); read() <= before; );
}
