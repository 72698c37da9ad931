import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileFingerprint, hashFile, openRegularFile } from '../index.js';

const CONTENT = Buffer.alloc(700_000, 'content');
const digest = (algorithm: string) => createHash(algorithm).update(CONTENT).digest('hex');

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'wins-hash-'));
  file = path.join(folder, 'file');
  writeFileSync(file, CONTENT);
});

afterEach(() => rmSync(folder, { recursive: true }));

it('gives the digests that are asked for, reading once', async () => {
  const blocks: number[] = [];
  const digests = await hashFile(file, ['sha1', 'sha256'], {
    onBlock: (_block, position) => void blocks.push(position),
  });
  expect(digests).toEqual({ sha1: digest('sha1'), sha256: digest('sha256') });
  expect(blocks).toEqual([0, 262_144, 524_288]);
});

it('reads an open file from its beginning, as often as it is asked', async () => {
  const opened = await openRegularFile(file);
  for (const _again of [1, 2]) {
    expect(await hashFile(opened, ['sha256'])).toEqual({ sha256: digest('sha256') });
  }
  await opened.handle.close();
});

it('gives the digest of nothing for an empty file', async () => {
  writeFileSync(file, '');
  const { sha256 } = await hashFile(file, ['sha256']);
  expect(sha256).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

it('ends at the limit, and by its signal', async () => {
  await expect(hashFile(file, ['sha1'], { maxBytes: 699_999 })).rejects.toMatchObject({
    code: 'tooLarge',
  });
  const aborting = new AbortController();
  const reason = new Error('enough');
  const onBlock = (): void => aborting.abort(reason);
  const { signal } = aborting;
  await expect(hashFile(file, ['sha1'], { signal, onBlock })).rejects.toBe(reason);
});

describe('the fingerprint of a file', () => {
  it('is the same until the file changes', () => {
    const before = fileFingerprint(file);
    expect(fileFingerprint(file)).toBe(before);
    writeFileSync(file, 'other');
    expect(fileFingerprint(file)).not.toBe(before);
  });

  it('says that the file is gone or empty', () => {
    writeFileSync(file, '');
    expect(fileFingerprint(file)).toBe('empty');
    rmSync(file);
    expect(fileFingerprint(file)).toBe('gone');
    writeFileSync(file, 'x');
    expect(fileFingerprint(path.join(file, 'below'))).toBe('gone');
  });
});
