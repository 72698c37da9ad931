import { routeGrpcLog } from '@wins/wins-api';
import { slowTurnLog } from './admission/slow-turn-watch.js';
import { ServedPipe, type PipeParts } from './served-pipe.js';
import { collectReads } from './service-runtime/memory/memory-return.js';

/** The pipe of containers. */
export function mainPipe(parts: PipeParts): ServedPipe {
  const { logger } = parts;
  routeGrpcLog((line) => logger.debug({ line }, 'gRPC'));
  return new ServedPipe({
    ...{ kind: 'main', what: 'gRPC pipe', read: collectReads() },
    turnEnded: slowTurnLog(logger),
    ...parts,
  });
}
