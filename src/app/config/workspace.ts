export const CONFIG_FILE = "verbatim.config.json";
export const STATE_FOLDER = ".verbatim";

/** A root folder and the places below it. Nothing is created until something must be written. */
export interface Workspace {
  readonly root: string;
  /** Top folder of the git work tree around it, or null. */
  readonly workTree: string | null;
  /** Whether the folder was set up before: it has a configuration or a state folder. */
  readonly known: boolean;
  readonly config: string;
  readonly folder: string;
  readonly state: string;
  readonly database: string;
  readonly blobs: string;
}
