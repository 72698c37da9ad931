import type { WinsClient } from '@wins/wins-api';
import { runsDefinition, wholeStartRequest, RunOutput } from '@wins/wins-api/contract';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Outcome, RunningCommand } from './built-program.js';
import type { startRequest } from './digests.js';
import { ROOT } from './workspace.js';

/** A daemon whose whitelist has two programs that may run detached. */
export interface DetachedHost {
  /** Runs a command, for a cell of the table. */
  prc(...words: readonly string[]): RunningCommand;
  /** Brings the runs into their states. */
  readonly client: WinsClient;
  /** Starts of a program with {@link SCRIPT}, up to its arguments. Restarts of `patient` wait for an hour, those of `hasty` not. */
  readonly patient: ReturnType<typeof startRequest>;
  readonly hasty: ReturnType<typeof startRequest>;
  path(name: string): string;
}

/**
 * Shell script of both programs. The first argument names a file, the second is a number. The program exits with 7 that many times, counted in the file,
 * and then stays until it is asked to end. With `deaf` as its third argument it ignores the request.
 */
export const SCRIPT = `marks=
[ -e "$1" ] && read -r marks < "$1"
if [ "\${#marks}" -lt "$2" ]; then
  printf x >> "$1"
  exit 7
fi
if [ "$3" = deaf ]; then trap 'echo asked' TERM; else trap 'exit 7' TERM; fi
echo up
while :; do /bin/sleep 86400 & wait; done`;

const STATES = ['running', 'stopping', 'waiting', 'stopped', 'gaveUp', 'ended', 'none'] as const;
type State = (typeof STATES)[number];

/** Time between two looks at the states of runs. */
const BETWEEN_MS = 100;

const FOLLOWERS = [['wait'], ['attach'], ['logs', '-f']] as const;
const READERS = [['inspect'], ['logs'], ['stats']] as const;
const CHANGES = [['start'], ['restart'], ['stop'], ['stop', '--now'], ['rm']] as const;

/** Does each verb in each of the states. Returns these columns of the table in docs/detached-runs.md. */
export async function tableOfVerbs(
  host: DetachedHost,
  states: readonly State[] = STATES,
): Promise<readonly (readonly string[])[]> {
  const columns: Readonly<Record<string, string>>[] = [];
  // A run of all columns, because a keeper ends with its last run.
  await startDetached(host.client, host.patient, {
    name: 'anchor',
    args: [host.path('anchor'), '0'],
  });
  for (const state of states) columns.push(await new Column(host, state).cells());
  await host.client.runs.remove('anchor');
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

interface Starting {
  readonly name: string;
  readonly args: readonly string[];
  readonly restart?: string;
}

async function startDetached(
  client: WinsClient,
  program: DetachedHost['patient'],
  { name, args, restart = '' }: Starting,
): Promise<void> {
  const request = wholeStartRequest({
    ...program,
    args: [...program.args, ...args],
    keep: { name, restart },
  });
  await client.startProcess(request);
}

/** All verbs on runs in one state. */
class Column {
  readonly #host: DetachedHost;
  readonly #state: State;
  readonly #stay: readonly string[];

  constructor(host: DetachedHost, state: State) {
    this.#host = host;
    this.#state = state;
    const { path, args } = host.patient;
    this.#stay = ['--path', path, '--', ...args, host.path('stays'), '0'];
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
    const created = this.#state === 'stopping' ? 'running' : this.#state;
    while ((await this.#states(names)).some((state) => state !== created)) await delay(BETWEEN_MS);
    // Alone, because a run that is stopping is killed after its grace time.
    const read = await this.#read(toRead);
    const codes = await Promise.all(
      changes.map(async ([, wordsFor], at) => {
        const name = toChange[at] ?? '';
        await this.#reach(name);
        const { code } = await this.#prc(wordsFor(name));
        return String(code);
      }),
    );
    const states = await this.#states(toChange);
    await this.#remove(names);
    const changed = changes.map(
      ([verb], at) => [verb, codes[at] === '0' ? `0, ${states[at]}` : (codes[at] ?? '')] as const,
    );
    return { ...Object.fromEntries(changed), ...read };
  }

  /** Does the verbs that change nothing, all on one run. */
  async #read(name: string): Promise<Readonly<Record<string, string>>> {
    await this.#reach(name);
    const followers = FOLLOWERS.map((words) => this.#host.prc(...words, name));
    const read = await Promise.all(READERS.map((words) => this.#prc([...words, name])));
    const isOpen = ['running', 'stopping', 'waiting'].includes(this.#state);
    const isStillThere = followers.map(({ isOver }) => !isOver);
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
    const { patient, hasty, client } = this.#host;
    const file = this.#host.path(name);
    const start = (program: typeof patient, restart: string, ...args: readonly string[]) =>
      startDetached(client, program, { name, restart, args: [file, ...args] });
    switch (this.#state) {
      case 'none':
        break;
      case 'running':
        await start(patient, 'always', '0');
        break;
      case 'stopping':
        await start(patient, 'always', '0', 'deaf');
        await this.#prints(name, 'up');
        break;
      case 'stopped':
        await start(patient, 'always', '0');
        await this.#prints(name, 'up');
        await client.runs.stop(name);
        break;
      case 'waiting':
        await start(patient, 'always', '1');
        break;
      case 'gaveUp':
        await start(hasty, 'on-failure:1', '2');
        break;
      case 'ended':
        await start(patient, '', '1');
    }
  }

  /** Brings a run into a state that does not last. */
  async #reach(name: string): Promise<void> {
    if (this.#state !== 'stopping') return;
    void this.#host.client.runs.stop(name);
    await this.#prints(name, 'asked');
  }

  async #prints(name: string, text: string): Promise<void> {
    let printed = '';
    const whole = { offset: 0, sinceMs: 0, follow: true, only: RunOutput.STDOUT };
    const request = { ...whole, name, tailLines: undefined };
    for await (const { options } of this.#host.client.stream(runsDefinition.read, request)) {
      if (options?.$case === 'stdOut') printed += options.value.toString();
      if (printed.includes(text)) return;
    }
    throw new Error(`${name} ended without printing ${text}`);
  }

  async #remove(names: readonly string[]): Promise<void> {
    const states = await this.#states(names);
    const there = names.filter((_, at) => states[at] !== 'none');
    const remove = (name: string) => this.#host.client.runs.remove(name);
    await Promise.all(there.map(remove));
  }

  async #states(names: readonly string[]): Promise<readonly string[]> {
    const runs = await this.#host.client.runs.list({ all: true });
    return names.map((name) => runs.find((run) => run.name === name)?.state ?? 'none');
  }

  #prc(words: readonly string[]): Promise<Outcome> {
    return this.#host.prc(...words).outcome;
  }
}
