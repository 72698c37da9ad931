import { chmod, chown, lchown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { readConnectionInfo } from './connecting-store.js';

const INFO = JSON.stringify({
  kubeConfig: JSON.stringify({
    'current-context': 'agent',
    clusters: [{ name: 'agent', cluster: { server: 'https://rancher' } }],
    contexts: [{ name: 'agent', context: { cluster: 'agent', user: 'agent' } }],
    users: [{ name: 'agent', user: { token: 'canary-of-a-token' } }],
  }),
  namespace: 'fleet-default',
  secretName: 'plan',
});

let folder: string;
let file: string;

beforeEach(async () => {
  // `readConnectionInfo` refuses files directly in the system's temporary folder, which is world-writable.
  folder = await mkdtemp(path.join(tmpdir(), 'connection-'));
  file = path.join(folder, 'connection.json');
});
afterEach(() => rm(folder, { recursive: true }));

async function read(info: string | Buffer) {
  await writeFile(file, info, { mode: 0o600 });
  return readConnectionInfo(file, posixFileTrust());
}

async function refusal(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'AgentError', code: 'invalidConnection' });
  const { message } = error as Error;
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + message).not.toContain(
    'canary',
  );
  expect(message).toMatch(
    /^cannot use the connection info "[^"]*connection\.json"(?: because of "[^"]*")?: /,
  );
  return message;
}

describe('the file of the connection info', () => {
  it('names the server and the Secret', async () => {
    const info = await read(INFO);
    expect([info.access.server.href, info.namespace, info.secretName, info.warnings]).toEqual([
      'https://rancher/',
      'fleet-default',
      'plan',
      [],
    ]);
  });

  it.each([
    ['a text that cannot be used', INFO.replace('agent', 'other'), /found no entry/],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0]), /wanted UTF-8/],
    ['more than a mebibyte', ' '.repeat(1_048_577), /it has more than 1048576 bytes/],
  ])('is refused with %s', async (_title, text, message) => {
    expect(await refusal(read(text))).toMatch(message);
  });

  it('is refused when the file is missing', async () => {
    const reading = readConnectionInfo(file, posixFileTrust());
    expect(await refusal(reading)).toMatch(/: there is no such file or folder$/);
  });

  it('is refused where another user owns it', async () => {
    await read(INFO);
    const uid = process.geteuid?.() ?? 0;
    // Root's files are always trusted, so root gives the file another owner. Other users cannot do that, so they check with another uid.
    if (uid === 0) await chown(file, 12_345, 12_345);
    const trust = posixFileTrust(uid === 0 ? 0 : uid + 1);
    expect(await refusal(readConnectionInfo(file, trust))).toMatch(/belongs to/);
  });

  it('is refused where others could have written it', async () => {
    await read(INFO);
    await chmod(file, 0o666);
    expect(await refusal(readConnectionInfo(file, posixFileTrust()))).toMatch(/writ/);
  });

  describe('behind a link', () => {
    let link: string;
    const linked = (name = link) => readConnectionInfo(name, posixFileTrust());

    beforeEach(async () => {
      await read(INFO);
      link = path.join(folder, 'link-to-connection.json');
    });

    it('is used, whether the link is the file or a folder above it', async () => {
      const wanted = await linked(file);
      await symlink(file, link);
      expect(await linked()).toEqual(wanted);
      const disk = path.join(folder, 'disk');
      await symlink('.', disk);
      expect(await linked(path.join(disk, 'link-to-connection.json'))).toEqual(wanted);
    });

    it('is refused if others could replace the link, or a folder on the way, and the message names it', async () => {
      const open = path.join(folder, 'open');
      await mkdir(open);
      await symlink(file, path.join(open, 'connection.json'));
      // Independent of the process's creation mask.
      await chmod(open, 0o777);
      const message = await refusal(linked(path.join(open, 'connection.json')));
      expect(message).toContain(
        `" because of "${open}": group or others can write to it (mode 0777); remove that right with chmod go-w`,
      );
      const target = path.join(open, 'target-connection.json');
      await writeFile(target, INFO, { mode: 0o600 });
      await symlink(target, link);
      expect(await refusal(linked())).toContain(`because of "${open}": group or others can write`);
    });

    it('is refused if others can write the target, own it, or made the link', async () => {
      await symlink(file, link);
      await chmod(file, 0o666);
      expect(await refusal(linked())).toContain(`because of "${file}": group or others can write`);
      await chmod(file, 0o600);
      const uid = process.geteuid?.() ?? 0;
      if (uid === 0) await chown(file, 12_345, 12_345);
      const trust = posixFileTrust(uid === 0 ? 0 : uid + 1);
      expect(await refusal(readConnectionInfo(link, trust))).toMatch(/belongs to user/);
      if (uid !== 0) return;
      await chown(file, 0, 0);
      await lchown(link, 12_345, 12_345);
      expect(await refusal(linked())).toMatch(/belongs to user 12345/);
    });

    it('is refused where links lead in a circle, or to nothing', async () => {
      await symlink('link-to-connection.json', link);
      expect(await refusal(linked())).toMatch(/: links lead in a circle, or more than 40 /);
      await rm(link);
      await symlink('none', link);
      expect(await refusal(linked())).toMatch(/: there is no such file or folder$/);
    });

    it('is refused on Windows, and the message says what to set', async () => {
      const at = 'C:\\var\\lib\\rancher';
      const rule = 'A7 link or junction' as const;
      const trust = {
        distrustOfFile: () => ({ rule, path: at, found: 'it is a link or a junction' }),
      };
      expect(await refusal(readConnectionInfo(file, trust))).toMatch(
        /because of "C:.*rancher": it is a link or a junction\. Set systemagent\.connectionInfoFile to the path without the link$/,
      );
    });
  });
});
