import { DEFAULT_PIPE_NAME, quoteText, UsageError } from '@wins/base';
import { assertJsonPath, isJsonPath } from '../output/json-path.js';
import {
  durationOption,
  limitOption,
  listOption,
  numberOption,
  oneOf,
  readOption,
  switchOption,
  textOption,
  timeOption,
  type Option,
} from '../command-line/option.js';

export const FILE = { placeholder: 'FILE', completes: 'files' } as const;
export const FOLDER = { placeholder: 'FOLDER', completes: 'folders' } as const;

const DATA_FORMS = ['json', 'yaml', 'table', 'name'] as const;

export function daemonOptions(waitTimeout = '0s') {
  return {
    server: {
      ...textOption("Name or path of the daemon's pipe", { placeholder: 'PIPE' }),
      byDefault: DEFAULT_PIPE_NAME,
      read: (text: string) => text,
    },
    'wait-timeout': waitTimeoutOption(waitTimeout),
    timeout: limitOption(
      'Time limit of the connection and of each answer, such as 5s or 2m (default: 10s for the connection, 30s for an answer)',
    ),
  };
}

export function waitTimeoutOption(byDefault = '0s', whatFor = 'a daemon that is not ready') {
  const describe = `How long to wait for ${whatFor}, such as 30s or 5m`;
  return durationOption(byDefault, describe);
}

/**
 * All answers also have the form `jsonpath=TEMPLATE`, and those with a table the form `wide`.
 *
 * @param otherwise - Appended to the description. It states the default if there is no `byDefault`.
 */
export function outputOption(
  forms: readonly string[],
  byDefault?: string,
  otherwise = '',
): Option<string | undefined> {
  const all = forms.includes('table') ? [...forms, 'wide'] : forms;
  const describe = `Output format, or jsonpath={.name} for chosen fields; --json is short for -o json, and -q for -o name${otherwise}`;
  const read = (text: string): string => {
    if (all.includes(text)) return text;
    if (!isJsonPath(text))
      throw new UsageError(
        `found ${quoteText(text)}; wanted ${oneOf([...all, 'jsonpath=TEMPLATE, such as jsonpath={.name}'])}`,
      );
    assertJsonPath(text);
    return text;
  };
  const more = { short: 'o', placeholder: 'FORM', choices: all, ...(byDefault && { byDefault }) };
  return readOption(describe, read, more);
}

/** For data that the Go release prints as JSON even on a terminal. */
export const outputOfOriginal = outputOption(DATA_FORMS, 'json');
const onTerminal = (form: string) => ` (default: ${form} on a terminal, json elsewhere)`;
export const dataOutput = outputOption(DATA_FORMS, undefined, onTerminal('table'));
/** For answers that are a sentence for people and data for programs. */
export const verdictOutput = outputOption(['text', ...DATA_FORMS], undefined, onTerminal('text'));
/** For answers that are mainly read by people. */
export const textOutput = outputOption(['text', ...DATA_FORMS], 'text');
export const recordsOutput = outputOption(['table', 'json', 'yaml', 'name'], 'table');

/** `--config`, for commands that accept a missing file only at the default path. */
export const configOption = textOption(
  'Config file; if this option is given, the file must exist (default: ' +
    'c:/etc/rancher/wins/config on Windows, /etc/rancher/wins/config elsewhere)',
  FILE,
);

export const sinceOption = (what: string) =>
  timeOption(`Only ${what} since this time: 90s, 2h30m or 7d ago, or 2026-03-01T12:00Z`);

export const untilOption = (what: string) =>
  timeOption(`Only ${what} before this time; as for --since`);

/** Options that choose among records by their time and number. */
export const periodOptions = (what: string) => ({
  since: sinceOption(what),
  until: untilOption(what),
  lines: { ...numberOption(`Only the newest ${what}, this many`), short: 'n' },
});

/** Options that choose among events, or records of the audit log. */
export const recordOptions = (what: string, type: string) => ({
  ...periodOptions(what),
  type: listOption(`Only ${what} of this ${type}`, { placeholder: 'TYPE' }),
  name: textOption(`Only ${what} about the run with this name`, { placeholder: 'NAME' }),
  client: textOption(`Only ${what} of this client, or of a client with this property`, {
    placeholder: 'CLIENT',
  }),
  refused: switchOption('Only refusals'),
});

export const PIPE_ENVIRONMENT = [
  [
    'WINS_RUNTIME_DIR',
    'folder of the sockets that replace the pipes on other systems than Windows',
  ],
] as const;

/** @throws UsageError when both options are given. */
export function refuseBoth(values: Readonly<Record<string, unknown>>, one: string, other: string) {
  if (values[one] && values[other])
    throw new UsageError(`--${one} and --${other} cannot be combined`);
}
