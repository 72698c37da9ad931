import type * as z from 'zod';

/** A type without `readonly`, because schemas describe JSON. */
type Mutable<Value> = Value extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> }
    : Value;

/** A type in which every member is required, so that a member that only one of two types has makes them differ. */
type Whole<Value> = Value extends readonly (infer Item)[]
  ? Whole<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]-?: Whole<Exclude<Value[Key], undefined>> }
    : Value;

type Tie<Value, Output> = [Mutable<Value>] extends [Output]
  ? [Whole<Value>] extends [Whole<Output>]
    ? [Whole<Output>] extends [Whole<Value>]
      ? unknown
      : 'the schema accepts more than the type has'
    : 'the type has more than the schema accepts'
  : 'the schema refuses values of the type';

/** Returns the schema. The compiler refuses one that does not have the members and values of the type. */
export function tied<Value>() {
  return <Schema extends z.ZodType>(schema: Schema & Tie<Value, z.output<Schema>>): Schema =>
    schema;
}
