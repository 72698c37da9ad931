/** What the environment of an execution is made of. */
export interface EnvironmentParts {
  /** What every child gets. */
  readonly agent: Readonly<Record<string, string>>;
  /** Entries of the plan; each replaces the agent's of that name. */
  readonly plan: readonly string[];
  readonly searchPath: readonly string[];
  /** The folder of the execution. */
  readonly folder: string;
  readonly attempt: number;
  readonly isWindows: boolean;
}

/**
 * The entries that a child gets: those of the agent, those of the plan, then ours, which a plan cannot replace. Of several with one
 * name the last stays. What has no name stays as it is: plans for Windows hold such entries.
 */
export function executionEnvironment(parts: EnvironmentParts): string[] {
  const { agent, plan, searchPath, folder, attempt, isWindows } = parts;
  const entries = [
    ...Object.entries(agent).map(([name, value]) => `${name}=${value}`),
    ...plan,
    `CATTLE_AGENT_EXECUTION_PWD=${folder}`,
    `CATTLE_AGENT_ATTEMPT_NUMBER=${attempt}`,
    `PATH=${[...searchPath, folder].join(isWindows ? ';' : ':')}`,
  ];
  const seen = new Set<string>();
  const isLast = (entry: string): boolean => {
    const end = entry.indexOf('=', 1);
    if (end < 0) return true;
    const name = isWindows ? entry.slice(0, end).toUpperCase() : entry.slice(0, end);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  };
  return entries.reverse().filter(isLast).reverse();
}
