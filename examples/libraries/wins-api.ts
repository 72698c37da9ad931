import { pipeline } from 'node:stream/promises';
import { createWinsClient, WinsClientError } from '@wins/wins-api';

// The daemon runs on the host; its config lists the program.
const client = createWinsClient();
try {
  const run = await client.run({ path: process.argv[2] ?? '/opt/tools/hello', args: ['you'] });
  run.stderr.pipe(process.stderr);
  await pipeline(run.stdout, process.stdout, { end: false });
  console.log(await run.exit);
} catch (error) {
  if (!(error instanceof WinsClientError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
