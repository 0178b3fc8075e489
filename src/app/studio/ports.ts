/** A session of a server as its owner sees it. */
export interface OpenSession {
  readonly id: string;
  readonly label: string;
  readonly role: "owner" | "operator" | "viewer";
  readonly world_id: string | null;
  readonly opened_by: "link" | "token";
  readonly since: string;
  readonly last_use: string;
}

/** What the operations of the Studio run on. */
export interface StudioPorts {
  /** The sessions of the server that asks. */
  readonly sessions: () => readonly OpenSession[];
}
