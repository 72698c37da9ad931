import type { NodeWorld } from './node-world.js';
import { nodeRelease } from './node-release.js';

/** JavaScript that a release runs first. It kills a command with SIGKILL once the command has asked the daemon to stop. */
const MORTAL = `
if (process.env.DIES_AT === 'stop') {
  const { kill } = process;
  process.kill = (pid, signal) => {
    const result = kill.call(process, pid, signal);
    if (signal === 'SIGTERM') kill.call(process, process.pid, 'SIGKILL');
    return result;
  };
}
`;

export function mortalRelease({ workspace }: NodeWorld, version?: string): string {
  return nodeRelease(workspace, version, MORTAL);
}

/** Runs a command of a mortal release, and resolves with the signal that ended it. */
export async function die(
  world: NodeWorld,
  program: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
): Promise<NodeJS.Signals | null> {
  const { signal } = await world.wins(args, { ...variables, DIES_AT: 'stop' }, program);
  return signal;
}
