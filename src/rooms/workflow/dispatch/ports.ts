/** An agent that is a command. */
export interface AgentCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly stdin: Uint8Array;
  readonly timeout_s: number;
  readonly env: Readonly<Record<string, string>>;
  readonly most_bytes: number;
}

export interface AgentCommandResult {
  readonly exit_code: number;
  readonly ending: "exited" | "timeout" | "not_found" | "too_much_output";
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Starts agents that are commands. */
export interface AgentRunner {
  run(command: AgentCommand, signal: AbortSignal): Promise<AgentCommandResult>;
}
