// node observer.mjs ADDRESS MS: a harmless client that calls Info on a new connection repeatedly for MS milliseconds. Prints JSON: the duration
// of the first call including its connection, and of each other call, in milliseconds.
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
