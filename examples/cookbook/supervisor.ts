// Keeps programs running until it is stopped or none is left, and says why one ends for good:
// node supervisor.mjs STATE_FOLDER PROGRAM...
import { once } from 'node:events';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { createProcessManager, superviseProgram } from '@wins/process-manager';
import { jobObjectProcessHost } from '@wins/windows-host';

const [, , folder = 'supervisor', ...programs] = process.argv;
const manager = createProcessManager({
  allowed: programs.map((program) => ({ path: program })),
  stateDirectory: path.resolve(folder),
  host: process.platform === 'win32' ? jobObjectProcessHost : posixProcessHost,
});
// Ends what an earlier supervisor left running when it was killed.
await manager.recover();

const stopping = new AbortController();
const supervised = programs.map((program) => {
  const name = path.basename(program);
  const ended = superviseProgram(manager, {
    path: program,
    signal: stopping.signal,
    maxRestarts: 5,
    backoff: { initialMs: 10, maxMs: 60_000 },
    onOutput: (part) => {
      if (part.stream !== 'skipped') process.stdout.write(`${name}: ${String(part.bytes)}`);
    },
    onEnd: (end) =>
      console.log(`${name}:`, end instanceof Error ? end.message : `exit code ${end.code}`),
  });
  return ended.then(
    (end) => console.log(`${name} is not started again: exit code ${end.code}`),
    (error: Error) => console.log(`${name} is not started again: ${error.message}`),
  );
});
console.log('ready');

const ends = Promise.all(supervised);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), ends]);
stopping.abort();
await ends;
await manager.close();
