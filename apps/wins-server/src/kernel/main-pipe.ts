import { routeGrpcLog } from '@wins/wins-api';
import { slowTurnLog } from './admission/slow-turn-watch.js';
import { ServedPipe, type PipeParts } from './served-pipe.js';
import { collectReads } from './service-runtime/memory/memory-return.js';

const MIB = 1024 * 1024;
/**
 * Connections of the gRPC pipe: a client has work for few, and one that takes them all must not
 * keep others out.
 */
const PLACES = { places: 1024, placesPerClient: 256, greetings: 256 };
/** What all clients together may take. */
const ROOM = { name: 'main', inboundOctets: 64 * MIB, outboundOctets: 128 * MIB } as const;

/** The pipe of containers. */
export function mainPipe(parts: PipeParts): ServedPipe {
  const { logger } = parts;
  routeGrpcLog((line) => logger.debug({ line }, 'gRPC'));
  return new ServedPipe({
    ...{ what: 'gRPC pipe', places: PLACES, room: ROOM, read: collectReads() },
    turnEnded: slowTurnLog(logger),
    ...parts,
  });
}
