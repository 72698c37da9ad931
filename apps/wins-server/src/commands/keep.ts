import { EXIT } from '@wins/base';
import { hashFile } from '@wins/trusted-files';
import { Keeper } from '../features/lasting/keeper/keeper.js';
import { thisSystem } from '../this-system.js';

/** The options of `wins srv keep`. */
export interface KeepOptions {
  /** The state directory of the daemons that it serves. */
  readonly state: string;
}

/** `wins srv keep`: keeps runs that outlive the daemon that started this process, and ends when it has none. */
export async function keepRuns({ state }: KeepOptions): Promise<number> {
  const system = await thisSystem();
  // It has no log. Where clients cannot be told apart, its folder and its token are what keeps them out.
  const { processHost: host, identify, adminPipe } = system.daemonParts({ warn: () => undefined });
  const program = process.argv[1] ?? process.execPath;
  const { sha1: release } = await hashFile(program, ['sha1'], { followLinks: true });
  const keeper = new Keeper({
    ...{ stateDirectory: state, host, release, identify },
    ...(adminPipe && { adminPipe }),
  });
  // The system shuts down: its runs get their time to end.
  process.on('SIGTERM', () => keeper.endAll());
  // A daemon that has gone reads nothing.
  process.stdout.on('error', () => undefined);
  await keeper.listen();
  process.stdout.write(`${JSON.stringify(keeper.record)}\n`);
  await keeper.over;
  await keeper.close();
  return EXIT.server.ok;
}
