import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Outcome, RunningProgram } from './built-program.js';
import { ROOT } from './workspace.js';

/** A daemon whose whitelist has two programs that may run detached. */
export interface DetachedHost {
  prc(...words: readonly string[]): RunningProgram;
  /** Words of `prc run` that start a program with {@link SCRIPT}, up to its arguments. Restarts of `patient` wait for an hour, those of `hasty` not. */
  readonly patient: readonly string[];
  readonly hasty: readonly string[];
  path(name: string): string;
}

/**
 * Script of both programs. The first argument names a file, the second is a number. The program exits with 7 that many times, counted in the file, and
 * then stays until it is asked to end. With `deaf` as its third argument it ignores the request.
 */
export const SCRIPT = `const { appendFileSync, existsSync, statSync } = require('node:fs');
const [file, failures, how] = process.argv.slice(2);
const end = how === 'deaf' ? () => console.log('asked') : () => process.exit(7);
for (const signal of ['SIGTERM', 'SIGBREAK']) process.on(signal, end);
if ((existsSync(file) ? statSync(file).size : 0) < Number(failures)) {
  appendFileSync(file, 'x');
  process.exit(7);
}
console.log('up');
setInterval(() => {}, 1e6);`;

const STATES = ['running', 'stopping', 'waiting', 'stopped', 'gaveUp', 'ended', 'none'] as const;
type State = (typeof STATES)[number];

const FOLLOWERS = [['wait'], ['attach'], ['logs', '-f']] as const;
const READERS = [['logs'], ['stats']] as const;
const CHANGES = [['start'], ['restart'], ['stop'], ['stop', '--now'], ['rm']] as const;

/** Does each verb in each of the states. Returns these columns of the table in docs/detached-runs.md. */
export async function tableOfVerbs(
  host: DetachedHost,
  states: readonly State[] = STATES,
): Promise<readonly (readonly string[])[]> {
  const columns: Readonly<Record<string, string>>[] = [];
  for (const state of states) columns.push(await new Column(host, state).cells());
  const verbs = Object.keys(columns[0] ?? {});
  return verbs.map((verb) => [verb, ...columns.map((cells) => cells[verb] ?? '')]);
}

export function documentedTable(states: readonly State[] = STATES): readonly (readonly string[])[] {
  const page = readFileSync(path.join(ROOT, 'docs', 'detached-runs.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `prc /.test(line));
  return rows.map((row) => {
    const [verb = '', ...cells] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const chosen = states.map((state) => cells[STATES.indexOf(state)] ?? '');
    return [verb.replace(/^`prc |`$/g, ''), ...chosen];
  });
}

/** All verbs on runs in one state. */
class Column {
  readonly #host: DetachedHost;
  readonly #state: State;
  readonly #stay: readonly string[];

  constructor(host: DetachedHost, state: State) {
    this.#host = host;
    this.#state = state;
    this.#stay = [...host.patient, host.path('stays'), '0'];
  }

  async cells(): Promise<Readonly<Record<string, string>>> {
    const changes = [
      ['run', (name: string) => ['run', '-d', '--name', name, ...this.#stay]],
      [
        'run --replace',
        (name: string) => ['run', '-d', '--replace', '--name', name, ...this.#stay],
      ],
      ...CHANGES.map((words) => [words.join(' '), (name: string) => [...words, name]] as const),
    ] as const;
    const names = ['read', ...changes.map(([verb]) => verb.replaceAll(' ', ''))].map(
      (verb) => `${this.#state}-${verb}`,
    );
    const [toRead = '', ...toChange] = names;
    await Promise.all(names.map((name) => this.#create(name)));
    if (this.#state !== 'none' && this.#state !== 'stopping')
      while ((await this.#states(names)).some((state) => state !== this.#state));
    const [read, ...codes] = await Promise.all([
      this.#read(toRead),
      ...changes.map(async ([, wordsFor], at) => {
        const { code } = await this.#prc(wordsFor(toChange[at] ?? ''));
        return String(code);
      }),
    ]);
    const states = await this.#states(toChange);
    await this.#prc(['rm', ...names]);
    const changed = changes.map(
      ([verb], at) => [verb, codes[at] === '0' ? `0, ${states[at]}` : (codes[at] ?? '')] as const,
    );
    return { ...Object.fromEntries(changed), ...read };
  }

  /** Does the verbs that change nothing, all on one run. */
  async #read(name: string): Promise<Readonly<Record<string, string>>> {
    const followers = FOLLOWERS.map((words) => this.#host.prc(...words, name));
    const read = await Promise.all(READERS.map((words) => this.#prc([...words, name])));
    const isOpen = ['running', 'stopping', 'waiting'].includes(this.#state);
    const isStillThere = followers.map(({ child }) => child.exitCode === null);
    if (isOpen) await this.#prc(['stop', name]);
    const followed = await Promise.all(followers.map(({ outcome }) => outcome));
    // A run that is stopping may have ended before its followers have started.
    const hasWaited = (at: number) => this.#state === 'stopping' || isStillThere[at] === true;
    const cells = [
      ...read.map(({ code }) => String(code)),
      ...followed.map(({ code }, at) => (isOpen && hasWaited(at) ? 'waits' : String(code))),
    ];
    const verbs = [...READERS, ...FOLLOWERS];
    return Object.fromEntries(verbs.map((words, at) => [words.join(' '), cells[at] ?? '']));
  }

  /** Starts a run, and brings it on its way into the state. */
  async #create(name: string): Promise<void> {
    const { patient, hasty } = this.#host;
    const file = this.#host.path(name);
    const start = async (words: readonly string[], ...more: readonly string[]): Promise<void> => {
      const started = await this.#prc(['run', '-d', '--name', name, ...more, ...words]);
      assert.deepEqual([started.code, started.stderr], [0, '']);
    };
    const always = ['--restart', 'always'] as const;
    switch (this.#state) {
      case 'none':
        break;
      case 'running':
        await start([...patient, file, '0'], ...always);
        break;
      case 'stopping':
        await start([...patient, file, '0', 'deaf'], ...always);
        await this.#prints(name, 'up');
        void this.#prc(['stop', name]);
        await this.#prints(name, 'asked');
        break;
      case 'stopped':
        await start([...patient, file, '0'], ...always);
        await this.#prints(name, 'up');
        await this.#prc(['stop', name]);
        break;
      case 'waiting':
        await start([...patient, file, '1'], ...always);
        break;
      case 'gaveUp':
        await start([...hasty, file, '2'], '--restart', 'on-failure:1');
        break;
      case 'ended':
        await start([...patient, file, '1']);
    }
  }

  async #prints(name: string, text: string): Promise<void> {
    const follower = this.#host.prc('logs', '-f', name);
    await follower.printed(text);
    follower.child.kill();
    await follower.outcome;
  }

  async #states(names: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await this.#prc(['ls', '--detached', '-o', 'json']);
    const runs = JSON.parse(stdout.toString()) as { name: string; state: string }[];
    return names.map((name) => runs.find((run) => run.name === name)?.state ?? 'none');
  }

  #prc(words: readonly string[]): Promise<Outcome> {
    return this.#host.prc(...words).outcome;
  }
}
