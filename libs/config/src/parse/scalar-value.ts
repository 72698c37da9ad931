import { isScalar, isSeq, type Node, type Scalar } from 'yaml';
import * as z from 'zod';
import { quote } from '../problems/config-problem.js';

/** Takes a scalar as its field means it; text that does not fit stays text. */
export function scalarValue(node: Scalar, schema: z.core.$ZodType): unknown {
  const text = String(node.value);
  const plain = isPlain(node);
  if (schema instanceof z.ZodBoolean && plain) {
    // The booleans of YAML 1.1, which existing files use.
    if (/^(?:true|yes|on|y)$/i.test(text)) return true;
    if (/^(?:false|no|off|n)$/i.test(text)) return false;
  }
  if (schema instanceof z.ZodNumber) {
    // No leading zero: YAML 1.1 would take it for octal.
    const number = plain ? /^(?:0|[1-9]\d*)(?:\.\d*)?(?:e[+-]?\d+)?$/i : /^[1-9]\d*$/;
    if (number.test(text)) return Number(text);
  }
  return text;
}

/** Takes a scalar as it looks: what is not quoted may be a whole number, `true` or `false`. */
export function typedScalar(node: Scalar): unknown {
  const text = String(node.value);
  if (!isPlain(node)) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  // No leading zero, which would be lost.
  return /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** Whether a node is no value: absent, empty, `~` or `null`. */
export function isNothing(node: Node | null): node is null {
  return (
    node === null ||
    (isScalar(node) && isPlain(node) && /^(?:|~|null|Null|NULL)$/.test(String(node.value)))
  );
}

/** A value in words, when it must not be repeated in messages and logs. */
export function describeSecret(node: Node | null): string {
  return isScalar(node) && !isNothing(node) ? 'a text' : describe(node);
}

/** A value in words, for a message. */
export function describe(node: Node | null): string {
  if (isNothing(node)) return 'nothing';
  if (isScalar(node))
    return isPlain(node) ? quote(String(node.value)) : `the text ${quote(String(node.value))}`;
  if (isSeq(node)) return node.items.length === 0 ? 'an empty list' : 'a list';
  return 'a section';
}

function isPlain(node: Scalar): boolean {
  return node.type === 'PLAIN' && node.tag === undefined;
}
