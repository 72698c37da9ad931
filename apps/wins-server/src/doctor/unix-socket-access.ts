import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { PipeAccess } from './doctor-probe.js';

const PERMISSIONS = 0o777;
const OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/** Reads who may open a socket, and who may put another in its place. @throws what `lstat` throws */
export async function unixSocketAccess(address: string): Promise<PipeAccess> {
  const socket = await lstat(address);
  const folder = await lstat(path.dirname(address));
  const ownUid = process.geteuid?.() ?? 0;
  const faults: string[] = [];
  if (!socket.isSocket()) faults.push('it is no socket');
  if ((socket.mode & OTHERS) !== 0)
    faults.push('others than its owner may open it; wanted mode 600');
  if (!isTrusted(socket, ownUid))
    faults.push(`user ${socket.uid} owns it; wanted root or this user`);
  if ((folder.mode & WRITABLE_BY_OTHERS) !== 0 || !isTrusted(folder, ownUid)) {
    faults.push('others may put another in its place: its folder is theirs to write');
  }
  return { found: `mode ${(socket.mode & PERMISSIONS).toString(8)}, user ${socket.uid}`, faults };
}

function isTrusted({ uid }: Stats, ownUid: number): boolean {
  return uid === 0 || uid === ownUid;
}
