import { fstatSync, readSync, statSync, writeSync } from "node:fs";
import { hookPorts } from "../../app/compose/hook-ports.ts";
import { answerHook } from "../../app/hooks/answer-hook.ts";

/** What a hook needs of its process. A stream is made by the first look at it and takes long, so few are looked at. */
interface HookWorld {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly streams: Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">;
}

const CHUNK = 64 * 1024;

export const NOWHERE = "its answer cannot be read: standard output is closed or the null device";

/** Whether what is written there is lost. The null device takes the place of a stream that was closed before the start. */
export function leadsNowhere(descriptor: number, platform: NodeJS.Platform): boolean {
  if (platform === "win32") return false;
  const facts = fstatSync(descriptor);
  return facts.isCharacterDevice() && facts.rdev === statSync("/dev/null").rdev;
}

/** The short way in for hooks: no command line parser, no operation table. Agents wait for this at every tool call. */
export async function runHook(argv: readonly string[], world: HookWorld): Promise<number> {
  const [, event = "", , client = "claude"] = argv;
  const { cwd, env, platform } = world;
  const bytes = await readInput(world);
  const reply = await answerHook(hookPorts, { event, client, bytes, start: cwd, env, platform });
  if (reply.stdout !== "") {
    if (leadsNowhere(1, platform)) throw new Error(NOWHERE);
    await write(world, "stdout", reply.stdout);
  }
  if (reply.stderr !== "") await write(world, "stderr", reply.stderr);
  return reply.exit;
}

/** Writes at once; what a full pipe does not take goes through the stream, which waits. */
async function write(world: HookWorld, name: "stdout" | "stderr", text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(name === "stdout" ? 1 : 2, bytes, at);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") throw thrown;
    await new Promise<void>((done, fail) => {
      world.streams[name].write(bytes.subarray(at), (error) => (error ? fail(error) : done()));
    });
  }
}

/** Standard input whole. Reading it at once saves a few milliseconds; a pipe that is not ready is read as it comes. */
async function readInput(world: HookWorld): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  if (readAtOnce(chunks)) return Buffer.concat(chunks);
  for await (const chunk of world.streams.stdin) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

function readAtOnce(chunks: Uint8Array[]): boolean {
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    try {
      const size = readSync(0, chunk, 0, CHUNK, null);
      if (size === 0) return true;
      chunks.push(chunk.subarray(0, size));
    } catch (thrown) {
      const code = (thrown as NodeJS.ErrnoException).code;
      if (code === "EOF") return true;
      if (code === "EAGAIN") return false;
      throw thrown;
    }
  }
}
