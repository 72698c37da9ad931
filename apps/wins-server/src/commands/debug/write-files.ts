import type { MethodDefinition } from '@grpc/grpc-js';
import { writeNewPrivateFile } from '@wins/trusted-files';
import { debugServiceDefinition, type DebugPiece } from '@wins/wins-api/contract';
import { EXIT, quoteText, type Answer } from '@wins/base';
import path from 'node:path';
import { DaemonCallError } from '../../daemon-call-error.js';
import { listenForShutdown } from '../../service/shutdown-signal.js';
import { thisSystem } from '../../this-system.js';
import type { RunningDaemonOptions } from '../running-daemon.js';
import { receive, type SecondsOptions } from './receive.js';

export interface FileAnswerOptions extends RunningDaemonOptions {
  readonly file: string;
}

/** Maximum file size in bytes; the rest of a larger answer is not written. Answers of the daemon are smaller. */
const LARGEST_FILE_BYTES = 2 ** 31;

export function writeHeap(options: FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.heap, {}, options);
}

export function writeCpu(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.cpu, { Seconds: options.seconds }, options);
}

export function writeTrace(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.trace, { Seconds: options.seconds }, options);
}

/** Writes an answer into a new private file; an interruption leaves no file. */
async function writeAnswer<Request>(
  method: MethodDefinition<Request, DebugPiece>,
  request: NoInfer<Request>,
  options: FileAnswerOptions,
): Promise<Answer> {
  const file = path.resolve(options.file);
  const { createPrivateFile: create } = await thisSystem();
  using interruption = listenForShutdown();
  const interrupted = new AbortController();
  void interruption.requested.then(() => interrupted.abort());
  const { signal } = interrupted;
  let sizeBytes = 0;
  try {
    await writeNewPrivateFile(
      file,
      async (take) => {
        const receiver = { mostBytes: LARGEST_FILE_BYTES, take, signal };
        sizeBytes = await receive(options, method, request, receiver);
      },
      { create },
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = `cannot write ${quoteText(file)}: interrupted before the whole answer arrived. Nothing was written`;
    throw new DaemonCallError(message, EXIT.server.internal, { cause: error });
  }
  const text = `${quoteText(file)}: ${sizeBytes} bytes\n`;
  return { value: { file, bytes: sizeBytes }, text, names: [file] };
}
