import type { Logger } from '../log/logger.js';
import type { Connections } from '../rpc/connections.js';
import type { Callers } from '../rpc/administrators-only.js';

/** Maximum number of logged client names, because administrators choose them freely. */
const MOST_CLIENTS = 32;

/** Wraps the callers of the main pipe to log once per client that an administrator used this pipe, which is deprecated. */
export function noteAdministrators(
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
  logger: Logger,
  adminPipe: string,
): Callers {
  const noted = new Set<string>();
  return {
    clientOf: (caller) => connections.clientOf(caller),
    ownerOf: (caller) => connections.ownerOf(caller),
    administered: (caller) => {
      const { label = 'a client without a name' } = connections.ownerOf(caller);
      if (noted.has(label) || noted.size >= MOST_CLIENTS) return;
      noted.add(label);
      logger.warn(
        { client: label, adminPipe },
        'deprecated: an administrator used the pipe of containers; use the pipe of administrators, like wins of this release',
      );
    },
  };
}
