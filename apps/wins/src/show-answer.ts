import { escapeJson, escapeText, type Answer } from '@wins/base';
import { output } from './load-applications.js';
import { goJson } from './output/go-json.js';
import { fillJsonPath, isJsonPath } from './output/json-path.js';
import { redrawn } from './output/redrawn.js';
import { tableOf } from './output/table.js';

type Layouts = Pick<ReturnType<typeof output>, 'stringWidth' | 'yamlOf'>;

export type AnswerTerminal = Pick<NodeJS.WriteStream, 'isTTY' | 'rows'> &
  Partial<Pick<NodeJS.WriteStream, 'columns'>>;

/**
 * @param form - `json`, `yaml`, `table`, `wide`, `name`, `text` or `jsonpath=TEMPLATE`. For any other value, the output depends on the terminal and the answer.
 * On a terminal, it is the answer's table, or the answer's text if there is no table. It is JSON if there is no terminal, or if
 * the answer has neither table nor text.
 * @returns False when the reader has closed the stream.
 */
export function showAnswer(answers: readonly Answer[], form: unknown): Promise<boolean> {
  const { isTTY, rows, columns } = process.stdout;
  // As for other programs, the variable wins over the terminal.
  const given = Number(process.env['COLUMNS']);
  // A terminal of 0 columns does not know its size.
  const width = given > 0 ? given : columns;
  const terminal = { isTTY, rows, ...(width > 0 && { columns: width }) };
  return write(answers.map((answer) => render(answer, form, terminal)).join(''));
}

/** @param layouts - Loads the functions for YAML and for the width of text beyond ASCII. Default: from the bundle beside this one. */
export function render(
  answer: Answer,
  form: unknown,
  { isTTY, rows, columns }: AnswerTerminal,
  layouts: () => Layouts = output,
): string {
  const { value, names = [], isRenewed = false, isAsOriginal = false } = answer;
  const isOneOfMany = answer.isOneOfMany === true || isRenewed;
  const isIndented = answer.isForReaders ?? (isTTY && !isOneOfMany);
  const forPrograms = (): string =>
    isAsOriginal && !isTTY ? goJson(value) : json(value, isIndented);
  const forPeople = (text: string): string => {
    if (!isRenewed) return text;
    return isTTY ? redrawn(text, rows) : `${text}\n`;
  };
  switch (form) {
    case 'json':
      return forPrograms();
    case 'yaml': {
      const document = layouts().yamlOf(value);
      return isOneOfMany ? `---\n${document}` : document;
    }
    case 'name':
      return forPeople(names.map((name) => `${escapeText(name)}\n`).join(''));
    case 'text':
      return forPeople(answer.text ?? inColumns(answer, layouts, columns));
    case 'table':
      return forPeople(inColumns(answer, layouts, columns));
    case 'wide':
      return forPeople(inColumns(answer, layouts));
    default:
      if (isJsonPath(form)) return forPeople(fillJsonPath(form, value));
      if (!isTTY || (answer.table ?? answer.text) === undefined) return forPrograms();
      return forPeople(
        answer.table === undefined ? (answer.text ?? '') : inColumns(answer, layouts, columns),
      );
  }
}

/**
 * Formats the answer's table. If there is no table, formats the fields of the value. For an answer in a series (`isOneOfMany`),
 * the text is preferred to the fields.
 *
 * @param width - Columns of the terminal. Default: no limit.
 */
function inColumns(
  { table, text, value, isOneOfMany = false }: Answer,
  layouts: () => Layouts,
  width?: number,
) {
  if (table === undefined && isOneOfMany && text !== undefined) return text;
  const widthOf = (cell: string): number => layouts().stringWidth(cell);
  return table === undefined
    ? tableOf(['FIELD', 'VALUE'], fieldsOf(value), { widthOf })
    : tableOf(table.headings, table.rows, { widthOf, width, drops: table.drops });
}

/** Returns each leaf of a value with its path, such as `problems[0].key`. */
function fieldsOf(value: unknown, path = ''): string[][] {
  if (typeof value !== 'object' || value === null)
    return value === undefined || path === ''
      ? []
      : [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  if (Array.isArray(value))
    return value.flatMap((item, index) => fieldsOf(item, `${path}[${index}]`));
  return Object.entries(value).flatMap(([name, item]) =>
    fieldsOf(item, path === '' ? name : `${path}.${name}`),
  );
}

function json(value: unknown, isIndented: boolean): string {
  return `${escapeJson(goJson(value, isIndented))}\n`;
}

async function write(text: string): Promise<boolean> {
  const { stdout } = process;
  if (stdout.destroyed || stdout.errored) return false;
  return new Promise((resolve) => {
    stdout.write(text, (error) => resolve(error === undefined || error === null));
  });
}
