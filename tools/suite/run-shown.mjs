import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const root = path.resolve(import.meta.dirname, '../..');

const KEPT_CHARACTERS = 8192;

/**
 * Runs a Node program in the root of the checkout, and shows what it prints.
 *
 * @param isBeside - Whether it runs beside others: it gets the processor when these wait, and what it prints is shown at its end.
 * @returns Whether it ended with 0, how it ended, and the end of what it printed.
 */
export async function runShown(args, { cwd = root, env = {}, isBeside = false } = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (isBeside) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let printed = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.setEncoding('utf8').on('data', (text) => {
      if (!isBeside) to.write(text);
      printed = (printed + text).slice(-KEPT_CHARACTERS);
    });
  }
  const [code, signal] = await once(child, 'close');
  if (isBeside) process.stdout.write(printed);
  return {
    isGreen: code === 0,
    ending: `ended with ${signal ?? code}`,
    printed: stripVTControlCharacters(printed),
  };
}
