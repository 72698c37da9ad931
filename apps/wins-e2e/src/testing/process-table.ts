import { readdirSync, readFileSync } from 'node:fs';

/** PIDs of the processes whose command line contains every text; zombies do not count. */
export function processesWith(...texts: string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
        return (
          texts.every((text) => commandLine.includes(text)) &&
          !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
        );
      } catch {
        return false; // it ended while we looked
      }
    });
}

/** Waits until a condition holds; the test's own time limit bounds it. There is no event for these. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
