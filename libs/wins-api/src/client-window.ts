/**
 * The stream window of the client of this project, in octets: just under 1 MiB. Large, because the default of 64 KiB makes
 * a stream wait for its reader five times as long; odd, because older daemons tell this client by it from a Go client,
 * whose octets they look at one by one.
 */
export const WINS_CLIENT_WINDOW_BYTES = 0xffffd;
