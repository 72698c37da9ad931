/** A step of a history, the clients that take part, and the comparison after each step. */
import type { ClientIdentity } from '@wins/base';
import { ProcessError, type ProcessOwner, stateOf } from '@wins/process-manager';
import type * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { isSeenBy, shownTo, type ModelClient, type ModelRun } from './model-run.js';
import type { RunModel } from './run-model.js';
import type { SimulatedDaemon } from './simulated-daemon.js';
import type { SimulatedProcess } from './simulated-machine.js';

export const PROGRAMS = ['one', 'two'] as const;
export const owner: ProcessOwner = { id: 'pipe:1', disconnected: new AbortController().signal };
export const signal: ProcessOwner['disconnected'] = new AbortController().signal;

export const CLIENTS: readonly { readonly model: ModelClient; readonly real: ClientIdentity }[] = [
  container('a'.repeat(64)),
  // The pod of the first one, made anew.
  container('b'.repeat(64)),
  { ...container('mounts:4026532253'), model: { key: 'mounts', short: '', isUnidentified: true } },
  {
    model: { key: 'uid:0', short: 'uid-0', isAdministrator: true },
    real: {
      key: 'uid:0',
      isAdministrator: true,
      isEverybody: false,
      description: { uid: 0 },
      names: ['administrators'],
    },
  },
];
export const ADMINISTRATOR = CLIENTS.length - 1;

function container(id: string): { readonly model: ModelClient; readonly real: ClientIdentity } {
  const real = {
    key: `container:${id}`,
    isAdministrator: false,
    isEverybody: false,
    description: { container: id },
    names: [`container:${id}`],
  };
  return { model: { key: id, short: id.slice(0, 12) }, real };
}

export type Client = (typeof CLIENTS)[number];
type Work = (model: RunModel, real: SimulatedDaemon) => Promise<void> | void;

/** One step of a history, whose text repeats it. */
export class Step implements fc.AsyncCommand<RunModel, SimulatedDaemon> {
  readonly #text: string;
  readonly #when: (model: Readonly<RunModel>) => boolean;
  readonly #work: Work;

  constructor(text: string, when: (model: Readonly<RunModel>) => boolean, work: Work) {
    this.#text = text;
    this.#when = when;
    this.#work = work;
  }

  check(model: Readonly<RunModel>): boolean {
    return this.#when(model);
  }

  async run(model: RunModel, real: SimulatedDaemon): Promise<void> {
    // No two ends have the same time, unless they have the same cause.
    await real.machine.pass(1);
    model.pass(1);
    await this.#work(model, real);
    await real.machine.settled();
    compare(model, real);
  }

  toString(): string {
    return this.#text;
  }
}

export const isUp = (model: Readonly<RunModel>): boolean => model.isUp;
export const always = (): boolean => true;

/** Compares everything that clients can see, and the processes. */
function compare(model: RunModel, real: SimulatedDaemon): void {
  const tokens = model.living.map(({ token }) => token);
  const found = real.machine.living.map(({ command }) => command.args.join(' '));
  assertSame(sorted(found), sorted(tokens));
  if (!model.isUp) return;
  assertSame(real.managed, tokens.length);
  for (const client of CLIENTS) {
    const wanted = model.runs
      .filter((run) => isSeenBy(run, client.model))
      .map((run) => `${shownTo(client.model, run)} ${run.state} ${run.restarts}`);
    const listed = real.runs
      .list(client.real)
      .map(
        (run) =>
          `${real.runs.nameFor(run, client.real)} ${stateOf(run)} ${run.plan?.restarts ?? 0}`,
      );
    assertSame(sorted(listed), sorted(wanted));
  }
}

function sorted(lines: string[]): string {
  return lines.sort().join('\n');
}

/** Compares as JSON, because arrays and errors may come from another realm. */
export function assertSame(found: unknown, wanted: unknown): void {
  if (found === wanted) return;
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) assert.equal(one, other);
}

export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (error instanceof ProcessError) return error.code;
    throw error;
  }
}

/** Returns how a run ended, or the code of the error. */
export async function endOf(
  work: Promise<Pick<ModelRun['end'], 'code' | 'reason'> | undefined>,
): Promise<ModelRun['end'] | string | undefined> {
  try {
    const end = await work;
    return end && { code: end.code, reason: end.reason };
  } catch (error) {
    if (error instanceof ProcessError) return error.code;
    throw error;
  }
}

export function processOf(run: ModelRun, real: SimulatedDaemon): SimulatedProcess | undefined {
  return real.machine.living.find(({ command }) => command.args.join(' ') === run.token);
}

/** Reads all output, or follows until there is as much as the model has. */
export async function outputOf(
  run: ModelRun,
  real: SimulatedDaemon,
  follow: boolean,
): Promise<string> {
  const { real: administrator, model } = clientOf(ADMINISTRATOR);
  const name = shownTo(model, run);
  let text = '';
  const reading = new AbortController();
  const options = { follow, signal: reading.signal };
  for await (const part of real.runs.read(real.runs.find(name, administrator), options)) {
    if (part.stream !== 'skipped') text += part.bytes.toString();
    if (follow && text.length >= run.output.length) break;
  }
  reading.abort();
  return text;
}

export function clientOf(number: number): Client {
  return CLIENTS[number] as Client;
}
