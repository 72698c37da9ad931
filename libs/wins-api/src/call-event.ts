import type { WinsClientErrorCode } from './client-error.js';

/** Progress of connections and calls, without the contents of messages. Times are in milliseconds. */
export type CallEvent =
  /** A call needs a connection, and none is open. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly ms: number }
  /** A call was made. It may still wait for a connection before it is sent. `call` is its number within this client. */
  | { readonly kind: 'called'; readonly call: number; readonly method: string }
  | {
      readonly kind: 'ended';
      readonly call: number;
      readonly method: string;
      readonly ms: number;
      readonly error?: WinsClientErrorCode | undefined;
    };
