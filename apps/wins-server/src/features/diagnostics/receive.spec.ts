import { debugServiceDefinition } from '@wins/wins-api/contract';
import { adminPipeOf } from '@wins/base';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serveCalls } from '../../testing/serve-calls.js';
import { receive } from './command.js';

it('an answer that is too large is refused with its size and its limit', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-receive-'));
  const server = path.join(folder, 'pipe');
  const PIECES = ['eight by', 'tes each'];
  await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
    calls.addService(debugServiceDefinition, {
      record: (call: { write: (piece: object) => void; end: () => void }) => {
        for (const piece of PIECES) call.write({ data: Buffer.from(piece) });
        call.end();
      },
    }),
  );
  const taken: string[] = [];
  const receiveAtMost = (mostBytes: number) =>
    receive(
      { server },
      { kind: 'report', seconds: 0 },
      { mostBytes, take: (piece, position) => void (taken[position] = piece.toString()) },
    );
  expect(await receiveAtMost(16)).toBe(16);
  expect(Object.entries(taken)).toEqual([
    ['0', PIECES[0]],
    ['8', PIECES[1]],
  ]);
  await expect(receiveAtMost(15)).rejects.toMatchObject({
    exitCode: 70,
    message: 'cannot use the answer of the daemon: it exceeds 15 bytes',
  });
  rmSync(folder, { recursive: true });
});
