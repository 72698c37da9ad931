import { isScalar, isSeq, type Node, type Scalar } from '@wins/net/yaml';
import * as z from 'zod/mini';
import { quote } from '../problems/config-problem.js';

/** Converts the text to a boolean or number if `schema` wants one. Returns any other text unchanged. */
export function scalarValue(node: Scalar, schema: z.core.$ZodType): unknown {
  const text = String(node.value);
  const plain = isPlain(node);
  if (schema instanceof z.ZodMiniBoolean && plain) {
    // YAML 1.1, which existing files use.
    if (/^(?:true|yes|on|y)$/i.test(text)) return true;
    if (/^(?:false|no|off|n)$/i.test(text)) return false;
  }
  if (schema instanceof z.ZodMiniNumber) {
    const number = plain ? numberOf(text) : /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
    if (number !== undefined) return number;
  }
  return text;
}

/** Parses a YAML 1.1 number, as the Go releases do. Returns undefined for other text. */
function numberOf(text: string): number | undefined {
  if (!/^[-+.\d]/.test(text)) return undefined;
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(text.replaceAll('_', '')) ?? [];
  // 09796 is decimal, because it cannot be octal.
  const octal = /^0o?([0-7]+)$/i.exec(digits)?.[1];
  const isNumber =
    /^0(?:x[\da-f]+|b[01]+)$/i.test(digits) ||
    /^(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i.test(digits);
  if (octal === undefined && !isNumber) return undefined;
  const number = octal === undefined ? Number(digits) : parseInt(octal, 8);
  return sign === '-' ? -number : number;
}

/** Converts an unquoted whole number, `true` or `false`. */
export function typedScalar(node: Scalar): unknown {
  const text = String(node.value);
  if (!isPlain(node)) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  // A number would lose a leading zero.
  return /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** True for an absent or empty value, `~` and `null`. */
export function isNothing(node: Node | null): node is null {
  return (
    node === null ||
    (isScalar(node) && isPlain(node) && /^(?:|~|null|Null|NULL)$/.test(String(node.value)))
  );
}

/** For values that messages and logs must not repeat. */
export function describeSecret(node: Node | null): string {
  return isScalar(node) && !isNothing(node) ? 'a text' : describe(node);
}

export function describe(node: Node | null): string {
  if (isNothing(node)) return 'nothing';
  // Somebody who meant to copy a certificate may have copied its key, which no message may repeat.
  if (isScalar(node) && String(node.value).includes('PRIVATE KEY')) return 'a private key';
  if (isScalar(node))
    return isPlain(node) ? quote(String(node.value)) : `the text ${quote(String(node.value))}`;
  if (isSeq(node)) return node.items.length === 0 ? 'an empty list' : 'a list';
  return 'a section';
}

function isPlain(node: Scalar): boolean {
  return node.type === 'PLAIN' && node.tag === undefined;
}
