import { EXIT } from '@wins/base';
import { hashFile } from '@wins/trusted-files';
import { Keeper } from '../features/lasting/keeper/keeper.js';
import { thisSystem } from '../this-system.js';

export interface KeepOptions {
  readonly state: string;
}

/** `wins srv keep`: keeps runs alive when their daemon ends, and exits after the last run ends. */
export async function keepRuns({ state }: KeepOptions): Promise<number> {
  const system = await thisSystem();
  // No warning is needed if clients cannot be identified: the keeper's private folder and token keep other processes out.
  const { processHost: host, identify, adminPipe } = system.daemonParts({ warn: () => undefined });
  const program = process.argv[1] ?? process.execPath;
  const { sha1: release } = await hashFile(program, ['sha1'], { followLinks: true });
  const keeper = new Keeper({
    ...{ stateDirectory: state, host, release, identify },
    ...(adminPipe && { adminPipe }),
  });
  // SIGTERM means a system shutdown: runs get their grace period.
  process.on('SIGTERM', () => keeper.endAll());
  // The daemon that reads this output may be gone.
  process.stdout.on('error', () => undefined);
  await keeper.listen();
  process.stdout.write(`${JSON.stringify(keeper.record)}\n`);
  await keeper.over;
  await keeper.close();
  return EXIT.server.ok;
}
