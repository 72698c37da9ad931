import { DEFAULT_PIPE_NAME, UsageError } from '@wins/base';
import { choiceOption, durationOption, limitOption, textOption } from '../command-line/option.js';

const DATA_FORMS = ['json', 'yaml', 'table', 'name'] as const;

export const FORMS = 'Output format; --json is short for -o json';

export function daemonOptions(waitTimeout = '0s') {
  return {
    server: {
      ...textOption("Name or path of the daemon's pipe", { placeholder: 'PIPE' }),
      byDefault: DEFAULT_PIPE_NAME,
      read: (text: string) => text,
    },
    'wait-timeout': waitTimeoutOption(waitTimeout),
    timeout: limitOption(
      'timeout',
      'Time limit of the connection and of each answer, such as 5s or 2m (default: 10s for the connection, 30s for an answer)',
    ),
  };
}

/** `--wait-timeout`, in milliseconds. */
export function waitTimeoutOption(byDefault = '0s', whatFor = 'a daemon that is not ready') {
  const describe = `How long to wait for ${whatFor}, such as 30s or 5m`;
  return durationOption('wait-timeout', byDefault, describe);
}

/** `--output` for data that the original prints as JSON even on a terminal. */
export const outputOfOriginal = {
  ...choiceOption('output', DATA_FORMS, FORMS, { short: 'o', placeholder: 'FORM' }),
  byDefault: 'json',
};

export const dataOutput = choiceOption(
  'output',
  DATA_FORMS,
  `${FORMS} (default: table on a terminal, json elsewhere)`,
  { short: 'o', placeholder: 'FORM' },
);

/** `--output` for answers that are a sentence for people and data for programs. */
export const verdictOutput = choiceOption(
  'output',
  ['text', ...DATA_FORMS] as const,
  `${FORMS} (default: text on a terminal, json elsewhere)`,
  { short: 'o', placeholder: 'FORM' },
);

/** `--output` for answers that are mainly read by people. */
export const textOutput = {
  ...choiceOption('output', ['text', ...DATA_FORMS] as const, FORMS, {
    short: 'o',
    placeholder: 'FORM',
  }),
  byDefault: 'text',
};

/** `--config`, for commands that accept a missing file only at the default path. */
export const configOption = textOption(
  'Config file; it must exist if it is named (default: c:/etc/rancher/wins/config on Windows, /etc/rancher/wins/config elsewhere)',
  { placeholder: 'FILE', completes: 'files' },
);

export const sinceOption = (what: string) =>
  textOption(`Only ${what} since this time: 90s, 2h30m or 7d ago, or 2026-03-01T12:00Z`, {
    placeholder: 'TIME',
    completes: 'nothing',
  });

/** `--output` for a sequence of records. */
export const recordsOutput = {
  ...choiceOption('output', ['table', 'json', 'yaml', 'name'] as const, FORMS, {
    short: 'o',
    placeholder: 'FORM',
  }),
  byDefault: 'table',
};

export const PIPE_ENVIRONMENT = [
  [
    'WINS_RUNTIME_DIR',
    'folder of the sockets that replace the pipes on other systems than Windows',
  ],
] as const;

/** Throws {@link UsageError} when both of two options that exclude each other are given. */
export function refuseBoth(values: Readonly<Record<string, unknown>>, one: string, other: string) {
  if (values[one] && values[other])
    throw new UsageError(`--${one} and --${other} cannot be combined`);
}
