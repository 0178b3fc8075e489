/** A workspace as it was made or found, and the logins of the database that work in it. */
export interface AddedWorkspace {
  readonly where: string;
  readonly id: string;
  readonly name: string;
  readonly existing: boolean;
  readonly logins: readonly string[];
}

export interface TeamPorts {
  /** DATABASE_NOT_SET where the store is a file. */
  addWorkspace(name: string, logins: readonly string[]): Promise<AddedWorkspace>;
}
