import { scriptUrl } from "../../../app/script-url.ts";
import type { ColourAnswer, ColourRequest, Range } from "../../../workers/highlight.ts";
import workerUrl from "../../../workers/highlight.ts?worker&url";
import { languageOf } from "../../../workers/languages.ts";
import type { DiffFile } from "./model.ts";

/** Colours of lines by their name, as they arrive from the worker. Nothing moves when they do. */
export class Colours {
  readonly #known = new Map<string, readonly Range[]>();
  readonly #asked = new Set<string>();
  readonly #told: () => void;
  #worker: Worker | null = null;
  #scheduled = 0;

  constructor(told: () => void) {
    this.#told = told;
  }

  of(line: string): readonly Range[] | undefined {
    return this.#known.get(line);
  }

  /** Asks for the colours of every hunk of a file, once. */
  ask(file: DiffFile): void {
    const language = languageOf(file.path);
    if (language === null || file.kind !== "text") return;
    for (const { id, lines } of file.hunks) {
      const name = `${id} ${lines.length}`;
      if (this.#asked.has(name)) continue;
      this.#asked.add(name);
      const kinds = lines.map(({ kind }) => kind);
      this.#open().postMessage({
        hunk: id,
        language,
        kinds,
        texts: lines.map(({ text }) => text),
      } satisfies ColourRequest);
    }
  }

  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    cancelAnimationFrame(this.#scheduled);
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(scriptUrl(workerUrl) as string, { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<ColourAnswer>) => {
      data.lines.forEach((ranges, at) => {
        if (ranges.length > 0) this.#known.set(`${data.hunk} ${at}`, ranges);
      });
      if (this.#scheduled !== 0) return;
      this.#scheduled = requestAnimationFrame(() => {
        this.#scheduled = 0;
        this.#told();
      });
    });
    this.#worker = worker;
    return worker;
  }
}
