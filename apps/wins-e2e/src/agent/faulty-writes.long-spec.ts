/** Tests writes that get no answer: the daemon waits 30 s and then checks the outcome. */
import { silent, unanswered } from '@wins/system-agent/testing';
import { FaultyWrites, type WriteFault } from '../testing/agent/faulty-writes.js';
import { numbersTo, sampleOf } from '../testing/sample.js';

const FAULTS: readonly WriteFault[] = [
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
      for (const fault of FAULTS)
        await faulty.apply(write, fault).catch((error: unknown) => {
          const title = `${JSON.stringify(rules)}, write ${write}, ${fault.title}`;
          throw new Error(`${title}: ${String(error)}`, { cause: error });
        });
  });
  await Promise.all(all);
});
