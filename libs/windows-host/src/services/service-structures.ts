/**
 * The structures that the service control manager takes and gives, as bytes: x64 layout, pointers into the same memory.
 */
import type { FailurePolicy } from './service-definition.js';

/** Where memory begins, as the system sees it. */
export type AddressOf = (memory: Buffer) => bigint;

/** SC_ACTION_RESTART. */
const RESTART = 1;
const FAILURE_ACTIONS_SIZE = 40;
const ACTION_SIZE = 8;

/**
 * A SERVICE_FAILURE_ACTIONSW followed by its actions. The system repeats the last action when there were more failures
 * than actions, so a list of restarts never gives up.
 */
export function failureActions(policy: FailurePolicy, addressOf: AddressOf): Buffer {
  const { restartDelaysMs, resetAfterSeconds } = policy;
  const memory = Buffer.alloc(FAILURE_ACTIONS_SIZE + restartDelaysMs.length * ACTION_SIZE);
  memory.writeUInt32LE(resetAfterSeconds, 0);
  memory.writeUInt32LE(restartDelaysMs.length, 24);
  memory.writeBigUInt64LE(addressOf(memory) + BigInt(FAILURE_ACTIONS_SIZE), 32);
  for (const [index, delayMs] of restartDelaysMs.entries()) {
    const at = FAILURE_ACTIONS_SIZE + index * ACTION_SIZE;
    memory.writeUInt32LE(RESTART, at);
    memory.writeUInt32LE(delayMs, at + 4);
  }
  return memory;
}

/** A structure of one 32-bit number, a BOOL or a time. */
export function oneNumber(value: number): Buffer {
  const memory = Buffer.alloc(4);
  memory.writeUInt32LE(value);
  return memory;
}

/** A structure of one string, such as SERVICE_DESCRIPTIONW. */
export function oneText(text: string, addressOf: AddressOf): Buffer {
  const memory = Buffer.concat([Buffer.alloc(8), Buffer.from(`${text}\0`, 'utf16le')]);
  memory.writeBigUInt64LE(addressOf(memory) + 8n);
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
export function parseServiceConfig(memory: Buffer, addressOf: AddressOf): RawServiceConfig {
  const base = addressOf(memory);
  const text = (offset: number): string => textAt(memory, memory.readBigUInt64LE(offset) - base);
  const dependencies = memory.readBigUInt64LE(40) - base;
  return {
    startType: memory.readUInt32LE(4),
    commandLine: text(16),
    dependencies: textsAt(memory, dependencies),
    account: text(48),
    displayName: text(56),
  };
}

/** Reads a structure of one string. */
export function parseOneText(memory: Buffer, addressOf: AddressOf): string {
  return textAt(memory, memory.readBigUInt64LE(0) - addressOf(memory));
}

/** What a SERVICE_FAILURE_ACTIONSW says. */
export function parseFailureActions(memory: Buffer, addressOf: AddressOf): FailurePolicy {
  const first = Number(memory.readBigUInt64LE(32) - addressOf(memory));
  const restartDelaysMs: number[] = [];
  for (let index = 0; index < memory.readUInt32LE(24); index++) {
    const at = first + index * ACTION_SIZE;
    if (at < 0 || at + ACTION_SIZE > memory.length || memory.readUInt32LE(at) !== RESTART) break;
    restartDelaysMs.push(memory.readUInt32LE(at + 4));
  }
  return { restartDelaysMs, resetAfterSeconds: memory.readUInt32LE(0) };
}

function textsAt(memory: Buffer, offset: bigint): readonly string[] {
  const texts: string[] = [];
  for (let at = offset; ;) {
    const text = textAt(memory, at);
    if (text === '') return texts;
    texts.push(text);
    at += BigInt((text.length + 1) * 2);
  }
}

function textAt(memory: Buffer, offset: bigint): string {
  if (offset < 0n || offset >= BigInt(memory.length)) return '';
  const text = memory.subarray(Number(offset)).toString('utf16le');
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}
