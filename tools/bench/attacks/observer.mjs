// node observer.mjs ADDRESS MS: a harmless client that calls Info on one new connection for MS milliseconds. Prints a JSON object with durations
// in milliseconds. `firstMs` is the duration of the first call, and includes the time to connect. `times` lists the durations of the later calls.
import { createWinsClient } from '@wins/wins-api';
import { setTimeout as pause } from 'node:timers/promises';

const CALL_EVERY_MS = 4;
const [address, durationMs] = process.argv.slice(2);
const began = performance.now();
const client = createWinsClient({ address });
const times = [];
let firstMs;
while (performance.now() - began < Number(durationMs)) {
  const start = performance.now();
  await client.info();
  if (firstMs === undefined) firstMs = performance.now() - start;
  else times.push(performance.now() - start);
  await pause(CALL_EVERY_MS);
}
await client.close();
console.log(JSON.stringify({ firstMs, times }));
