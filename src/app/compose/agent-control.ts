import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countFiles } from "../../adapters/disk/source/count-files.ts";
import { joinControl } from "../../adapters/process/control-client.ts";
import { placeControlSocket } from "../../adapters/process/control-place.ts";
import { ControlServer } from "../../adapters/process/control-server.ts";
import { askDetached } from "../../adapters/process/detached.ts";
import { readHost } from "../../adapters/process/host.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import type { ControlPorts } from "../agent/work/control-ports.ts";
import type { RunControl } from "../agent/work/run-control.ts";
import { findPackage } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";
import { withInterrupts } from "./compose.ts";
import { findRunsRoot } from "./store/workspace.ts";

const controls = new AsyncLocalStorage<RunControl>();

/** Control sockets, and processes of their own for runs. */
export function controlPorts(composition: Composition): ControlPorts {
  const { env, platform, start, userState: state } = composition;
  return {
    place: (runDir) => placeControlSocket({ env, state, uid: readHost().uid }, runDir),
    listen: (place, token, handlers) => ControlServer.listen(place, token, handlers),
    join: joinControl,
    current: () => controls.getStore() ?? null,
    within: (control, work) => controls.run(control, () => withInterrupts(control.interrupts, work)),
    signal(pid, name) {
      try {
        return process.kill(pid, name);
      } catch (thrown) {
        if (errnoCode(thrown) === "ESRCH") return false;
        throw thrown;
      }
    },
    countTouched: (folder, most) => countFiles(folder, most, [".git"]),
    async startDetached(operation, input, onNote) {
      const program = join(findPackage(fileURLToPath(new URL(".", import.meta.url))), "bin", "verbatim.js");
      const argv = [process.execPath, program, "--supervise"];
      const started = await askDetached({
        argv,
        cwd: start,
        env,
        request: { folder: start, operation, input },
        onNote,
      });
      if ("error" in started) {
        const { code, ...facts } = started.error;
        throw new VerbatimError(code, facts);
      }
      return started;
    },
    listBusyRuns() {
      const root = findRunsRoot({ env, platform }, composition.config().workflow.runs_root);
      const list = (folder: string) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []);
      return list(root).flatMap((repository) =>
        repository.isDirectory()
          ? list(join(root, repository.name))
              .map(({ name }) => join(root, repository.name, name))
              .filter((dir) => existsSync(join(dir, "agent", "supervisor.json")))
          : [],
      );
    },
  };
}
