import type { WinsClientErrorCode } from './client-error.js';

/** Work of a client for its caller; times are in milliseconds. It contains no part of a message. */
export type CallEvent =
  /** A call wants a connection, and there is none. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly ms: number }
  /** A call goes out, once there is a connection. `call` is its number in this client. */
  | { readonly kind: 'called'; readonly call: number; readonly method: string }
  /** A call has ended: with an answer, or with an error. */
  | {
      readonly kind: 'ended';
      readonly call: number;
      readonly method: string;
      readonly ms: number;
      readonly error?: WinsClientErrorCode;
    };
