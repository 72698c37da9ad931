interface CancellableStream<T> extends AsyncIterable<T> {
  cancel(): void;
}

/**
 * Iterates the messages of a streaming call and ends as `result` does: in peace, or with its error. Leaving the loop early
 * cancels the call. Without a call there are no messages.
 */
export function readToEnd<T>(
  call: CancellableStream<T> | undefined,
  result: Promise<void>,
): AsyncIterable<T> {
  // The iterator learns of a failure; before it there is nobody to tell.
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
    // The stream tells the same in the words of grpc-js.
    await result;
  } finally {
    call?.cancel();
  }
  await result;
}
