const CODES = {
  notFound: true,
  invalidArgument: true,
  notGranted: true,
  unavailable: true,
  accessDenied: true,
  notVerified: true,
  unknown: true,
} as const;

/** Every way in which a host system refuses or fails; the list is closed. */
export type HostSystemErrorCode = keyof typeof CODES;

/** The code of an error of a host system, whatever its class; undefined for any other value. */
export function hostSystemErrorCode(error: unknown): HostSystemErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && Object.hasOwn(CODES, code)
    ? (code as HostSystemErrorCode)
    : undefined;
}
