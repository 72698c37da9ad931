import type { ApplicationServiceServer } from '@wins/wins-api';
import { sha1OfFile } from '../sha1-of-file.js';
import { COMMIT, VERSION } from '../version.js';

/**
 * Answers which build this is. The executable is hashed at the start: an upgrade replaces the file
 * while the old daemon still runs.
 */
export function createApplicationService(executable: string): ApplicationServiceServer {
  const checksum = sha1OfFile(executable).catch(() => '');
  return {
    info: (_call, respond) => {
      void checksum.then((Checksum) =>
        respond(null, { Info: { Checksum, Version: VERSION, Commit: COMMIT } }),
      );
    },
  };
}
