import { createWinsClient, WinsClientError } from '@wins/wins-api';

const client = createWinsClient();
try {
  const { runs } = client;
  // The program's entry in the daemon's config grants "detached".
  const path = process.argv[2] ?? '/opt/tools/hello';
  const name = await runs.start({ path, args: ['again'] });
  // Any program of this container or account may read the output, also of a run that has ended.
  for await (const part of runs.read(name, { follow: true })) {
    if (part.stream === 'stdout') process.stdout.write(part.bytes);
    if (part.stream === 'end') console.log(part.reason, part.exitCode);
  }
  await runs.remove(name);
} catch (error) {
  if (!(error instanceof WinsClientError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
