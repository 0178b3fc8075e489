import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Address } from "./address.ts";
import { toStoreError } from "./errors.ts";
import { connectionConfig } from "./pool.ts";

/** Told about a notification; null when some may have been missed while the connection was down. */
export type Listener = (payload: string | null) => void;

const CHANNEL = /^[a-z][a-z0-9_]{0,19}$/;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** A channel's name on the server, where all schemas of a database share one space of names. */
export function channelName(schema: string, channel: string): string {
  if (!CHANNEL.test(channel))
    throw new VerbatimError("INTERNAL", { message: `${channel} is not a valid channel name` });
  return `${schema}_${channel}`;
}

/** Wake-ups over one connection that is made for the first subscriber and made again when it breaks. */
export class Notifications {
  readonly #address: Address;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #stop = new AbortController();
  #client: Promise<pg.Client> | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  /** Listens until the returned function is called. Resolves when the server has confirmed it. */
  async subscribe(channel: string, listener: Listener): Promise<() => void> {
    const name = channelName(this.#address.schema, channel);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    try {
      this.#client ??= this.#connect();
      await (await this.#client).query(`listen ${name}`);
    } catch (thrown) {
      listeners.delete(listener);
      throw toStoreError(thrown, this.#address.where);
    }
    return () => void listeners.delete(listener);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    const client = await this.#client?.catch(() => undefined);
    await client?.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(connectionConfig(this.#address));
    client.on("notification", ({ channel, payload }) => this.#tell(channel, payload ?? ""));
    // The end follows every error, and brings the connection back.
    client.on("error", () => undefined);
    try {
      await client.connect();
    } catch (thrown) {
      this.#client = undefined;
      throw thrown;
    }
    client.once("end", () => {
      if (!this.#stop.signal.aborted) this.#client = this.#reconnect();
    });
    return client;
  }

  async #reconnect(): Promise<pg.Client> {
    for (let pause = FIRST_WAIT_MS; ; pause = Math.min(pause * 2, LONGEST_WAIT_MS)) {
      await wait(pause, undefined, { signal: this.#stop.signal, ref: false });
      try {
        const client = await this.#connect();
        for (const name of this.#listeners.keys()) await client.query(`listen ${name}`);
        for (const name of this.#listeners.keys()) this.#tell(name, null);
        return client;
      } catch (thrown) {
        // A server that is still down is asked again; anything else would fail for ever.
        const error = toStoreError(thrown, this.#address.where);
        if (!(error instanceof VerbatimError) || error.code !== "STORE_UNAVAILABLE") throw error;
      }
    }
  }

  #tell(name: string, payload: string | null): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(payload);
  }
}
