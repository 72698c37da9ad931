import type { Document, DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';
import { quoteText } from '@wins/base';
import * as z from 'zod/mini';
import { withoutUser } from '../http/foreign-text.js';
import { parseYaml } from './parse-yaml.js';

/** Reason why a YAML text is refused, in two clauses for a message. */
export interface Refusal {
  /** A clause such as `found no YAML in the kubeconfig (line 3)`, for the end of a message `cannot X: …`. Contains no value from the document. */
  readonly found: string;
  /** A noun phrase such as `a string`, for a clause `wanted …` after {@link found}. Absent for a text that is no YAML. */
  readonly wanted?: string | undefined;
}

/** The value of the first document of a YAML text. */
export interface FoundYaml<Value> {
  readonly value: Value;
  /** Number of documents after the first. They are ignored, as in Go. */
  readonly more: number;
}

/** Options of the `yaml` package, plus `prepare`. */
export type YamlOptions = DocumentOptions &
  ParseOptions &
  SchemaOptions & {
    /** Changes the first document before its values are read. */
    readonly prepare?: ((document: Document) => void) | undefined;
  };

/** Real files have at most ten levels. */
const MAX_DEPTH = 100;
/** The parser needs a minute to report a million misplaced tokens. */
const MAX_YAML_TOKENS = 50_000;
/** Limits the expansions of one anchor, because nested aliases multiply. */
const MAX_ALIASES = 1000;

/**
 * Refusals name the line or key of a fault, but no value, because values may be secret. `schema` must accept null if the
 * document may be empty. `name` is for messages, such as `the kubeconfig`.
 */
export function readYaml<Value>(
  schema: z.core.$ZodType<Value>,
  text: string,
  name: string,
  { prepare, ...options }: YamlOptions = {},
): FoundYaml<Value> | Refusal {
  const parsed = parseYaml(text, { ...options, maxDepth: MAX_DEPTH, maxTokens: MAX_YAML_TOKENS });
  if ('exceeds' in parsed)
    return { found: `found YAML in ${name} that is nested too deeply, or has too many parts` };
  const [document, ...others] = parsed.documents;
  const [error] = document.errors;
  if (error !== undefined)
    return { found: `found no YAML in ${name} (line ${lineAt(text, error.pos[0])})` };
  prepare?.(document);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    return { found: `found YAML in ${name} that has too many aliases` };
  }
  const { data, error: misfit } = z.safeParse(schema, value);
  if (misfit === undefined) return { value: data, more: others.length };
  const [issue] = misfit.issues;
  // A key may be an address with a password.
  const path = (issue?.path ?? []).map((key) => withoutUser(String(key))).join('.');
  const where = path === '' ? name : `${quoteText(path)} of ${name}`;
  const { found, ...wanted } = misfitOf(issue);
  return { found: `found ${found} in ${where}`, ...wanted };
}

/** A custom issue may have a text `wanted` in its `params`. */
function misfitOf(issue: z.core.$ZodIssue | undefined): Refusal {
  switch (issue?.code) {
    case 'custom': {
      const wanted: unknown = issue.params?.['wanted'];
      return { found: issue.message, ...(typeof wanted === 'string' && { wanted }) };
    }
    case 'invalid_type': {
      const type = issue.expected === 'record' ? 'object' : issue.expected;
      return { found: `no ${type}`, wanted: withArticle(type) };
    }
    case 'invalid_value': {
      const wanted = issue.values.map((value) => quoteText(String(value))).join(' or ');
      return { found: 'a value that cannot be used', wanted };
    }
    case 'too_small':
      return {
        found: `${withArticle(issue.origin)} that is too short`,
        wanted: `a length of at least ${issue.minimum}`,
      };
    case 'unrecognized_keys': {
      // Shows only plain key names, because an unknown party chose them.
      const plain = issue.keys.filter((key) => /^[\w.-]{1,64}$/.test(key));
      const keys = plain.map((key) => quoteText(key)).join(', ');
      const found = keys === '' ? 'an unsupported key' : `the unsupported key ${keys}`;
      return { found, wanted: 'supported keys only' };
    }
    default:
      return { found: 'a value that cannot be used' };
  }
}

/** Counts the line ends of YAML 1.1. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|[\n\r\u0085]/).length;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
