import { DEFAULT_PIPE_NAME, UsageError } from '@wins/wins-program';
import { choiceOption, durationOption, readOption, textOption } from '../command-line/option.js';

/** The forms of data. */
const DATA_FORMS = ['json', 'yaml', 'table', 'name'] as const;

const FORMS = 'Form of the answer, as in -oyaml; --json is -o json';

/** `--server` and `--wait-timeout`. */
export function daemonOptions(waitTimeout = '0s') {
  return {
    server: {
      ...textOption("Name or path of the daemon's pipe", { placeholder: 'PIPE' }),
      byDefault: DEFAULT_PIPE_NAME,
      read: (text: string) => text,
    },
    'wait-timeout': waitTimeoutOption(waitTimeout),
    timeout: timeoutOption(
      'a connection may take, and an answer; default: 10s, and 30s for the answer',
    ),
  };
}

/** `--timeout`, in milliseconds; undefined when it is not given. */
export function timeoutOption(whatFor: string) {
  const { read } = durationOption('timeout', '', '', 1);
  return readOption(`How long ${whatFor}: 5s, 2m`, (text) => read?.(text) ?? 0, {
    placeholder: 'TIME',
    completes: 'nothing',
  });
}

/** `--wait-timeout`, in milliseconds. */
export function waitTimeoutOption(byDefault = '0s', whatFor = 'a daemon that does not serve yet') {
  const describe = `How long to wait for ${whatFor}: 30s, 5m`;
  return durationOption('wait-timeout', byDefault, describe);
}

/** `--output` for what was JSON in the original, whoever reads it. */
export const outputOfOriginal = {
  ...choiceOption('output', DATA_FORMS, FORMS, { short: 'o', placeholder: 'FORM' }),
  byDefault: 'json',
};

/** `--output` of data. */
export const dataOutput = choiceOption(
  'output',
  DATA_FORMS,
  `${FORMS} [default: table at a terminal, else json]`,
  { short: 'o', placeholder: 'FORM' },
);

/** `--output` of what people read first. */
export const textOutput = {
  ...choiceOption('output', ['text', ...DATA_FORMS] as const, FORMS, {
    short: 'o',
    placeholder: 'FORM',
  }),
  byDefault: 'text',
};

/** Variables that say where the daemon's pipe is. */
export const PIPE_ENVIRONMENT = [
  [
    'WINS_RUNTIME_DIR',
    'the folder of the sockets, where pipes are files; default: the one of the system',
  ],
] as const;

/** For {@link UsageError}: two options that exclude each other. */
export function refuseBoth(values: Readonly<Record<string, unknown>>, one: string, other: string) {
  if (values[one] && values[other])
    throw new UsageError(`found --${one} and --${other}; wanted one of them`);
}
