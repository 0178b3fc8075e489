import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { PseudoTerminal } from "../../src/adapters/process/pseudo-terminal.ts";
import { makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";
import { tryVariants, VARIANTS, type Variants } from "../support/guard-variants.ts";

/** What a command may not do even as root: rights of the kernel, devices, terminals of others. */

/** dac_override, fowner and fsetid; chown too where metadata outside cannot be reached. */
const MOST = { landlock: 0b11010n, namespace: 0b11011n };
const [MKNOD, MODE_BLOCK, MODE_CHAR] = [process.arch === "arm64" ? 33 : 259, 0o060666, 0o020666];

let guards: Variants;
let base: string;
let root: string;

beforeAll(async () => {
  guards = await tryVariants();
});

afterAll(() => guards.close());

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
});

afterEach(() => runDisk.discard(base));

describe.each(VARIANTS.filter(({ guard }) => guard !== "audit"))("under $name a command", (variant) => {
  const { guard } = variant;

  /** Runs a command and gives what it said, and what came of the run. */
  async function ask(command: readonly string[]) {
    const room = openCatalytic(base, root, guards.ports(variant));
    const run = await room.run(toJobSpec(command, { guard }));
    await room.close();
    return { run, said: readFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "utf8") };
  }

  it("keeps of root's rights those that files of others need, and gets none back", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const { said } = await ask(["cat", "/proc/self/status"]);
    const value = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s+(\\w+)$`, "m").exec(said)?.[1]}`);
    const most = guard === "landlock" ? MOST.landlock : MOST.namespace;
    for (const name of ["CapEff", "CapPrm", "CapAmb", "CapInh"]) expect(value(name) & ~most, name).toBe(0n);
    // Bubblewrap leaves the bounding set as it is: without new privileges nothing can be taken from it.
    if (process.getuid?.() === 0 && variant.bind === "perl") expect(value("CapBnd") & ~most).toBe(0n);
    expect(value("NoNewPrivs")).toBe(1n);
  });

  it("makes no device, in its domain neither", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const make = (name: string, mode: number, device: number) =>
      `my $p = ".verbatim/scratch/d/${name}"; print syscall(${MKNOD}, -100, $p, ${mode}, ${device}) == 0 ? "made " : "refused ";`;
    const script = `{ ${make("b", MODE_BLOCK, 0x700)} } { ${make("c", MODE_CHAR, 0x501)} }`;
    expect((await ask(["perl", "-e", script])).said).toBe("refused refused ");
  });

  it("can neither type into another terminal nor listen there", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const user = { errors: false, size: () => ({ rows: 24, columns: 80 }), connect: () => () => undefined };
    const other = new PseudoTerminal("/usr/bin/perl", user);
    try {
      const tries = [`: > ${other.path}`, `: < ${other.path}`, `: <> ${other.path}`];
      const script = tries.map((one) => `if (${one}) 2>/dev/null; then echo open; else echo refused; fi`).join("; ");
      expect((await ask(["sh", "-c", script])).said).toBe("refused\n".repeat(3));
    } finally {
      await other.close();
    }
  });

  it("still reads what anybody may read, and has the devices a program needs", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const script =
      "cat src/app.txt; head -c 2 /dev/urandom | wc -c; echo x > /dev/null; cat /etc/hostname > /dev/null; ls /proc/self/fd > /dev/null && echo fine";
    expect((await ask(["sh", "-c", script])).said.replaceAll(" ", "")).toBe("app\n2\nfine\n");
  });

  it("gives no file outside another owner", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    if (process.getuid?.() !== 0) context.skip("only root could");
    const before = recordTree(join(root, "src"));
    const { run, said } = await ask(["sh", "-c", "chown 1:1 src/app.txt 2>/dev/null || echo refused"]);
    expect(said).toBe("refused\n");
    expect(run).toMatchObject({ accepted: true, violations: [] });
    expect(recordTree(join(root, "src"))).toEqual(before);
  });
});
