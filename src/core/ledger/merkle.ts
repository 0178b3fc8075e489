import { runSteps, type Steps } from "../awaitable.ts";
import { VerbatimError } from "../errors/index.ts";
import { writeHex } from "../hex.ts";
import type { Awaitable, Crypto } from "../ports.ts";

/** Root of the tree without leaves: SHA-256 of nothing. */
export const EMPTY_ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const HASH_BYTES = 32;

/**
 * The hashes of RFC 6962 section 2.1, in lower-case hex: a leaf is SHA-256(0x00 || data), a node
 * SHA-256(0x01 || left || right). It reuses its buffers: with a crypto that answers later, one call at a time.
 */
export class TreeHasher {
  readonly #crypto: Crypto;
  readonly #leaf = new Uint8Array(1 + HASH_BYTES);
  readonly #node = new Uint8Array(1 + 2 * HASH_BYTES);

  constructor(crypto: Crypto) {
    this.#crypto = crypto;
    this.#node[0] = 1;
  }

  /** Leaf hash of any bytes. */
  leaf(data: Uint8Array): Awaitable<string> {
    const input = new Uint8Array(1 + data.length);
    input.set(data, 1);
    return this.#crypto.sha256(input);
  }

  /** Leaf hash of a ledger entry: its data are the 32 raw bytes of the entry's hash. */
  entry(entryHash: string): Awaitable<string> {
    copyHash(entryHash, this.#leaf, 1);
    return this.#crypto.sha256(this.#leaf);
  }

  /** Hash of an inner node. */
  node(left: string, right: string): Awaitable<string> {
    copyHash(left, this.#node, 1);
    copyHash(right, this.#node, 1 + HASH_BYTES);
    return this.#crypto.sha256(this.#node);
  }
}

function copyHash(hash: string, target: Uint8Array, offset: number): void {
  if (hash.length !== 2 * HASH_BYTES || !writeHex(hash, target, offset)) {
    throw new VerbatimError("LEDGER_INVALID", { message: "the Merkle tree was given something that is not a hash" });
  }
}

/**
 * A Merkle tree that only grows: it keeps the roots of its complete subtrees, O(log n) of them, and gives the root
 * at any time. Appending costs two hashes per leaf. Wait for one call before making the next.
 */
export class MerkleFrontier {
  readonly #hasher: TreeHasher;
  /** Roots of complete subtrees, the largest first: one for every bit of the size. */
  readonly #roots: string[] = [];
  #size = 0;

  constructor(crypto: Crypto) {
    this.#hasher = new TreeHasher(crypto);
  }

  /** The roots of its complete subtrees, the largest first: with the size all that is needed to go on. */
  get roots(): readonly string[] {
    return this.#roots;
  }

  /** Goes on where another one was. False when those cannot be the roots of a tree of this size. */
  resume(size: number, roots: readonly string[]): boolean {
    let bits = 0;
    for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
    if (this.#size !== 0 || bits !== roots.length) return false;
    this.#roots.push(...roots);
    this.#size = size;
    return true;
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds ledger entries by their hashes, in global order. */
  appendEntries(entryHashes: readonly string[]): Awaitable<void> {
    return runSteps(this.#append(entryHashes, (hash) => this.#hasher.entry(hash)));
  }

  /** Adds leaves of any bytes. */
  appendLeaves(leaves: readonly Uint8Array[]): Awaitable<void> {
    return runSteps(this.#append(leaves, (data) => this.#hasher.leaf(data)));
  }

  /** Root of the tree as it is now. Cost: O(log n) hashes. */
  root(): Awaitable<string> {
    return runSteps(this.#fold());
  }

  *#append<T>(items: readonly T[], hash: (item: T) => Awaitable<string>): Steps<void> {
    for (let i = 0; i < items.length; i++) {
      const leaf = hash(items[i]!);
      let carry = typeof leaf === "string" ? leaf : ((yield leaf) as string);
      // Every trailing 1 bit of the size is a complete subtree that the new leaf completes to a larger one.
      for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2) {
        const node = this.#hasher.node(this.#roots.pop()!, carry);
        carry = typeof node === "string" ? node : ((yield node) as string);
      }
      this.#roots.push(carry);
      this.#size++;
    }
  }

  *#fold(): Steps<string> {
    let root = this.#roots.at(-1) ?? EMPTY_ROOT;
    for (let i = this.#roots.length - 2; i >= 0; i--) {
      const node = this.#hasher.node(this.#roots[i]!, root);
      root = typeof node === "string" ? node : ((yield node) as string);
    }
    return root;
  }
}
