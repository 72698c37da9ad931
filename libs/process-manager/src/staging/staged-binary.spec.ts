import type { SignerRule } from '@wins/base';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import {
  expectedDigest,
  copyVerified,
  type StagedBinary,
  type StagingRequest,
} from './staged-binary.js';
import { ProcessError } from '../process-error.js';
import { createPrivateDirectory, digestsOf, type PrivateDirectory } from '../testing/index.js';

async function stageBinary(request: StagingRequest): Promise<StagedBinary> {
  return (await copyVerified(request)).place();
}

describe('copyVerified', () => {
  let directory: PrivateDirectory;
  let source: string;
  let target: string;

  beforeEach(() => {
    directory = createPrivateDirectory();
    source = path.join(directory.path, 'tool');
    target = path.join(directory.path, 'rancher-wins-tool');
    writeFileSync(source, Buffer.alloc(700_000, 'tool'));
  });

  afterEach(() => directory.close());

  function request(overrides: Partial<StagingRequest> = {}): StagingRequest {
    const expected = expectedDigest('', digestsOf(source).sha256);
    const checkpoint = () => undefined;
    return { source, target, expected, pins: undefined, maxBytes: 1e9, checkpoint, ...overrides };
  }

  async function codeOf(overrides: Partial<StagingRequest>): Promise<string> {
    const error: unknown = await stageBinary(request(overrides)).then(
      ({ sha256 }) => sha256,
      (e: unknown) => e,
    );
    expect(readdirSync(directory.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    return error instanceof ProcessError ? error.code : String(error);
  }

  it('copies byte for byte, keeps the original and lets nobody else touch the copy', async () => {
    const before = digestsOf(source);
    await expect(stageBinary(request())).resolves.toMatchObject({ sha256: before.sha256 });
    expect(digestsOf(target)).toEqual(before);
    expect(digestsOf(source)).toEqual(before);
    expect(statSync(target).mode & 0o7777).toBe(0o700);
    expect(readdirSync(directory.path).sort()).toEqual(['rancher-wins-tool', 'tool']);
  });

  it('leaves the final name alone until it is placed, and nothing when it is discarded', async () => {
    writeFileSync(target, 'runs');
    const [first, second] = [await copyVerified(request()), await copyVerified(request())];
    expect(readFileSync(target, 'utf8')).toBe('runs');
    await first.place();
    await second.discard();
    await first.discard();
    expect(digestsOf(target)).toEqual(digestsOf(source));
    expect(readdirSync(directory.path).sort()).toEqual(['rancher-wins-tool', 'tool']);
  });

  it('stages again over an earlier copy', async () => {
    await stageBinary(request());
    writeFileSync(source, 'newer');
    await stageBinary(request());
    expect(readFileSync(target, 'utf8')).toBe('newer');
  });

  it('accepts SHA-1 of an old client in either case of the digits', async () => {
    const expected = expectedDigest(digestsOf(source).sha1.toUpperCase());
    await expect(codeOf({ expected })).resolves.toBe(digestsOf(source).sha256);
  });

  it('lets the stronger digest decide when both are sent (A17)', async () => {
    const expected = expectedDigest(digestsOf(source).sha1, '0'.repeat(64));
    await expect(codeOf({ expected })).resolves.toBe('checksumMismatch');
    expect(existsSync(target)).toBe(false);
  });

  it('refuses bytes that are not pinned, even with the right checksum (A17)', async () => {
    await expect(codeOf({ pins: ['0'.repeat(64)] })).resolves.toBe('digestNotPinned');
    await expect(codeOf({ pins: [digestsOf(source).sha256.toUpperCase()] })).resolves.toBe(
      digestsOf(source).sha256,
    );
  });

  it('refuses a program whose entry requires a signature, unless the check of the copied bytes accepts it (A17)', async () => {
    const wanted = { signedBy: [{ certificate: 'ab'.repeat(32) }] };
    const taken: Buffer[] = [];
    const reader = (found?: string) => () => ({
      take: (block: Buffer) => void taken.push(Buffer.from(block)),
      refuse: ({ signedBy: [signer] }: SignerRule) =>
        Promise.resolve(found && `${found} ${signer?.certificate}`),
    });
    for (const readSignature of [undefined, reader('it has no signature; wanted')])
      await expect(codeOf({ signerRule: wanted, readSignature })).resolves.toBe('notSigned');
    expect(readdirSync(directory.path)).toEqual(['tool']);
    await expect(codeOf({ signerRule: wanted, readSignature: reader() })).resolves.toBe(
      digestsOf(source).sha256,
    );
    const bytes = readFileSync(source);
    expect(Buffer.concat(taken).equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });

  it('keeps the verified copy of before when the new content is refused', async () => {
    await stageBinary(request());
    const verified = digestsOf(target);
    const expected = expectedDigest('', verified.sha256);
    writeFileSync(source, 'changed');
    await expect(codeOf({ expected })).resolves.toBe('checksumMismatch');
    expect(digestsOf(target)).toEqual(verified);
  });

  it('hashes what it wrote: a source swapped half-way gives a mismatch or the old bytes (A16)', async () => {
    let swapped = false;
    const checkpoint = () => {
      if (!swapped) writeFileSync(source, Buffer.alloc(700_000, 'evil'));
      swapped = true;
    };
    const expected = expectedDigest('', digestsOf(source).sha256);
    await expect(codeOf({ expected, checkpoint })).resolves.toBe('checksumMismatch');
    expect(existsSync(target)).toBe(false);
  });

  it('leaves nothing when it is aborted between two blocks', async () => {
    let blocks = 0;
    const checkpoint = () => {
      blocks += 1;
      if (blocks === 3) throw new ProcessError('aborted', 'stop');
    };
    await expect(codeOf({ checkpoint })).resolves.toBe('aborted');
    expect(existsSync(target)).toBe(false);
  });

  it('refuses what is larger than the limit', async () => {
    await expect(codeOf({ maxBytes: 699_999 })).resolves.toBe('stagingFailed');
  });

  it('tells a missing source, a symbolic link and an unusable target apart', async () => {
    symlinkSync(source, path.join(directory.path, 'link'));
    await expect(codeOf({ source: path.join(directory.path, 'none') })).resolves.toBe('notFound');
    await expect(codeOf({ source: path.join(directory.path, 'link') })).resolves.toBe(
      'pathNotTrusted',
    );
    mkdirSync(target);
    await expect(codeOf({})).resolves.toBe('stagingFailed');
    await expect(codeOf({ target: path.join(directory.path, 'no/dir') })).resolves.toBe(
      'stagingFailed',
    );
  });

  it('reports a full disk as stagingFailed with its cause and leaves nothing (F14)', async () => {
    // Simulates a full disk: creating a file with such a long name fails.
    const long = path.join(directory.path, `rancher-wins-${'x'.repeat(240)}`);
    await expect(stageBinary(request({ target: long }))).rejects.toMatchObject({
      code: 'stagingFailed',
      cause: { code: 'ENAMETOOLONG' },
    });
  });

  it('replaces a symbolic link under the final name instead of writing through it (A7)', async () => {
    const victim = path.join(directory.path, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, target);
    await stageBinary(request());
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(digestsOf(target)).toEqual(digestsOf(source));
  });

  it('removes what a crash left half-way, and no file that only looks similar', async () => {
    const child = spawn(process.execPath, ['-e', '0']);
    await once(child, 'exit');
    const file = (writer: number, tail = '') =>
      path.join(directory.path, `.rancher-wins-tool.${writer}-0123456789abcdef.tmp${tail}`);
    const dead = file(child.pid ?? 0);
    const earlierLife = file(process.pid);
    const inProgress = file(process.ppid);
    const similar = file(child.pid ?? 0, 'x');
    for (const name of [dead, earlierLife, inProgress, similar]) writeFileSync(name, 'half');
    await stageBinary(request());
    expect([dead, earlierLife, inProgress, similar].map((name) => existsSync(name))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('keeps a copy in progress when the clock is set forward', async () => {
    const copy = await copyVerified(request());
    jest.useFakeTimers({ now: Date.now() + 86_400_000, doNotFake: ['nextTick', 'setImmediate'] });
    try {
      await stageBinary(request());
      await expect(copy.place()).resolves.toMatchObject({ sha256: digestsOf(source).sha256 });
    } finally {
      jest.useRealTimers();
    }
  });

  describe('where a file can be held (A16)', () => {
    let closed: number;
    const held = () => ({ close: () => (closed += 1) });

    beforeEach(() => {
      closed = 0;
    });

    it('holds the copy under its final name, and until the caller closes it', async () => {
      const seen: string[] = [];
      const hold = (file: string) => {
        seen.push(file, digestsOf(file).sha256);
        return Promise.resolve(held());
      };
      const staged = await stageBinary(request({ hold }));
      expect(seen).toEqual([target, digestsOf(source).sha256]);
      expect(closed).toBe(0);
      staged.close();
      expect(closed).toBe(1);
    });

    it('refuses and lets go of a copy that was changed before it was held', async () => {
      const hold = (file: string) => {
        writeFileSync(file, 'evil');
        return Promise.resolve(held());
      };
      await expect(stageBinary(request({ hold }))).rejects.toMatchObject({
        code: 'stagingFailed',
        rule: 'A16 copy changed',
      });
      expect(closed).toBe(1);
    });

    it('lets go of the copy when it is given up, or cannot be read', async () => {
      let isHeld = false;
      const hold = (file: string) => {
        isHeld = true;
        if (target !== file) throw new Error(file);
        return Promise.resolve(held());
      };
      const checkpoint = () => {
        if (isHeld) throw new ProcessError('aborted', 'stop');
      };
      await expect(codeOf({ hold, checkpoint })).resolves.toBe('aborted');
      const vanish = (file: string) => {
        unlinkSync(file);
        return Promise.resolve(held());
      };
      await expect(codeOf({ hold: vanish })).resolves.toBe('stagingFailed');
      expect(closed).toBe(2);
    });

    it('fails when it cannot be held', async () => {
      const hold = () => Promise.reject(new ProcessError('stagingFailed', 'in use'));
      await expect(codeOf({ hold })).resolves.toBe('stagingFailed');
    });
  });

  it('does not depend on the mode of the original', async () => {
    chmodSync(source, 0o400);
    await stageBinary(request());
    expect(statSync(target).mode & 0o7777).toBe(0o700);
  });
});

describe('expectedDigest', () => {
  it.each([
    ['', ''],
    ['abc', ''],
    ['', 'ab'.repeat(31)],
    ['zz'.repeat(20), 'ab'.repeat(32)],
  ])('refuses sha1 %j with sha256 %j', (sha1, sha256) => {
    expect(() => expectedDigest(sha1, sha256)).toThrow(ProcessError);
  });
});
