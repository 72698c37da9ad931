import { EXIT } from '@wins/base';
import { serveKeeper } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import { transportOf } from './keepers-of-program.js';
import { thisSystem } from '../../this-system.js';

export interface KeepOptions {
  readonly state: string;
}

/** `wins srv keep`: keeps runs alive when their daemon ends, and exits after the last run ends. */
export async function keepRuns({ state }: KeepOptions): Promise<number> {
  const system = thisSystem();
  // No warning is needed if clients cannot be identified: the keeper's private folder and token keep other processes out.
  const parts = system.daemonParts({ warn: () => undefined });
  const program = process.argv[1] ?? process.execPath;
  const { sha1: release } = await hashFile(program, ['sha1'], { followLinks: true });
  const transport = transportOf(parts);
  await serveKeeper({ stateDirectory: state, host: parts.processHost, release, transport });
  return EXIT.server.ok;
}
