/** An invalid command line. The caller that parsed it names the help to read, and chooses the exit code. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Whether an error is a {@link UsageError}; by its name, as each program that is bundled has a class of its own. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError';
}
