import { compileGlob, type Glob } from "../../../core/paths/index.ts";
import type { SessionPlace } from "../contracts/agent-profile.ts";
import { placeInHome } from "../profile/login.ts";
import type { SessionFormat } from "./read-session.ts";

/** Where the session files of an agent lie for one user. */
export interface SessionGlob {
  /** Absolute: the nearest folder that has all of them. */
  readonly folder: string;
  /** What is below it. */
  readonly glob: Glob;
  readonly format: SessionFormat;
}

/** The places of session files for this user: the agent's own variable moves its folder. */
export function placeSessions(
  entries: readonly SessionPlace[],
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): SessionGlob[] {
  return entries.map(({ glob, format, env_root, root }) => {
    const names = glob.split("/");
    const wild = names.findIndex((name) => /[*?]/.test(name));
    const at = wild === -1 ? names.length - 1 : wild;
    const folder = placeInHome({ path: names.slice(0, at).join("/"), env_root, root }, env, home);
    return { folder, glob: compileGlob(names.slice(at).join("/")), format };
  });
}
