import { messageOf } from '@wins/wins-program';
import { decodeAdapters, type AdapterEntry } from './ip-adapter-addresses.js';
import {
  AF_UNSPEC,
  ERROR_BUFFER_OVERFLOW,
  ERROR_NO_DATA,
  GAA_FLAG_SKIP_ANYCAST,
  GAA_FLAG_SKIP_DNS_SERVER,
  GAA_FLAG_SKIP_MULTICAST,
  ipHelper,
} from '../win32/ip-helper.js';
import { systemError, WindowsError } from '../windows-error.js';

// What the documentation advises to begin with.
const FIRST_SIZE_BYTES = 15_000;
const MAX_SIZE_BYTES = 64 * 1024 * 1024;
// Adapters may come between two calls, but not forever.
const MAX_TRIES = 5;

/**
 * Lists the network adapters of the host, with IPv4 and IPv6.
 *
 * @throws WindowsError `unavailable`; `unknown` when their number kept growing, or the answer is invalid.
 */
export function networkAdapters(): readonly AdapterEntry[] {
  const { koffi, GetAdaptersAddresses } = ipHelper();
  return readAdapters({
    call: (buffer, size) =>
      GetAdaptersAddresses(
        AF_UNSPEC,
        GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER,
        null,
        buffer,
        size,
      ),
    addressOf: (buffer) => koffi.address(buffer),
  });
}

/** The one call that lists adapters, and where in memory it wrote them. */
export interface AdapterListing {
  /** Fills the buffer; says in `size` how large it should be when it is too small. */
  readonly call: (buffer: Buffer, size: [number]) => number;
  readonly addressOf: (buffer: Buffer) => bigint;
}

/** Calls with a larger buffer for as long as the system asks for one, within bounds. */
export function readAdapters({ call, addressOf }: AdapterListing): readonly AdapterEntry[] {
  const tried = 'listed the network adapters';
  const functionName = 'GetAdaptersAddresses';
  let room = FIRST_SIZE_BYTES;
  for (let tries = 0; tries < MAX_TRIES && room <= MAX_SIZE_BYTES; tries += 1) {
    const buffer = Buffer.alloc(room);
    const size: [number] = [room];
    const status = call(buffer, size);
    if (status === ERROR_NO_DATA) return [];
    if (status === 0) {
      try {
        return decodeAdapters(buffer, addressOf(buffer));
      } catch (cause) {
        const found = messageOf(cause);
        throw new WindowsError('unknown', `${tried}: ${functionName} wrote nonsense: ${found}`, {
          cause,
        });
      }
    }
    if (status !== ERROR_BUFFER_OVERFLOW) {
      throw systemError(tried, { functionName, errorNumber: status });
    }
    room = Math.max(size[0], room + 1);
  }
  const found = `${functionName} asked for ${room} bytes after ${MAX_TRIES} tries`;
  throw new WindowsError('unknown', `${tried}: ${found}; wanted at most ${MAX_SIZE_BYTES}`);
}
