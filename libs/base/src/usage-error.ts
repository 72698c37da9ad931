/** An invalid command line. The code that catches this error chooses the exit code and tells the user which help to read. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Compares by name, because each bundled program has its own copy of {@link UsageError}. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError';
}
