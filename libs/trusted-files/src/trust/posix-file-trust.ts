import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { errnoOf } from '@wins/base';
import { fileSystemError } from '../file-system-error.js';
import { distrusted } from '../trusted-file-error.js';
import type { Distrust, FileTrust, TrustOptions } from './file-trust.js';
import { judgePosixStep, loopAt, MAX_LINKS, type StepKind } from './judge-posix-step.js';

/**
 * Trust by owner and mode: every part of the path must belong to root or `ownUid` (default: the effective user), and nobody else
 * may write to it. Checks the parts from the root down, so that no untrusted user can replace a part after its check. Trusts
 * nothing on Windows, where Node reports neither owner nor mode.
 */
export function posixFileTrust(ownUid: number = process.geteuid?.() ?? 0): FileTrust {
  if (process.platform === 'win32') return TRUSTS_NOTHING;
  return {
    distrustOfFile: (file, options) => walk(file, 'file', ownUid, options),
    distrustOfFolder: (folder, options) => walk(folder, 'folder', ownUid, options),
    distrustOfPrivateFolder: (folder) => walkToPrivateFolder(folder, ownUid, lookIfThere),
    ensurePrivateFolder: (folder) => {
      const distrust = walkToPrivateFolder(folder, ownUid, makeOrLook);
      if (distrust === undefined) return;
      throw distrusted('keep private files in', path.posix.resolve(folder), distrust);
    },
  };
}

const unknown = (path: string): Distrust => ({
  rule: 'A7 writable by other users',
  path,
  found: 'on Windows, owner and mode do not show who can write to it',
  remedy: 'pass the trust windowsFileTrust() of @wins/windows-host',
});
const TRUSTS_NOTHING: FileTrust = {
  distrustOfFile: unknown,
  distrustOfFolder: unknown,
  distrustOfPrivateFolder: unknown,
  ensurePrivateFolder: (folder) => {
    throw distrusted('keep private files in', folder, unknown(folder));
  },
};

function walk(
  asked: string,
  wanted: 'file' | 'folder',
  ownUid: number,
  { followLinks = false }: TrustOptions = {},
): Distrust | undefined {
  const names = namesOf(path.posix.isAbsolute(asked) ? asked : `${process.cwd()}/${asked}`);
  let at = '/';
  for (let links = 0; ;) {
    const stats = look(asked, at);
    const isLast = names.length === 0;
    if (followLinks && stats.isSymbolicLink()) {
      const distrust = distrustOfStep(stats, at, 'link', ownUid);
      if (distrust !== undefined) return distrust;
      links += 1;
      if (links > MAX_LINKS) return loopAt(at);
      const target = inspecting(asked, () => readlinkSync(at));
      names.unshift(...namesOf(target));
      at = path.posix.isAbsolute(target) ? '/' : path.posix.dirname(at);
      continue;
    }
    if (isLast && wanted === 'file' && at !== '/') {
      // The file's own folder was checked as `above`, which allows a sticky folder. Check it again as `folder`, which does not.
      const folder = path.posix.dirname(at);
      const distrust = distrustOfStep(look(asked, folder), folder, 'folder', ownUid);
      if (distrust !== undefined) return distrust;
    }
    const distrust = distrustOfStep(stats, at, isLast ? wanted : 'above', ownUid);
    if (distrust !== undefined || isLast) return distrust;
    // No part so far is a link, so `dirname` gives the real parent.
    const name = names.shift() ?? '';
    at = name === '..' ? path.posix.dirname(at) : path.posix.join(at, name);
  }
}

function distrustOfStep(
  stats: Stats,
  at: string,
  kind: StepKind,
  ownUid: number,
): Distrust | undefined {
  const fault = judgePosixStep(stats, kind, ownUid);
  return fault && { ...fault, path: at };
}

/** Calls `take` for a folder only if each folder above is safe, so that no link can redirect it. */
function walkToPrivateFolder(
  asked: string,
  ownUid: number,
  take: (asked: string, at: string) => Stats | undefined,
): Distrust | undefined {
  const folder = path.posix.resolve(asked);
  const names = namesOf(folder);
  let at = '/';
  for (;;) {
    const isLast = names.length === 0;
    const stats = take(folder, at);
    if (stats === undefined) return undefined;
    const distrust = distrustOfStep(stats, at, isLast ? 'privateFolder' : 'above', ownUid);
    if (distrust !== undefined || isLast) return distrust;
    at = path.posix.join(at, names.shift() ?? '');
  }
}

function lookIfThere(asked: string, at: string): Stats | undefined {
  return inspecting(asked, () => lstatSync(at, { throwIfNoEntry: false }));
}

function makeOrLook(asked: string, at: string): Stats {
  try {
    const there = lstatSync(at, { throwIfNoEntry: false });
    if (there !== undefined) return there;
    try {
      mkdirSync(at, { mode: 0o700 });
    } catch (error) {
      // Another process has created it; the next check judges the owner.
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    return lstatSync(at);
  } catch (error) {
    throw fileSystemError(error, 'make the folder', asked);
  }
}

function look(asked: string, at: string): Stats {
  return inspecting(asked, () => lstatSync(at));
}

function inspecting<T>(asked: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileSystemError(error, 'inspect', asked);
  }
}

function namesOf(text: string): string[] {
  return text.split('/').filter((name) => name !== '' && name !== '.');
}
