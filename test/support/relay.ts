import { mkdirSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

const NAME = ".s.PGSQL.5432";

/** The way to a server's socket. It can be cut, and it can lose what is sent: then both sides believe in their connection. */
export class Relay {
  readonly folder: string;
  readonly #target: string;
  readonly #open = new Set<Socket>();
  #server: Server | null = null;
  #held: (() => void)[] | null = null;

  constructor(folder: string, url: string) {
    this.folder = folder;
    this.#target = join(new URL(url).searchParams.get("host")!, NAME);
    mkdirSync(folder, { recursive: true });
  }

  /** The address by which a database is reached this way. */
  address(url: string): string {
    const by = new URL(url);
    by.searchParams.set("host", this.folder);
    return by.href;
  }

  async open(): Promise<void> {
    this.#server = createServer((from) => {
      const to = connect(this.#target);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        this.#open.add(one);
        one.on("data", (bytes) => this.#pass(() => other.write(bytes)));
        one.on("error", () => undefined);
        one.on("close", () => {
          this.#open.delete(one);
          this.#pass(() => other.destroy());
        });
      }
    });
    await new Promise<void>((resolve) => this.#server!.listen(join(this.folder, NAME), resolve));
  }

  #pass(deliver: () => void): void {
    if (this.#held === null) deliver();
    else this.#held.push(deliver);
  }

  /** From now on nothing arrives, on either side. */
  freeze(): void {
    this.#held ??= [];
  }

  /** What was sent meanwhile arrives late. */
  thaw(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const deliver of held) deliver();
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const closed = new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}
