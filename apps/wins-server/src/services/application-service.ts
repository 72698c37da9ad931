import type { ApplicationServiceServer } from '@wins/wins-api';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { COMMIT, VERSION } from '../version.js';

/**
 * Answers which build this is. The executable is hashed at the start: an upgrade replaces the file
 * while the old daemon still runs.
 */
export function createApplicationService(executable: string): ApplicationServiceServer {
  const checksum = sha1(executable).catch(() => '');
  return {
    info: (_call, respond) => {
      void checksum.then((Checksum) =>
        respond(null, { Info: { Checksum, Version: VERSION, Commit: COMMIT } }),
      );
    },
  };
}

async function sha1(file: string): Promise<string> {
  const hash = createHash('sha1');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
