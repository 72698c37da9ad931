import { runWins } from '../testing/built-program.js';
import type { Workspace } from '../testing/workspace.js';

export interface Report {
  readonly healthy: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly level: string;
    readonly found: string;
    readonly advice?: string;
  }[];
}

/** Runs `wins doctor` for the daemon of a workspace. */
export async function reportOf({ environment }: Workspace, config: string) {
  const { code, stdout } = await runWins(['doctor', '--config', config, '--json'], environment);
  return { code, ...(JSON.parse(stdout.toString()) as Report) };
}

/** Returns the findings that are warnings or problems. */
export const unwell = ({ findings }: Report) => findings.filter(({ level }) => level !== 'ok');
