import { type PipeServerCheck, quoteText } from '@wins/base';
import { connectPipe } from '@wins/pipe-transport';
import type { FileTrust } from '@wins/trusted-files';
import { lstat } from 'node:fs/promises';
import path from 'node:path';

/** Connects to a socket only if its server must be this user or root: one of them owns the socket, and nobody else can replace it. */
export function ownSocketCheck(trust: FileTrust): PipeServerCheck {
  return {
    open: async ({ address }, signal) => {
      const { uid } = await lstat(address);
      if (uid !== 0 && uid !== process.geteuid?.())
        throw untrusted(`user ${uid} owns its socket; wanted root or this user`);
      const distrust = trust.distrustOfFolder(path.dirname(address));
      if (distrust !== undefined)
        throw untrusted(`others can replace it: ${quoteText(distrust.path)}: ${distrust.found}`);
      return connectPipe(address, { signal });
    },
  };
}

function untrusted(found: string): Error {
  const error = new Error(`its server is not trusted: ${found}`);
  return Object.assign(error, { code: 'ERR_UNTRUSTED_PIPE_SERVER' });
}
