// node observer.mjs ADDRESS MS: a harmless client that calls Info on one new connection for MS milliseconds. Prints as JSON the durations in
// milliseconds: of the first call, including the connection, and of each later call.
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
