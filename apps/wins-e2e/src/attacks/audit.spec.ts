import { type WinsClientError } from '@wins/wins-api';
import { createRawClient } from '@wins/wins-api/raw';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { openLibraryTunnel } from '../testing/tunnel/library-tunnel.js';
import { mayMount, wherePossible } from '../testing/where-possible.js';
import { Workspace } from '../testing/workspace.js';

/** A record of the audit log. */
type AuditRecord = Readonly<Record<string, unknown>> & { readonly kind: string };

const itOnItsOwnDisk = wherePossible(it, mayMount, 'a full disk, since only root may mount');

describe('an attacker of the audit log', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  const audit = (...args: string[]) =>
    runWins(['srv', 'audit', ...args, '--config', workspace.path('config')], workspace.environment);
  async function records(): Promise<AuditRecord[]> {
    const { code, stdout, stderr } = await audit('show', '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.toString().trim().split('\n');
    return lines.map((line) => JSON.parse(line) as AuditRecord);
  }
  async function verified(): Promise<Record<string, unknown>> {
    const { stdout } = await audit('verify', '-o', 'json');
    return JSON.parse(stdout.toString()) as Record<string, unknown>;
  }
  /** The folder of the log of a daemon that has the bare name of a pipe. */
  const auditFolder = () => path.join(workspace.runtimeDirectory, 'rancher_wins.audit');
  const starts = (all: readonly AuditRecord[], verdict: string) =>
    all.filter((record) => record.kind === 'start' && record['verdict'] === verdict);

  /** Counts what was written out and what was counted of a kind. */
  function total(all: readonly AuditRecord[], kind: string): number {
    type Group = { readonly kind: string; readonly count: number };
    const counted = all
      .filter((record) => record.kind === 'counted')
      .flatMap(({ groups }) => groups as readonly Group[])
      .filter((group) => group.kind === kind);
    const written = all.filter((record) => record.kind === kind).length;
    return counted.reduce((sum, { count }) => sum + count, written);
  }

  /** A session that asks for a port that is not listed, again and again, until it is told to end. */
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

  it('cannot start a program without its record by a flood of refused Connects (A47)', async () => {
    const tool = workspace.script('tool', 'exec sleep 1000');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const { address, tunnelAddress } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = createRawClient({ address: String(address) });
    let isDone = false;
    const floods = [1, 2].map(() =>
      floodOfConnects(String(tunnelAddress), (refused) => !isDone || refused < 1000),
    );
    const started: string[] = [];
    try {
      for (let index = 0; index < 8; index += 1) {
        const name = await client.startProcess(startRequest(tool));
        started.push(name.RunID);
        await client.stopProcess(name);
      }
    } finally {
      isDone = true;
    }
    const refused = (await Promise.all(floods)).reduce((sum, count) => sum + count, 0);
    await client.close();
    await daemon.stop();

    const all = await records();
    expect(starts(all, 'allowed')).toHaveLength(started.length);
    expect(all.filter(({ kind }) => kind === 'stop')).toHaveLength(started.length);
    expect(total(all, 'connect')).toBe(refused);
    expect(all.filter(({ kind }) => kind === 'connect').length).toBeLessThan(refused / 2);
    expect(await verified()).toMatchObject({ ok: true, lost: 0, problems: [] });
  });

  it('cannot push an allowed start out of the log by a thousand refusals of many clients (A54)', async () => {
    const tool = workspace.script('tool', 'exit 0');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const address = path.join(workspace.runtimeDirectory, 'rancher_wins');
    const client = createRawClient({ address });
    await client.startProcess(startRequest(tool));
    await client.close();
    // As long as a path in a record can be, and six characters for each of its own.
    const Path = `/${'\u009b'.repeat(1023)}`;
    const refusedOf = async (): Promise<number> => {
      const attacker = createRawClient({ address });
      let refused = 0;
      for (let index = 0; index < 20; index += 1) {
        await attacker.startProcess({ Path, Checksum: '' }).catch((error: unknown) => {
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

    const all = await records();
    expect(starts(all, 'allowed')).toMatchObject([{ path: tool }]);
    const counted = all.filter(({ kind }) => kind === 'counted');
    const sum = counted.reduce((total, { count }) => total + Number(count), 0);
    expect(sum + starts(all, 'refused').length).toBe(refused);
    // All of them would have been 6 MB.
    const sizes = readdirSync(auditFolder()).map(
      (name) => statSync(path.join(auditFolder(), name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
    expect(await verified()).toMatchObject({ ok: true });
  });

  it('cannot edit or remove a line without a trace, and a restart goes on where the log was', async () => {
    const tool = workspace.script('tool', 'exit 0');
    const config = workspace.config([tool]);
    for (let times = 0; times < 2; times += 1) {
      await using daemon = await Daemon.start(workspace, config);
      await runWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
      await daemon.stop();
    }
    const seqs = (await records()).map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await audit('verify')).toMatchObject({ code: 0, stderr: '' });

    const file = path.join(auditFolder(), 'audit.00000001.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('"kind":"start"'));
    for (const changed of [
      lines.map((line, index) => (index === at ? line.replace('allowed', 'refused') : line)),
      lines.filter((_, index) => index !== at),
    ]) {
      writeFileSync(file, changed.join('\n'));
      const { code, stdout } = await audit('verify');
      expect(code).toBe(1);
      expect(stdout.toString()).toMatch(/^audit\.00000001\.jsonl:\d+: .*(edited|number)/m);
    }
    expect(await audit('verify', '--directory', workspace.path('none'))).toMatchObject({
      code: 64,
    });
  });

  it('cannot start what cannot be recorded: acts are refused until they can be again (A47)', async () => {
    const tool = workspace.script('tool', 'echo ran');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = createRawClient({ address: String(address) });
    const run = () => runWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
    expect(await run()).toMatchObject({ code: 0, stdout: Buffer.from('ran\n') });
    await expect(client.isServing()).resolves.toBe(true);

    // The file is another one, so it is opened anew, in a folder that others may look into.
    const file = path.join(auditFolder(), 'audit.00000001.jsonl');
    chmodSync(auditFolder(), 0o755);
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
    const refused = await run();
    expect(refused.code).toBe(125);
    expect(refused.stderr).toMatch(
      /cannot record the decision: .*group or others have access \(mode 0755\); .*chmod 0700/,
    );
    await expect(client.startProcess(startRequest(tool))).rejects.toMatchObject({
      reason: 'auditUnavailable',
    });
    await expect(client.isServing()).resolves.toBe(false);

    const skip = daemon.log.length;
    chmodSync(auditFolder(), 0o700);
    await daemon.logged(({ msg }) => msg === 'the audit log can be written', skip);
    await expect(client.isServing()).resolves.toBe(true);
    expect(await run()).toMatchObject({ code: 0, stdout: Buffer.from('ran\n') });
    await client.close();
    await daemon.stop();
    const all = await records();
    expect(starts(all, 'allowed')).toHaveLength(2);
    expect(all.filter(({ kind }) => kind === 'resumed')).toHaveLength(1);
    expect(await verified()).toMatchObject({ ok: true });
  });

  itOnItsOwnDisk('cannot start what a full disk cannot record (A47)', async () => {
    const disk = workspace.path('disk');
    mkdirSync(disk);
    const options = ['-t', 'tmpfs', '-o', 'size=128k,mode=0700', 'tmpfs', disk];
    expect(spawnSync('/bin/mount', options).status).toBe(0);
    try {
      const tool = workspace.script('tool', 'echo ran');
      const config = workspace.config([tool], { audit: { directory: disk } });
      await using daemon = await Daemon.start(workspace, config);
      const run = () => runWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
      const filler = path.join(disk, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(256 * 1024))).toThrow('ENOSPC');
      // The last page of the log may have room for a record or two.
      let outcome = await run();
      while (outcome.code === 0) outcome = await run();
      expect(outcome.stderr).toContain('ENOSPC');

      rmSync(filler);
      while (outcome.code !== 0) outcome = await run();
      await daemon.stop();
      expect((await records()).some(({ kind }) => kind === 'resumed')).toBe(true);
      expect(await verified()).toMatchObject({ ok: true });
    } finally {
      spawnSync('/bin/umount', ['-l', disk]);
    }
  });
});
