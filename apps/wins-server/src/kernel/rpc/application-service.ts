import type { ApplicationServiceServer } from '@wins/wins-api/contract';
import { COMMIT, VERSION } from '@wins/wins-program';

/**
 * Answers which build this is.
 *
 * @param checksum - The SHA-1 of the executable; empty when it could not be read.
 */
export function createApplicationService(checksum: Promise<string>): ApplicationServiceServer {
  return {
    info: (_call, respond) => {
      void checksum.then((Checksum) =>
        respond(null, { Info: { Checksum, Version: VERSION, Commit: COMMIT } }),
      );
    },
  };
}
