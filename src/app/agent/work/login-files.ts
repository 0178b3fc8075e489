import type { CatalyticPorts } from "../../../rooms/catalytic/index.ts";
import { judgeLogin, type LoginFile, MOST_LOGIN_BYTES, placeInHome } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

/** Login files are looked at this often, so that a killed tool loses little. */
const EVERY_MS = 2000;

/** What became of the login file of an agent. */
export interface LoginOutcome {
  readonly path: string;
  /** `refreshed`: the real file is what the agent made of it. `kept`: it stayed writable. Else: why it is as it was. */
  readonly what: string;
}

/**
 * Copies a login file that the agent refreshed in its own home layer to the real one, while the agent works and at its end:
 * settings and hooks of agents stay behind. Where the home folder is no layer, the file itself stays writable.
 */
export function withLoginFiles(
  ports: CatalyticPorts,
  user: AgentPorts["user"],
  files: readonly LoginFile[],
  tell: (outcomes: readonly LoginOutcome[]) => void,
): CatalyticPorts {
  const { home } = user;
  if (home === null || files.length === 0) return ports;
  const places = files.map((file) => ({ file, place: placeInHome(file, user.env, home) }));
  const there = places.filter(({ place }) => user.readFile(place, MOST_LOGIN_BYTES) !== null);
  const { guards } = ports;
  return {
    ...ports,
    guards: {
      ...guards,
      async launch(request) {
        const layer = request.layers.find(({ kind }) => kind === "home");
        if (layer === undefined) {
          tell(there.map(({ place }) => ({ path: place, what: "kept" })));
          const kept = there.map(({ place }) => place);
          return await guards.launch({
            ...request,
            ...(request.layers.length > 0
              ? { keeps: [...request.keeps, ...kept.map((place) => ({ from: place, to: place }))] }
              : { writable: [...request.writable, ...kept] }),
          });
        }
        const inLayer = places.filter(({ place }) => place.startsWith(`${layer.path}/`));
        const states = inLayer.map((one) => ({ ...one, before: user.readFile(one.place, MOST_LOGIN_BYTES) }));
        const running = await guards.launch(request);
        const outcomes = new Map<string, string>();
        const look = () => {
          const base = running.merged(layer);
          for (const state of states) {
            const inside = user.readInside(base, state.place.slice(layer.path.length + 1), MOST_LOGIN_BYTES);
            const real = user.readFile(state.place, MOST_LOGIN_BYTES);
            const verdict = judgeLogin(state.file, { before: state.before, inside, real });
            if (!verdict.take) {
              if (verdict.why !== "unchanged") outcomes.set(state.place, verdict.why);
              continue;
            }
            const isWritten = user.replaceFile(state.place, inside!);
            if (isWritten) state.before = inside;
            outcomes.set(state.place, isWritten ? "refreshed" : "not_written");
          }
        };
        const stop = user.every(EVERY_MS, look);
        const end = () => {
          stop();
          look();
          tell([...outcomes].map(([path, what]) => ({ path, what })));
        };
        return { ...running, ended: running.ended.finally(end) };
      },
    },
  };
}
