// Made by tools/gen-proto.mjs of what protoc-gen-ts_proto writes. DO NOT EDIT.

/* eslint-disable */
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

/** Writes and reads one message in the wire format. @throws Error for invalid bytes. */
export interface MessageFns<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(input: BinaryReader | Uint8Array, length?: number): T;
}

export function longToNumber(int64: { toString(): string }): number {
  const num = globalThis.Number(int64.toString());
  if (num > globalThis.Number.MAX_SAFE_INTEGER) {
    throw new globalThis.Error("Value is larger than Number.MAX_SAFE_INTEGER");
  }
  if (num < globalThis.Number.MIN_SAFE_INTEGER) {
    throw new globalThis.Error("Value is smaller than Number.MIN_SAFE_INTEGER");
  }
  return num;
}
