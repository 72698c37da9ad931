import type { MethodDefinition } from '@grpc/grpc-js';
import type { DebugPiece } from '@wins/wins-api/contract';
import { EXIT } from '@wins/base';
import { DaemonCallError } from '../../daemon-call-error.js';
import { askRunningDaemon, type Question, type RunningDaemonOptions } from '../running-daemon.js';

export interface SecondsOptions extends RunningDaemonOptions {
  readonly seconds: number;
}

/** Query for diagnostics of the running daemon: exit code 64 for an invalid request, 70 when the daemon cannot answer it. */
export const DIAGNOSIS: Question = {
  asker: 'wins srv debug',
  pipe: 'admin',
  exitCode: (code) => {
    if (code === 'refused') return undefined;
    return code === 'invalidRequest' ? EXIT.server.usage : EXIT.server.internal;
  },
};

export interface Receiver {
  /** Maximum size; the rest of a larger answer is refused. Answers of a daemon are smaller. */
  readonly mostBytes: number;
  readonly take: (piece: Buffer, position: number) => Promise<void> | void;
  /** Aborts the call early. Default: no signal. */
  readonly signal?: AbortSignal;
}

/** Receives an answer in chunks; resolves with its size. @throws DaemonCallError with exit code 70 when it is too large. */
export async function receive<Request>(
  options: RunningDaemonOptions,
  method: MethodDefinition<Request, DebugPiece>,
  request: NoInfer<Request>,
  { mostBytes, take, signal: ended = new AbortController().signal }: Receiver,
): Promise<number> {
  let sizeBytes = 0;
  const question = { ...DIAGNOSIS, timeoutMs: Infinity, signal: ended };
  await askRunningDaemon(
    options,
    async (client, signal) => {
      for await (const { Data } of client.stream(method, request, { signal })) {
        const position = sizeBytes;
        sizeBytes += Data.length;
        if (sizeBytes > mostBytes) {
          const message = `cannot use the answer of the daemon: it exceeds ${mostBytes} bytes`;
          throw new DaemonCallError(message, EXIT.server.internal);
        }
        await take(Data, position);
      }
    },
    question,
  );
  return sizeBytes;
}
