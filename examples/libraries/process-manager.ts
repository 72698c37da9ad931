import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { createProcessManager, superviseProgram } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import { jobObjectProcessHost } from '@wins/windows-host';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const program = path.join(folder, 'hello.exe');
await copyFile(process.execPath, program);

const manager = createProcessManager({
  allowed: [{ path: program }],
  stateDirectory: path.join(folder, 'runs'),
  host: process.platform === 'win32' ? jobObjectProcessHost : posixProcessHost,
});
await manager.recover();

// A client names the program by digest, holds a lease on the run, and reads the output.
const { sha256 } = await hashFile(program, ['sha256']);
const args = ['--print', '"hello you"'];
const owner = { id: 'pipe:1', disconnected: new AbortController().signal };
const run = await manager.start({ path: program, sha256, args, envs: [], owner });
const lease = run.holdLease(owner.id);
for await (const chunk of run.read(owner.id)) {
  if (chunk.stream === 'stdout') process.stdout.write(chunk.bytes);
}
console.log(await lease.release());

// Restarts the program after each failure until it succeeds.
console.log(await superviseProgram(manager, { path: program, args, restart: 'onFailure' }));
await manager.close();
