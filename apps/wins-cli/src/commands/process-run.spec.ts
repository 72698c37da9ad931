import { processServiceDefinition } from '@wins/wins-api/contract';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProcess } from './process-run.js';

it('prints the name of a detached run so that a hostile daemon cannot control the terminal', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-run-'));
  const [pipe, program] = [path.join(folder, 'pipe'), path.join(folder, 'program')];
  writeFileSync(program, '');
  const message = processServiceDefinition.start.responseSerialize({
    data: { value: 'web\u001b[2J', runId: '' },
    warnings: [],
    leaseMs: 0,
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const daemon = createServer().on('stream', (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.resume().end(Buffer.concat([head, message]));
  });
  daemon.listen(pipe);
  await once(daemon, 'listening');
  const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const code = await runProcess({
    path: program,
    server: pipe,
    'wait-timeout': 0,
    detach: true,
    rm: false,
    quiet: true,
  });
  const texts = printed.mock.calls.map(([text]) => text);
  printed.mockRestore();
  expect(texts).toEqual(['web\\u001b[2J\n']);
  expect(code).toBe(0);
  daemon.close();
  await once(daemon, 'close');
  rmSync(folder, { recursive: true });
});
