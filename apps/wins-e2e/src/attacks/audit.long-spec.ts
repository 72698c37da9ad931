import { type WinsClientError, createWinsClient } from '@wins/wins-api';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { openLibraryTunnel } from '../testing/tunnel/library-tunnel.js';
import { Workspace } from '../testing/workspace.js';
import { auditFolder, records, starts, verified, type AuditRecord } from './audit-records.js';

function total(all: readonly AuditRecord[], kind: string): number {
  type Group = { readonly kind: string; readonly count: number };
  const counted = all
    .filter((record) => record.kind === 'counted')
    .flatMap(({ groups }) => groups as readonly Group[])
    .filter((group) => group.kind === kind);
  const written = all.filter((record) => record.kind === kind).length;
  return counted.reduce((sum, { count }) => sum + count, written);
}

/** A tunnel session that requests an unlisted port until `goOn` returns false. */
async function floodOfConnects(address: string, goOn: (refused: number) => boolean) {
  const tunnel = await openLibraryTunnel(address, 'flood');
  let refused = 0;
  const ask = async (): Promise<void> => {
    while (goOn(refused)) {
      const stream = tunnel.connect(1);
      stream.on('error', () => undefined);
      await new Promise((resolve) => stream.once('close', resolve));
      refused += 1;
    }
  };
  await Promise.all(Array.from({ length: 64 }, ask));
  await tunnel.close();
  return refused;
}

describe('an attacker of the audit log', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  it('cannot start a program without a record by a flood of refused Connects (A47)', async () => {
    const tool = workspace.script('tool', 'exec sleep 1000');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const { address, tunnelAddress } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = createWinsClient({ address: String(address) });
    let isDone = false;
    const floods = [1, 2].map(() =>
      floodOfConnects(String(tunnelAddress), (refused) => !isDone || refused < 1000),
    );
    const started: string[] = [];
    try {
      for (let index = 0; index < 8; index += 1) {
        const name = await client.startProcess(startRequest(tool));
        started.push(name.runId);
        await client.runs.stop(name);
      }
    } finally {
      isDone = true;
    }
    const refused = (await Promise.all(floods)).reduce((sum, count) => sum + count, 0);
    await client.close();
    await daemon.stop();

    const all = await records(workspace);
    expect(starts(all, 'allowed')).toHaveLength(started.length);
    expect(all.filter(({ kind }) => kind === 'stop')).toHaveLength(started.length);
    expect(total(all, 'connect')).toBe(refused);
    expect(all.filter(({ kind }) => kind === 'connect').length).toBeLessThan(refused / 2);
    expect(await verified(workspace)).toMatchObject({ ok: true, lost: 0, problems: [] });
  });

  it('cannot push an allowed start out of the log by a thousand refusals of many clients (A54)', async () => {
    const tool = workspace.script('tool', 'exit 0');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const address = path.join(workspace.runtimeDirectory, 'rancher_wins');
    const client = createWinsClient({ address });
    await client.startProcess(startRequest(tool));
    await client.close();
    // The longest path that a record may hold. Escaping turns each character into six.
    const longest = `/${'\u009b'.repeat(1023)}`;
    const refusedOf = async (): Promise<number> => {
      const attacker = createWinsClient({ address });
      let refused = 0;
      for (let index = 0; index < 20; index += 1) {
        await attacker.startProcess({ path: longest, checksum: '' }).catch((error: unknown) => {
          if ((error as WinsClientError).reason !== undefined) refused += 1;
        });
      }
      await attacker.close();
      return refused;
    };
    let refused = 0;
    for (let round = 0; round < 5; round += 1) {
      const counts = await Promise.all(Array.from({ length: 10 }, refusedOf));
      refused += counts.reduce((sum, count) => sum + count, 0);
    }
    expect(refused).toBe(1000);
    await daemon.stop();

    const all = await records(workspace);
    expect(starts(all, 'allowed')).toMatchObject([{ path: tool }]);
    const counted = all.filter(({ kind }) => kind === 'counted');
    const sum = counted.reduce((total, { count }) => total + Number(count), 0);
    expect(sum + starts(all, 'refused').length).toBe(refused);
    // Without a limit, the records would take 6 MB.
    const sizes = readdirSync(auditFolder(workspace)).map(
      (name) => statSync(path.join(auditFolder(workspace), name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
    expect(await verified(workspace)).toMatchObject({ ok: true });
  });
});
