/** So much of the end of an output decides whether its last line is finished. */
const TAIL = 256;
const SEQUENCES = /(?:\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z`-~]))+$/;

/** Bytes of a command that runs for the caller, as they come; what we say ourselves begins on a line of its own. */
export class CommandOutput {
  #target: { write(bytes: Uint8Array | string): unknown } | null = null;
  #tail = "";

  write(target: { write(bytes: Uint8Array | string): unknown }, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#tail = `${this.#target === target ? this.#tail : ""}${Buffer.from(bytes).toString("latin1")}`.slice(-TAIL);
    this.#target = target;
    target.write(bytes);
  }

  /** Ends a line that the command left open. Colours and cursor movements after a line feed open none. */
  endLine(): void {
    const text = this.#tail.replace(SEQUENCES, "");
    const target = this.#target;
    this.#target = null;
    this.#tail = "";
    if (target !== null && text !== "" && !/[\r\n]$/.test(text)) target.write("\n");
  }
}
