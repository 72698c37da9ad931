import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Writes and reads one message in the wire format. @throws Error for invalid bytes, and for more fields than `maxFields` (default: no limit). */
export interface MessageFns<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(bytes: Uint8Array, maxFields?: number): T;
}

/** Scalar types of our proto files, named like the methods of the reader and the writer, with their wire types and default values. */
const SCALARS = {
  bool: [WireType.Varint, false],
  bytes: [WireType.LengthDelimited, Buffer.alloc(0)],
  double: [WireType.Bit64, 0],
  int32: [WireType.Varint, 0],
  int64: [WireType.Varint, 0],
  string: [WireType.LengthDelimited, ''],
  uint32: [WireType.Varint, 0],
  uint64: [WireType.Varint, 0],
} as const;

type Scalar = keyof typeof SCALARS;
/** A message is given by a function, because messages may contain each other. */
type Type = Scalar | (() => MessageFns<object>);
/** A map is an object with texts as keys. On the wire each of its entries is a message. */
type Form = 'map' | 'optional' | 'repeated';
type Row = readonly [fieldNumber: number, type: Type, form?: Form];
type Oneof = Readonly<Record<string, Row>>;

interface Field {
  readonly name: string;
  /** Set for a field of the oneof `name`. */
  readonly $case: string | undefined;
  readonly tag: number;
  readonly type: Type;
  readonly form: Form | undefined;
}

type Message = Record<string, unknown>;

interface Codec<T = object> extends MessageFns<T> {
  /** @param depth - Number of messages around this one. */
  read(reader: CountingReader, end: number, depth: number): Message;
}

const MAX_DEPTH = 100;
/** Maximum number of fields in a request, nested and unknown ones included. A request of 1 MiB could have 500,000, which block the event loop for 80 ms. */
const MAX_REQUEST_FIELDS = 16_384;

class CountingReader extends BinaryReader {
  #fieldsLeft: number;

  constructor(bytes: Uint8Array, maxFields: number) {
    super(bytes);
    this.#fieldsLeft = maxFields;
  }

  override tag(): [fieldNumber: number, wireType: WireType] {
    if (this.#fieldsLeft === 0) throw new Error('cannot decode a message: it has too many fields');
    this.#fieldsLeft -= 1;
    return super.tag();
  }
}

/** Creates the functions of a message. @param rows - Its fields in the order of the proto file; those of a oneof are below its name. */
export function messageFns<T extends object>(
  rows: Readonly<Record<string, Row | Oneof>>,
): MessageFns<T> {
  const fields = Object.entries(rows).flatMap(([name, row]) =>
    isRow(row)
      ? [fieldOf(name, undefined, row)]
      : Object.entries(row).map(([$case, one]) => fieldOf(name, $case, one)),
  );
  const byTag = new Map(fields.map((field) => [field.tag, field]));
  const empty = Object.fromEntries(fields.map((field) => [field.name, valueOfAbsent(field)]));
  const collections = fields.filter(({ form }) => form === 'repeated' || form === 'map');
  const codec: Codec<T> = {
    encode: (message, writer = new BinaryWriter()) => {
      for (const field of fields) writeField(writer, field, message as Message);
      return writer;
    },
    decode: (bytes, maxFields = Infinity) =>
      codec.read(new CountingReader(bytes, maxFields), bytes.length, 0) as T,
    read: (reader, end, depth) => {
      if (depth >= MAX_DEPTH) throw new Error('cannot decode a message: it is nested too deeply');
      const message: Message = { ...empty };
      for (const field of collections) message[field.name] = valueOfAbsent(field);
      while (reader.pos < end) {
        const [number, wireType] = reader.tag();
        const field = byTag.get((number << 3) | wireType);
        if (field !== undefined) readField(reader, field, message, depth);
        else reader.skip(wireType, number);
      }
      if (reader.pos > end) throw new Error('cannot decode a message: a field exceeds it');
      return message;
    },
  };
  return codec;
}

function isRow(row: Row | Oneof): row is Row {
  return Array.isArray(row);
}

function fieldOf(name: string, $case: string | undefined, [number, of, form]: Row): Field {
  const type = form === 'map' ? entryOf(of) : of;
  const wireType = typeof type === 'string' ? SCALARS[type][0] : WireType.LengthDelimited;
  return { name, $case, tag: (number << 3) | wireType, type, form };
}

function entryOf(type: Type): Type {
  const entry = messageFns<never>({ key: [1, 'string'], value: [2, type] });
  return () => entry;
}

function valueOfAbsent({ $case, type, form }: Field): unknown {
  if (form === 'repeated') return [];
  if (form === 'map') return {};
  if (form === 'optional' || $case !== undefined || typeof type !== 'string') return undefined;
  return SCALARS[type][1];
}

function writeField(writer: BinaryWriter, { name, $case, tag, type, form }: Field, from: Message) {
  const value = from[name];
  if ($case !== undefined) {
    const chosen = value as { readonly $case: string; readonly value: unknown } | undefined;
    if (chosen?.$case === $case) write(writer.uint32(tag), type, chosen.value);
  } else if (form === 'repeated') {
    for (const one of value as readonly unknown[]) write(writer.uint32(tag), type, one);
  } else if (form === 'map') {
    for (const [key, one] of Object.entries(value as object))
      write(writer.uint32(tag), type, { key, value: one as unknown });
  } else if (form === 'optional' || typeof type !== 'string') {
    if (value !== undefined) write(writer.uint32(tag), type, value);
  } else if (type === 'bytes' ? (value as Uint8Array).length > 0 : value !== SCALARS[type][1]) {
    write(writer.uint32(tag), type, value);
  }
}

function readField(
  reader: CountingReader,
  { name, $case, type, form }: Field,
  into: Message,
  depth: number,
): void {
  const value = read(reader, type, depth);
  if ($case !== undefined) into[name] = { $case, value };
  else if (form === 'repeated') (into[name] as unknown[]).push(value);
  else if (form === 'map') {
    const entry = value as { readonly key: string; readonly value: unknown };
    if (entry.value !== undefined) (into[name] as Message)[entry.key] = entry.value;
  } else into[name] = value;
}

function write(writer: BinaryWriter, type: Type, value: unknown): void {
  if (typeof type === 'string') writer[type](value as never);
  else
    type()
      .encode(value as never, writer.fork())
      .join();
}

function read(reader: CountingReader, type: Type, depth: number): unknown {
  if (typeof type !== 'string') {
    const length = reader.uint32();
    return (type() as Codec).read(reader, reader.pos + length, depth + 1);
  }
  const value = reader[type]();
  if (value instanceof Uint8Array) return Buffer.from(value);
  return type === 'int64' || type === 'uint64' ? exact(value as bigint) : value;
}

/** @throws Error for a number that JavaScript cannot hold exactly. */
function exact(value: bigint | string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new Error(`cannot decode a message: the number ${value} is too large`);
}

/** Defines a method of a service as grpc-js wants it. */
export function methodOf<
  Path extends string,
  Request,
  Response,
  RequestStream extends boolean,
  ResponseStream extends boolean,
>(
  path: Path,
  request: MessageFns<Request>,
  response: MessageFns<Response>,
  requestStream: RequestStream,
  responseStream: ResponseStream,
) {
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: (value: Request): Buffer => Buffer.from(request.encode(value).finish()),
    requestDeserialize: (bytes: Buffer): Request => request.decode(bytes, MAX_REQUEST_FIELDS),
    responseSerialize: (value: Response): Buffer => Buffer.from(response.encode(value).finish()),
    responseDeserialize: (bytes: Buffer): Response => response.decode(bytes),
  } as const;
}
