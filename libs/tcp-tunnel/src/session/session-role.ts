import type { SessionStream } from '../stream/session-stream.js';
import type { Int64 } from '../wire/varint.js';

/** The answer to a Connect: what to do with the stream that is opened, or the text of a refusal. */
export type Admission =
  | { readonly open: (stream: SessionStream) => void }
  | {
      readonly refusal: string;
      /** The peer was refused too often: what more it sends shall wait. */
      readonly isOverRate: boolean;
    };

/** What differs between the two roles. */
export type SessionRole =
  | { readonly kind: 'client' }
  | {
      readonly kind: 'server';
      /** A Connect came. */
      readonly admit: (address: string, id: Int64) => Admission;
      /** So many ids of a list are looked at for streams that we do not have. */
      readonly mostListed: number;
    };
