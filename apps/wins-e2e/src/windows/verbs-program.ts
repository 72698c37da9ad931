import { inflateSync } from 'node:zlib';

/** See verbs-program.s. */
const BYTES =
  'eNrzjWIgGzgAcYArA0NKGyOK+AcGZQZuJiCDDUlQAIqB2hhhfCaEErhSBYg4CDAzMDTCNMEoTD4Kk6FCkIFBg4H+QC8xJwfuEQEozYSqJoGB4QHDIAMezW88/osuA0aJR+extN0KDGnN' +
  'dkqlHB7Nx5jSdisxpHWzgZmWN0q/vHgDUt/5HSzQbKdQ+i3tOBvIhGNMLy4CpVz4t6s5Nr8x4N/uxtTJKgw28ucuFqCM4w5gVDK4Gp70OO6iogASATE0GqAMA5BD/osKgnUc9ug8aHjp' +
  'v6g0kOdi+aBY3KPzpkev6DawMaCU86IPSLzW9+jlNQYydjGC9f4FGdUrOgFu2QsfILHzPwiIvgAx2cHqtkK93GxbBLK05AVQUxxYEyi+XogDCbAlHs1HPA6DPQn2/+svh4McA4AaNXZ+' +
  'BRvZCg6Kg0BlGo4RUUAJC59eHxUDsP8gvqmGmGJxuLSAK7E4OzWFi1/eBXscvACm2QWC2OW+QsWZhSC0IJRWhtKGUNoBSkdA6QQhVHOyU4vyUnOMjfRSwOnUuSg1sSTVLTMnNRwUMxWZ' +
  'JQFF+cmpxcVAnntqiXN+bm5iXopPZh5YHigCUhqcWZUK4QWXpHgA5XNA3GCQ8rzi/JxU55KiHIgwKHCDc1JTC4B0eFEmxCaGUTAKRsHgAgBiF60m';

/** Returns the Windows program of verbs-program.s, which does what the script of verbs-by-state.ts does. */
export function verbsProgram(): Buffer {
  return inflateSync(Buffer.from(BYTES, 'base64'));
}
