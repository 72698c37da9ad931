import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const root = path.resolve(import.meta.dirname, '../..');

const KEPT_CHARACTERS = 8192;

/**
 * Runs a Node program and shows its output.
 *
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, besideAs?: string }} [options] - `besideAs` is the title of a program that runs in parallel with
 * others. The output of such a program is shown when it ends.
 * @returns `isGreen`: whether the exit code is 0. `ending`: the exit code or the signal, in words. `printed`: the last 8,192
 * characters of the output.
 */
export async function runShown(args, { cwd = root, env = {}, besideAs } = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let unshown = '';
  /** @param {NodeJS.WriteStream} to */
  const show = (to) => (/** @type {string} */ text) => {
    if (besideAs !== undefined) unshown += text;
    else to.write(text);
    printed = (printed + text).slice(-KEPT_CHARACTERS);
  };
  child.stdout.setEncoding('utf8').on('data', show(process.stdout));
  child.stderr.setEncoding('utf8').on('data', show(process.stderr));
  const [code, signal] = await once(child, 'close');
  if (besideAs !== undefined) process.stdout.write(`\n── ${besideAs}\n${unshown}`);
  return {
    isGreen: code === 0,
    ending: `ended with ${signal ?? code}`,
    printed: stripVTControlCharacters(printed),
  };
}
