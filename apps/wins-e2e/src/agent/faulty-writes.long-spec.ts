import { reset, resetAfter, silent, unanswered } from '@wins/system-agent/testing';
import { FaultyWrites, type WriteFault } from '../testing/agent/faulty-writes.js';
import { numbersTo, sampleOf } from '../testing/sample.js';

const FAULTS: readonly WriteFault[] = [
  { title: 'the connection ends before it is done', fault: reset },
  { title: 'the connection ends before it is done, and the next one too', fault: reset, times: 2 },
  { title: 'it is done, and the connection ends without an answer', fault: unanswered(reset) },
  { title: 'it is done, and the connection ends in its answer', fault: resetAfter(1) },
];
/** The daemon waits 30 s for an answer, and then checks the outcome. */
const NO_ANSWERS: readonly WriteFault[] = [
  { title: 'nothing comes of it', fault: silent },
  { title: 'it is done', fault: unanswered(silent) },
];
const RULES = [true, false].flatMap((isPending) =>
  [true, false].map((fails) => ({ isPending, fails })),
);

it('a daemon without an answer to one of its writes runs each plan once and records this in the Secret', async () => {
  // In parallel, because the checks spend most of their time waiting.
  const all = RULES.map(async (rules) => {
    await using faulty = await FaultyWrites.create(rules);
    const count = await faulty.countWrites();
    for (const write of sampleOf(numbersTo(count), 2))
      for (const fault of NO_ANSWERS)
        await faulty.apply(write, fault).catch((error: unknown) => {
          const title = `${JSON.stringify(rules)}, write ${write}, ${fault.title}`;
          throw new Error(`${title}: ${String(error)}`, { cause: error });
        });
  });
  await Promise.all(all);
});

describe('a daemon that follows several plans, with a fault at each of its writes', () => {
  it.each([
    ['plans that succeed, with plan-state', { isPending: true, fails: false }, 4],
    ['plans that succeed, by the rules before it', { isPending: false, fails: false }, 3],
    ['plans that fail, with plan-state', { isPending: true, fails: true }, 4],
    ['plans that fail, by the rules before it', { isPending: false, fails: true }, 3],
  ])('runs each once, and has the Secret say so: %s', async (_title, rules, count) => {
    await using faulty = await FaultyWrites.create(rules);
    expect(await faulty.countWrites()).toBe(count);
    for (let write = 1; write <= count; write += 1)
      for (const fault of FAULTS)
        await faulty.apply(write, fault).catch((error: unknown) => {
          throw new Error(`write ${write}, ${fault.title}: ${String(error)}`, { cause: error });
        });
  });
});
