import { EXIT } from '@wins/base';
import { hashFile } from '@wins/trusted-files';
import { Keeper } from '../features/lasting/keeper/keeper.js';
import { thisSystem } from '../this-system.js';

export interface KeepOptions {
  readonly state: string;
}

/** `wins srv keep`: keeps runs that outlive the daemon that started this process, and ends when no run is left. */
export async function keepRuns({ state }: KeepOptions): Promise<number> {
  const system = await thisSystem();
  // The keeper has no log. On systems that cannot identify clients, its private folder and token keep other processes out.
  const { processHost: host, identify, adminPipe } = system.daemonParts({ warn: () => undefined });
  const program = process.argv[1] ?? process.execPath;
  const { sha1: release } = await hashFile(program, ['sha1'], { followLinks: true });
  const keeper = new Keeper({
    ...{ stateDirectory: state, host, release, identify },
    ...(adminPipe && { adminPipe }),
  });
  // SIGTERM: the system shuts down, so runs get their grace period to end.
  process.on('SIGTERM', () => keeper.endAll());
  // Ignores write errors, because the daemon that reads this output may be gone.
  process.stdout.on('error', () => undefined);
  await keeper.listen();
  process.stdout.write(`${JSON.stringify(keeper.record)}\n`);
  await keeper.over;
  await keeper.close();
  return EXIT.server.ok;
}
