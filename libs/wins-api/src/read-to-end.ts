interface CancellableStream<T> extends AsyncIterable<T> {
  cancel(): void;
}

/**
 * Iterates the messages of a streaming call, and then waits for `result`. If `result` rejects, the iteration throws
 * the same error; otherwise the iteration ends. Leaving the loop early cancels the call.
 */
export function readToEnd<T>(
  call: CancellableStream<T> | undefined,
  result: Promise<void>,
): AsyncIterable<T> {
  // The iterator throws the failure later; until then nobody observes the promise.
  result.catch(() => undefined);
  return iterate(call, result);
}

async function* iterate<T>(
  call: CancellableStream<T> | undefined,
  result: Promise<void>,
): AsyncGenerator<T, void, void> {
  try {
    if (call !== undefined) yield* call;
  } catch {
    // Throw the error of `result`: the stream's error is the same failure in grpc-js terms.
    await result;
  } finally {
    call?.cancel();
  }
  await result;
}
