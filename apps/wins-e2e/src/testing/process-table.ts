import { readdirSync, readFileSync } from 'node:fs';

/** Returns the PIDs of processes whose command line contains every text; skips zombies. */
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
        return false; // the process has ended since the listing
      }
    });
}

/** Polls until a condition holds; the time limit of the test applies. Use it only where no event exists. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
