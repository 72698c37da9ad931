import { escapeJson, escapeText, type Answer } from '@wins/wins-program';
import stringWidth from 'string-width';
import { goJson } from './go-json.js';

// Beside this file once everything is bundled: few commands ever print YAML.
/* eslint-disable @typescript-eslint/no-require-imports */
const loadYaml = () => require('./wins-yaml.cjs') as typeof import('./yaml.js');

/**
 * Prints an answer on standard output.
 *
 * @param form - `json`, `yaml`, `table`, `name` or `text`; anything else for a table, or the text if there is no table, at a terminal and
 * JSON in a pipe.
 * @returns False when the reader has gone.
 */
export function showAnswer(answer: Answer, form: unknown): Promise<boolean> {
  return write(render(answer, form, process.stdout.isTTY));
}

/** The text of an answer, for a terminal or for a program. */
export function render(answer: Answer, form: unknown, isTerminal: boolean): string {
  const { value, table, text, names, isOneOfMany = false, isAsOriginal = false } = answer;
  const isIndented = answer.isForReaders ?? (isTerminal && !isOneOfMany);
  const forPrograms = (): string =>
    isAsOriginal && !isTerminal ? goJson(value) : json(value, isIndented);
  switch (form) {
    case 'json':
      return forPrograms();
    case 'yaml': {
      const document = loadYaml().yamlOf(value);
      return isOneOfMany ? `---\n${document}` : document;
    }
    case 'name':
      return (names ?? []).map((name) => `${escapeText(name)}\n`).join('');
    case 'text':
    case 'table':
      return people(text, table) ?? json(value, true);
    default:
      return (isTerminal ? people(text, table) : undefined) ?? forPrograms();
  }
}

function people(text: string | undefined, table: Answer['table']): string | undefined {
  return table === undefined ? text : tableOf(table.headings, table.rows);
}

function json(value: unknown, isIndented: boolean): string {
  return `${escapeJson(goJson(value, isIndented))}\n`;
}

/** Rows under headings, columns padded with two blanks between them; some characters take two places of a line. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) =>
    row.map((cell) => {
      const shown = escapeText(cell);
      return { shown, width: stringWidth(shown) };
    }),
  );
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.width ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map(({ shown, width }, column) => shown + ' '.repeat((widths[column] ?? 0) - width))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Writes, and waits until it is written or cannot be. */
async function write(text: string): Promise<boolean> {
  const { stdout } = process;
  if (stdout.destroyed || stdout.errored) return false;
  return new Promise((resolve) => {
    stdout.write(text, (error) => resolve(error === undefined || error === null));
  });
}
