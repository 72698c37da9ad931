import type { ChannelStream } from './channel-stream.js';
import type { Int64 } from './wire/varint.js';

/** What differs between the two roles. */
export type SessionRole =
  | { readonly kind: 'client' }
  | {
      readonly kind: 'server';
      /** A Connect came: the text of a refusal, or what to do with the channel that is opened. */
      readonly admit: (address: string, id: Int64) => string | ((channel: ChannelStream) => void);
      /** So many ids of a list are looked at for streams that we do not have. */
      readonly mostListed: number;
    };
