// node observer.mjs ADDRESS MS: calls Info on a new connection again and again for so long, as a client that is no attacker. Prints JSON:
// how long the first call took, the connection included, and each of the others, in milliseconds.
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
