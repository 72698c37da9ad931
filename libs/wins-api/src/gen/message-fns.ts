// Made by tools/gen-proto.mjs of what protoc-gen-ts_proto writes. DO NOT EDIT.

/* eslint-disable */
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

export type DeepPartial<T> = T extends bigint ? string | number | bigint
  : T extends Date | Function | Uint8Array | string | number | boolean | bigint | undefined ? T : T extends globalThis.Array<infer U> ? globalThis.Array<DeepPartial<U>>
  : T extends ReadonlyArray<infer U> ? ReadonlyArray<DeepPartial<U>>
  : T extends { $case: string; value: unknown } ? { $case: T["$case"]; value?: DeepPartial<T["value"]> }
  : T extends {} ? { [K in keyof T]?: DeepPartial<T[K]> }
  : Partial<T>;

export interface MessageFns<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(input: BinaryReader | Uint8Array, length?: number): T;
  create(base?: DeepPartial<T>): T;
  fromPartial(object: DeepPartial<T>): T;
}
