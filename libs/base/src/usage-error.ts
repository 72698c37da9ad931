/** An invalid command line. The code that catches it names the help to read and chooses the exit code. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Compares by name, because each bundled program has its own copy of {@link UsageError}. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError';
}
