import type { WinsClientErrorCode } from './client-error.js';

/** Progress of a client's connections and calls; times are in milliseconds. Contains no part of a message. */
export type CallEvent =
  /** A call needs a connection, and none is open. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly ms: number }
  /** A call was made; it is sent once a connection is open. `call` is its number within this client. */
  | { readonly kind: 'called'; readonly call: number; readonly method: string }
  /** A call ended, with an answer or an error. */
  | {
      readonly kind: 'ended';
      readonly call: number;
      readonly method: string;
      readonly ms: number;
      readonly error?: WinsClientErrorCode;
    };
