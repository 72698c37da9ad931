import { setImmediate as turn } from 'node:timers/promises';
import { filesInOrder, type FileStep } from './reconcile-files.js';

let told: string[];
let pendingNow: number;
let pendingMost: number;
const { signal } = new AbortController();

beforeEach(() => {
  told = [];
  pendingNow = 0;
  pendingMost = 0;
});

/** A step with a higher `name` prepares faster. */
function ahead(name: number, { owner = 'o', fails = false, canBegin = true } = {}): FileStep {
  const action = async (what: string): Promise<void> => {
    await turn();
    told.push(`${what} ${name}`);
    pendingNow -= what === 'run' ? 0 : 1;
    if (fails && what !== 'discard') throw new Error(`${name} fails`);
  };
  const begin = async () => {
    pendingNow += 1;
    pendingMost = Math.max(pendingMost, pendingNow);
    for (let turns = 20 - name; turns > 0; turns -= 1) await turn();
    if (!canBegin) pendingNow -= 1;
    return canBegin
      ? { place: () => action('place'), discard: () => action('discard') }
      : undefined;
  };
  return { run: () => action('run'), ahead: { owner, begin } };
}

const alone = (name: number): FileStep => ({ run: ahead(name).run });
const names = Array.from({ length: 20 }, (_, name) => name);

it('places what was begun ahead in order, and has no more than four begun', async () => {
  await filesInOrder(
    names.map((name) => ahead(name)),
    signal,
  );
  expect(told).toEqual(names.map((name) => `place ${name}`));
  expect([pendingNow, pendingMost]).toEqual([0, 4]);
});

it('runs a step in its turn that could not be begun', async () => {
  const steps = names.map((name) => ahead(name, { canBegin: name % 3 !== 0 }));
  await filesInOrder(steps, signal);
  expect(told).toEqual(names.map((name) => `${name % 3 === 0 ? 'run' : 'place'} ${name}`));
});

it('begins nothing before a step of another owner, or one that cannot be begun, has ended', async () => {
  await filesInOrder([ahead(0), alone(1), ahead(2), ahead(3, { owner: 'other' })], signal);
  expect(told).toEqual(['place 0', 'run 1', 'place 2', 'place 3']);
  expect(pendingMost).toBe(1);
});

it.each([true, false])('does nothing after a failure, and leaves nothing: %j', async (canBegin) => {
  const steps = names.map((name) => ahead(name, name === 10 ? { fails: true, canBegin } : {}));
  await expect(filesInOrder(steps, signal)).rejects.toThrow('10 fails');
  const after = told.slice(told.findIndex((one) => one.endsWith(' 10')) + 1);
  expect(after).toEqual(['discard 11', 'discard 12', 'discard 13']);
  expect(pendingNow).toBe(0);
});

it('ends with the reason of the signal, and leaves nothing', async () => {
  const stops = (abort: AbortController) => (): Promise<void> => {
    abort.abort(new Error('no more'));
    return Promise.resolve();
  };
  const first = new AbortController();
  const steps = [ahead(0), { run: stops(first) }, ahead(2), ahead(3)];
  await expect(filesInOrder(steps, first.signal)).rejects.toThrow('no more');
  expect(told).toEqual(['place 0']);

  told = [];
  const second = new AbortController();
  const begun = names.map((name) => ahead(name));
  const place = stops(second);
  const begin = () => Promise.resolve({ place, discard: place });
  begun[5] = { run: place, ahead: { owner: 'o', begin } };
  await expect(filesInOrder(begun, second.signal)).rejects.toThrow('no more');
  const placed = [0, 1, 2, 3, 4].map((name) => `place ${name}`);
  expect(told).toEqual([...placed, 'discard 6', 'discard 7']);
});
