/**
 * The structures that the service control manager takes and gives, with what their pointers lead to in the same memory.
 */
import { loadKoffi } from '../win32/calls/system-library.js';
import {
  ONE_TEXT,
  QUERY_SERVICE_CONFIGW,
  SC_ACTION,
  SERVICE_FAILURE_ACTIONSW,
} from '../win32/structures.js';
import type { FailurePolicy } from './service-definition.js';

/** SC_ACTION_RESTART. */
const RESTART = 1;

/**
 * A SERVICE_FAILURE_ACTIONSW followed by its actions. The system repeats the last action when there were more failures
 * than actions, so a list of restarts never gives up.
 */
export function failureActions({ restartDelaysMs, resetAfterSeconds }: FailurePolicy): Buffer {
  const actions = restartDelaysMs.map((Delay) => SC_ACTION.create({ Type: RESTART, Delay }));
  const fields = { dwResetPeriod: resetAfterSeconds, cActions: actions.length };
  const memory = Buffer.concat([SERVICE_FAILURE_ACTIONSW.create(fields), ...actions]);
  const lpsaActions = addressOf(memory) + BigInt(SERVICE_FAILURE_ACTIONSW.sizeBytes);
  SERVICE_FAILURE_ACTIONSW.write(memory, { lpsaActions });
  return memory;
}

/** A structure of one 32-bit number, a BOOL or a time. */
export function oneNumber(value: number): Buffer {
  const memory = Buffer.alloc(4);
  memory.writeUInt32LE(value);
  return memory;
}

/** A structure of one string, such as SERVICE_DESCRIPTIONW. */
export function oneText(text: string): Buffer {
  const memory = Buffer.concat([ONE_TEXT.create({}), Buffer.from(`${text}\0`, 'utf16le')]);
  ONE_TEXT.write(memory, { text: addressOf(memory) + BigInt(ONE_TEXT.sizeBytes) });
  return memory;
}

/** Strings one after the other, and an empty one. */
export function multiString(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.map((text) => `${text}\0`).join('')}\0\0`, 'utf16le');
}

/** What a QUERY_SERVICE_CONFIGW says. */
export interface RawServiceConfig {
  readonly startType: number;
  readonly commandLine: string;
  readonly dependencies: readonly string[];
  readonly account: string;
  readonly displayName: string;
}

/** Reads a QUERY_SERVICE_CONFIGW; nothing outside of `memory` is read, whatever its pointers say. */
export function parseServiceConfig(memory: Buffer): RawServiceConfig {
  const config = QUERY_SERVICE_CONFIGW.read(memory);
  return {
    startType: config.dwStartType,
    commandLine: textAt(memory, offsetOf(memory, config.lpBinaryPathName)),
    dependencies: textsAt(memory, offsetOf(memory, config.lpDependencies)),
    account: textAt(memory, offsetOf(memory, config.lpServiceStartName)),
    displayName: textAt(memory, offsetOf(memory, config.lpDisplayName)),
  };
}

/** Reads a structure of one string. */
export function parseOneText(memory: Buffer): string {
  return textAt(memory, offsetOf(memory, ONE_TEXT.read(memory).text));
}

/** What a SERVICE_FAILURE_ACTIONSW says. */
export function parseFailureActions(memory: Buffer): FailurePolicy {
  const { dwResetPeriod, cActions, lpsaActions } = SERVICE_FAILURE_ACTIONSW.read(memory);
  const restartDelaysMs: number[] = [];
  const first = offsetOf(memory, lpsaActions);
  for (let index = 0; index < cActions; index++) {
    const at = first + index * SC_ACTION.sizeBytes;
    if (at < 0 || at + SC_ACTION.sizeBytes > memory.length) break;
    const { Type, Delay } = SC_ACTION.read(memory, at);
    if (Type !== RESTART) break;
    restartDelaysMs.push(Delay);
  }
  return { restartDelaysMs, resetAfterSeconds: dwResetPeriod };
}

function textsAt(memory: Buffer, offset: number): readonly string[] {
  const texts: string[] = [];
  for (let at = offset; ;) {
    const text = textAt(memory, at);
    if (text === '') return texts;
    texts.push(text);
    at += (text.length + 1) * 2;
  }
}

function textAt(memory: Buffer, offset: number): string {
  if (offset < 0 || offset >= memory.length) return '';
  const text = memory.subarray(offset).toString('utf16le');
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function addressOf(memory: Buffer): bigint {
  return loadKoffi().address(memory);
}

/** Where in memory a pointer leads; -1 for one that leads nowhere. */
function offsetOf(memory: Buffer, pointer: bigint | null): number {
  return pointer === null ? -1 : Number(pointer - addressOf(memory));
}
