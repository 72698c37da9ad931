import { type WinsClientError, createWinsClient, type WinsClient } from '@wins/wins-api';
import type { ProcessStartRequest } from '@wins/wins-api/contract';
import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { Workspace } from '../testing/workspace.js';

describe('an attacker at the pipe', () => {
  const workspace = new Workspace();
  const proof = workspace.path('it-ran');
  const source = `echo ran >> ${proof}`;
  const listed = workspace.script('bin/listed', source);
  let daemon: Daemon;
  let client: WinsClient;

  beforeAll(async () => {
    workspace.script('evil/listed', source);
    workspace.script('bin/listed-evil', source);
    workspace.script('bin/Listed', source);
    workspace.script('bin/kube', source);
    symlinkSync(workspace.path('bin'), workspace.path('link'));
    symlinkSync(listed, workspace.path('bin/symlink'));
    const allowed = [
      listed,
      workspace.path('link/listed'),
      workspace.path('bin/symlink'),
      workspace.path('bin/kube'),
      workspace.path('open/listed'),
      workspace.path('open-file'),
      { path: workspace.path('bin/pinned'), sha256: 'a'.repeat(64) },
      'bin/relative',
      '%HOME%/listed',
    ];
    workspace.script('open/listed', source);
    chmodSync(workspace.path('open'), 0o777);
    workspace.script('open-file', source);
    chmodSync(workspace.path('open-file'), 0o777);
    workspace.script('bin/pinned', source);
    daemon = await Daemon.start(workspace, workspace.config(allowed));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    client = createWinsClient({ address: String(address) });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  async function attempt(change: Partial<ProcessStartRequest>, file = listed): Promise<string> {
    const request = { ...startRequest(file), ...change };
    try {
      const name = await client.startProcess(request);
      await client.runs.stop(name);
      return 'started';
    } catch (error) {
      return (error as WinsClientError).reason ?? String(error);
    }
  }

  it.each<[string, string]>([
    ['A3 an 8.3 name', `${workspace.path('bin')}/LISTED~1`],
    ['A4 a device prefix', String.raw`\\?\C:\listed.exe`],
    ['A5 a trailing dot', `${listed}.`],
    ['A5 a trailing blank', `${listed} `],
    ['A6 a data stream', `${listed}:evil`],
    ['A9 a device name', '/dev/null'],
    ['A10 a path of another host', String.raw`\\host\c$\listed.exe`],
    ['A11 a relative path', path.relative(process.cwd(), listed)],
    ['A11 a path with a parent folder', `${workspace.path('evil')}/../bin/listed`],
    ['A11 a path with the folder itself', `${workspace.path('bin')}/./listed`],
    ['A11 a bare name', 'listed'],
    ['A11 an entry of the list that is relative', 'bin/relative'],
    ['A13 NUL', `${listed}\0.txt`],
    ['A13 a line break', `${listed}\n`],
    ['A13 a full-width letter', listed.replace(/listed$/, 'l\uff49sted')],
    ['A13 a zero-width character', `${listed}\u200b`],
    ['A2 another case', workspace.path('bin/Listed')],
    ['A2 a letter that folds to k', workspace.path('bin/\u212aube')],
    ['A14 a variable', '%HOME%/listed'],
    ['A15 a name that continues a listed one', workspace.path('bin/listed-evil')],
    ['A15 the folder of a listed program', workspace.path('bin')],
    ['an empty path', ''],
    ['the copy of a listed program', workspace.path('bin/rancher-wins-listed')],
  ])('cannot run anything by %s', async (_what, path) => {
    expect(await attempt({ path })).toMatch(/^(invalidPath|pathNotAllowed)$/);
    expect(existsSync(proof)).toBe(false);
  });

  it.each<[string, string]>([
    ['A7 a link in the place of a folder above it', 'link/listed'],
    ['A7 a link in its own place', 'bin/symlink'],
    ['A7 a folder that others may write', 'open/listed'],
    ['A7 a file that others may write', 'open-file'],
  ])('cannot use a listed path with %s', async (_what, name) => {
    const path = workspace.path(name);
    expect(await attempt({ path }, path)).toBe('pathNotTrusted');
    expect(existsSync(proof)).toBe(false);
  });

  it('cannot pass other bytes under a pinned path, whatever checksum it sends (A17)', async () => {
    const path = workspace.path('bin/pinned');
    expect(await attempt({ path }, path)).toBe('digestNotPinned');
    expect(await attempt({ path, checksumSha256: 'a'.repeat(64) }, path)).toBe('checksumMismatch');
    expect(existsSync(proof)).toBe(false);
  });

  it('cannot swap the file between the check and the start: what was hashed is what runs (A16)', async () => {
    const victim = workspace.path('bin/kube');
    const harmless = startRequest(victim);
    for (let round = 0; round < 20; round += 1) {
      const started = client.startProcess(harmless).then(
        (name) => client.runs.stop(name),
        () => undefined,
      );
      const swapped = workspace.script('evil/swap', 'echo swapped >> "$0.swapped"');
      renameSync(swapped, victim);
      await started;
      workspace.script('bin/kube', source);
    }
    expect(existsSync(workspace.path('bin/rancher-wins-kube.swapped'))).toBe(false);
    expect(existsSync(`${victim}.swapped`)).toBe(false);
  });

  it('cannot plant a program in the working directory (A19)', async () => {
    const planted = workspace.path('planted');
    mkdirSync(planted, { recursive: true });
    for (const name of ['kill', 'sh', 'rancher-wins-listed', 'taskkill.exe']) {
      writeFileSync(path.join(planted, name), `#!/bin/sh\necho planted >> ${planted}/proof\n`, {
        mode: 0o755,
      });
    }
    expect(await attempt({ dir: planted })).toBe('directoryNotAllowed');
    expect(existsSync(path.join(planted, 'proof'))).toBe(false);
  });

  it.each([
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'PATH',
    'BASH_ENV',
    'PYTHONPATH',
    'DYLD_INSERT_LIBRARIES',
  ])('cannot make a listed program load its code by %s (A21)', async (name) => {
    expect(await attempt({ envs: [`${name}=/tmp/evil`] })).toBe('envNotAllowed');
  });

  it('passes arguments as they are, to no shell (A20)', async () => {
    const touched = workspace.path('touched');
    const args = [
      `$(touch ${touched})`,
      `; touch ${touched}`,
      `\`touch ${touched}\``,
      '"\\',
      '&|^%!',
    ];
    const program = workspace.path('bin/kube');
    workspace.script('bin/kube', 'printf "%s\\n" "$@"');
    const name = await client.startProcess({ ...startRequest(program), args });
    const lease = client.keepAlive(name);
    let output = '';
    for await (const { options } of client.waitProcess(name)) {
      if (options?.$case === 'stdOut') output += options.value.toString();
    }
    await lease.end();
    expect(output).toBe(`${args.join('\n')}\n`);
    expect(existsSync(touched)).toBe(false);
  });

  it('cannot write a line of its own into the log (A34)', async () => {
    const forged = '/x\n{"level":"info","msg":"allowed to start","verdict":"allowed"}\u001b[2J';
    await attempt({ path: forged });
    const record = await daemon.logged(({ path: logged }) => logged === forged);
    expect(record).toMatchObject({ level: 'warn', action: 'start', verdict: 'refused' });
    expect(record.msg).toContain('refused to start "/x\\n{');
    expect(daemon.text).not.toContain('\u001b');
  });
});
