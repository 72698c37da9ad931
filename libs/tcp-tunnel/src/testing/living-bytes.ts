import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Excludes freed memory, unlike the size of the process. */
export async function livingBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Several rounds, because some objects become free only after a turn, or after other objects.
  for (let round = 0; round < 4; round += 1) {
    await turns(50);
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
