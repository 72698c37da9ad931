// Replaces a program on the host, and waits until the new one says that it is ready: node roll-out.mjs NAME PROGRAM
import { createWinsClient, WinsClientError } from '@wins/wins-api';

const [, , name = '', path = ''] = process.argv;
const client = createWinsClient({ address: process.env['WINS_PIPE'] ?? 'rancher_wins' });
const signal = AbortSignal.timeout(60_000);
/** The output of the run that is replaced stays under the same name. */
const since = new Date();

/** Resolves once the run has printed a line with `ready`, also if the daemon is upgraded meanwhile. */
async function isReady(): Promise<boolean> {
  let line = '';
  for await (const part of client.runs.read(name, { follow: true, since, signal })) {
    if (part.stream === 'end' || part.stream === 'skipped') continue;
    line = (line + String(part.bytes)).slice(-1024);
    if (/^ready\r?\n/m.test(line)) return true;
  }
  return false;
}

try {
  const restart = 'on-failure:3';
  await client.runs.start({ name, path, args: [], replace: true, restart, signal });
  if (await isReady()) console.log(`${name} serves`);
  else {
    const run = (await client.runs.list({ all: true, signal })).find((one) => one.name === name);
    console.error(`${name} failed with ${run?.end?.exitCode}: ${run?.gaveUp ?? ''}`);
    process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof WinsClientError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
