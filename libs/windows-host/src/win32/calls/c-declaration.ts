/** Memory that a function is given: ours, an address, or none. */
export type Pointer = Buffer | bigint | null;

/** What a function of C takes for one parameter, declared as `uint32_t flags`. */
type Parameter<Declaration extends string> = Declaration extends `_Out_ void **${string}`
  ? [bigint | null]
  : Declaration extends `_Out_ uint64_t *${string}`
    ? [number | bigint]
    : Declaration extends `_Out_ ${string}` | `_Inout_ ${string}`
      ? [number]
      : Declaration extends `void *${string}`
        ? Pointer
        : Declaration extends `str16 *${string}`
          ? readonly string[]
          : Declaration extends `str${string}`
            ? string | null
            : number;

type Parameters<List extends string> = List extends ''
  ? []
  : List extends `${infer First}, ${infer Rest}`
    ? [Parameter<First>, ...Parameters<Rest>]
    : [Parameter<List>];

type Result<Before extends string> = Before extends `void *${string}`
  ? bigint | null
  : Before extends `void ${string}`
    ? // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- it is a return type
      void
    : number;

/** The name in a prototype: the last word before the parenthesis. */
export type NameIn<Prototype extends string> = Prototype extends `${infer Before}(${string}`
  ? Before extends `${string} *${infer Name}` | `${string} ${infer Name}`
    ? Name
    : never
  : never;

/** A function of C. `async` calls it on a thread of its own: what is behind it may take seconds, and this process has other work. */
export interface Callable<Arguments extends unknown[], Returned> {
  (...args: Arguments): Returned;
  readonly async: (...args: [...Arguments, (error: unknown, result: Returned) => void]) => void;
}

/** The function that a prototype such as `int CloseHandle(intptr_t handle)` declares. */
export type FunctionOf<Prototype extends string> =
  Prototype extends `${infer Before}(${infer List})`
    ? Callable<Parameters<List>, Result<Before>>
    : never;

/** The fields of a structure declared as `uint32_t size; void *text; uint16_t name[260]`. */
export type FieldsOf<Declaration extends string> =
  Declaration extends `${infer First}; ${infer Rest}`
    ? FieldOf<First> & FieldsOf<Rest>
    : FieldOf<Declaration>;

type FieldOf<Field extends string> = Field extends `void *${infer Name}`
  ? Readonly<Record<Name, bigint | null>>
  : Field extends `char16_t ${infer Name}[${string}]`
    ? Readonly<Record<Name, string>>
    : Field extends `${string} ${infer Name}[${string}]`
      ? Readonly<Record<Name, Uint8Array>>
      : Field extends `${'uint64_t' | 'int64_t'} ${infer Name}`
        ? Readonly<Record<Name, number | bigint>>
        : Field extends `${string} ${infer Name}`
          ? Readonly<Record<Name, number>>
          : never;
