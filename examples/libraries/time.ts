import { Backoff, backoffMs, Reconciler, systemClock, TokenBucket } from '@wins/time';

const longest = { initialMs: 1_000, maxMs: 60_000, jitter: 0 };
console.log(...[1, 2, 3, 7].map((failures) => backoffMs(longest, failures)));

// Waits after each failure; an abort of the signal would end the wait at once.
const { signal } = new AbortController();
const backoff = new Backoff({ initialMs: 1, maxMs: 4 });
for (let failures = 0; failures < 3; failures += 1) await backoff.wait({ signal });
backoff.reset();

const rate = new TokenBucket({ burst: 2, perSecond: 10 });
console.log(rate.take(), rate.take(), rate.take(), rate.msUntil(1) <= 100);
await systemClock.wait(rate.msUntil(1), { signal });

let actual = 0;
const reconciler = new Reconciler(actual, {
  pass: async (desired) => void (actual = desired),
  onFailure: (error, failures) => backoffMs(longest, failures),
});
reconciler.want(5);
await reconciler.close();
console.log(actual);
