import type { status } from '@grpc/grpc-js';
import {
  codeOfStatus,
  ERROR_METADATA_KEY,
  isLostConnection,
  WinsClientError,
} from '../client-error.js';
import type { UnaryOutcome } from './unary-transport.js';

/** The number of a status, as grpc-js calls it. */
const grpcCodeOf = (code: unknown): status => code as status;

const UNAVAILABLE = 14;

/** Translates how a call ended that has no answer. */
export function outcomeError(
  outcome: Exclude<UnaryOutcome, { readonly kind: 'answered' }>,
  call: { readonly method: string; readonly address: string },
): WinsClientError {
  switch (outcome.kind) {
    case 'failed': {
      const { details, trailers } = outcome;
      const reason = trailers.get(ERROR_METADATA_KEY);
      const known = { ...call, details, grpcCode: grpcCodeOf(outcome.status) };
      if (reason === undefined && isLostConnection(outcome.status, details))
        return new WinsClientError('unavailable', { ...known, connectionLost: true });
      return new WinsClientError(codeOfStatus(outcome.status, details), {
        ...known,
        ...(reason !== undefined && { reason }),
      });
    }
    case 'notTaken': {
      const { reason, cause } = outcome;
      const details = `no connection: ${reason}`;
      return new WinsClientError('unavailable', {
        ...call,
        details,
        grpcCode: grpcCodeOf(UNAVAILABLE),
        cause,
      });
    }
    case 'lost': {
      const details = `found the connection ended (${outcome.reason}); wanted an answer`;
      const known = { ...call, details, grpcCode: grpcCodeOf(UNAVAILABLE) };
      return new WinsClientError('unavailable', { ...known, connectionLost: true });
    }
  }
}
