import { parseAllDocuments, type Document, type ParseOptions, type SchemaOptions } from 'yaml';
import type { Refusal } from '../kubeconfig/refusal.js';

/** The first document of a text. */
export interface FoundYaml {
  readonly value: unknown;
  /** How many documents come after it, of which nothing is used, as in Go. */
  readonly more: number;
}

export type YamlOptions = ParseOptions &
  SchemaOptions & {
    /** Changes the document before its values are taken. */
    readonly prepare?: (document: Document) => void;
  };

/**
 * Reads the first document of a text that may hold secrets: a refusal has the line of the fault, and nothing that stands there.
 *
 * @param name - The text, as refusals name it: `the kubeconfig`.
 */
export function readYaml(
  text: string,
  name: string,
  { prepare, ...options }: YamlOptions = {},
): FoundYaml | Refusal {
  // The line ends of YAML 1.1; offsets stay.
  const lines = text.replace(/\r(?!\n)|\u0085/g, '\n');
  try {
    // Without excerpts and warnings: the line at fault may hold a secret.
    const all = parseAllDocuments(lines, { ...options, prettyErrors: false, logLevel: 'error' });
    const [document] = all;
    const [error] = document?.errors ?? [];
    if (error !== undefined) {
      const line = lines.slice(0, error.pos[0]).split('\n').length;
      return { found: `found no YAML in ${name} (line ${line})` };
    }
    if (document !== undefined) prepare?.(document);
    return { value: document?.toJS() as unknown, more: Math.max(all.length - 1, 0) };
  } catch {
    return { found: `found YAML in ${name} that is nested too deeply, or has too many aliases` };
  }
}
