import { mayMount } from '@wins/base/testing';
import { createWinsClient } from '@wins/wins-api';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { wherePossible } from '../testing/where-possible.js';
import { Workspace } from '../testing/workspace.js';
import { audit, auditFolder, records, starts, verified } from './audit-records.js';

const itOnItsOwnDisk = wherePossible(it, mayMount(), 'a full disk, since only root may mount');

describe('an attacker of the audit log', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  it('cannot edit or remove a line unnoticed, and a restart continues the numbers of the log', async () => {
    const tool = workspace.script('tool', 'exit 0');
    const config = workspace.config([tool]);
    for (let times = 0; times < 2; times += 1) {
      await using daemon = await Daemon.start(workspace, config);
      await runWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
      await daemon.stop();
    }
    const seqs = (await records(workspace)).map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await audit(workspace, 'verify')).toMatchObject({ code: 0, stderr: '' });

    const file = path.join(auditFolder(workspace), 'audit.00000001.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('"kind":"start"'));
    for (const changed of [
      lines.map((line, index) => (index === at ? line.replace('allowed', 'refused') : line)),
      lines.filter((_, index) => index !== at),
    ]) {
      writeFileSync(file, changed.join('\n'));
      const { code, stdout } = await audit(workspace, 'verify');
      expect(code).toBe(1);
      expect(stdout.toString()).toMatch(/^audit\.00000001\.jsonl:\d+: .*(edited|number)/m);
    }
    expect(await audit(workspace, 'verify', '--directory', workspace.path('none'))).toMatchObject({
      code: 64,
    });
  });

  it('cannot start a program that cannot be recorded: actions are refused until the log works again (A47)', async () => {
    const tool = workspace.script('tool', 'echo ran');
    await using daemon = await Daemon.start(workspace, workspace.config([tool]));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = createWinsClient({ address: String(address) });
    const run = () => runWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
    expect(await run()).toMatchObject({ code: 0, stdout: Buffer.from('ran\n') });
    await expect(client.isServing()).resolves.toBe(true);

    // Replacing the file makes the daemon reopen it, in a folder that others can now read.
    const file = path.join(auditFolder(workspace), 'audit.00000001.jsonl');
    chmodSync(auditFolder(workspace), 0o755);
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
    chmodSync(auditFolder(workspace), 0o700);
    await daemon.logged(({ msg }) => msg === 'the audit log can be written', skip);
    await expect(client.isServing()).resolves.toBe(true);
    expect(await run()).toMatchObject({ code: 0, stdout: Buffer.from('ran\n') });
    await client.close();
    await daemon.stop();
    const all = await records(workspace);
    expect(starts(all, 'allowed')).toHaveLength(2);
    expect(all.filter(({ kind }) => kind === 'resumed')).toHaveLength(1);
    expect(await verified(workspace)).toMatchObject({ ok: true });
  });

  itOnItsOwnDisk('cannot start a program while a full disk prevents its record (A47)', async () => {
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
      // The last page of the disk may hold one or two more records.
      let outcome = await run();
      while (outcome.code === 0) outcome = await run();
      expect(outcome.stderr).toContain('ENOSPC');

      rmSync(filler);
      while (outcome.code !== 0) outcome = await run();
      await daemon.stop();
      expect((await records(workspace)).some(({ kind }) => kind === 'resumed')).toBe(true);
      expect(await verified(workspace)).toMatchObject({ ok: true });
    } finally {
      spawnSync('/bin/umount', ['-l', disk]);
    }
  });
});
