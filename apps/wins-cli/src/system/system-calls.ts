/** The files that this one loads are a separate bundle, because most commands need none of their code. */
/* oxlint-disable typescript/no-require-imports */
import type { PipeServerCheck } from '@wins/base';
import type { ConsoleEvents } from '@wins/windows-host';

type WindowsCalls = typeof import('./windows-calls.js');
type LinuxCalls = typeof import('./linux-calls.js');

/** Returns undefined on other systems than Windows. */
export function pipeCheck(): PipeServerCheck | undefined {
  return process.platform === 'win32'
    ? (require('./windows-calls.js') as WindowsCalls).windowsPipeCheck()
    : undefined;
}

/** Returns undefined on other systems than Windows, and without a console. */
export function hearConsole(onEvent: () => void): ConsoleEvents | undefined {
  return process.platform === 'win32'
    ? (require('./windows-calls.js') as WindowsCalls).hearConsole(onEvent)
    : undefined;
}

/** Returns undefined on other systems than Linux, and for a file that has no reader. */
export function readerProbe(fd: number): (() => boolean) | undefined {
  return process.platform === 'linux'
    ? (require('./linux-calls.js') as LinuxCalls).readerProbe(fd)
    : undefined;
}
