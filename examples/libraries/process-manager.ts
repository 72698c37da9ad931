import { createHash } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { createProcessManager, ProcessError } from '@wins/process-manager';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const program = path.join(folder, 'hello');
await writeFile(program, '#!/bin/sh\necho "hello $1"\n', { mode: 0o755 });

const manager = createProcessManager({
  allowed: [{ path: program }],
  stateDirectory: path.join(folder, 'runs'),
  host: posixProcessHost({ failure: (...facts) => new ProcessError(...facts) }),
});
await manager.recover();

const sha256 = createHash('sha256')
  .update(await readFile(program))
  .digest('hex');
const owner = { id: 'pipe:1', disconnected: new AbortController().signal };
const run = await manager.start({ path: program, sha256, args: ['you'], envs: [], owner });
const lease = run.holdLease(owner.id);
for await (const chunk of run.read(owner.id)) {
  if (chunk.stream === 'stdout') process.stdout.write(chunk.bytes);
}
console.log(await lease.release());
await manager.close();
