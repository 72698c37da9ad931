import type { WinsConfig } from '@wins/config';
import { CHECKS } from '../features/checks.js';

const PROXY_VARIABLES = /^(?:https?|all|no)_proxy$/i;
/** A shorter text reveals nothing, and would match everywhere. */
const SHORTEST = 4;
const REMOVED = '[removed]';
/** User and password of an address. Looks behind, because a search for schemes takes quadratic time in a long word. */
const CREDENTIALS = /(?<=:\/\/)[^\s/@"'<>]+@/g;
const QUERY = /(?<=:\/\/[^\s?"'<>]+\?)[^\s"'<>#]+/g;

/** Removes user, password, query and fragment. */
export function addressWithoutSecrets(address: string): string {
  return address.replace(CREDENTIALS, '').replace(/[?#].*$/s, '');
}

/** These words reveal nothing, and no line would be readable without them. */
const WORDS: ReadonlySet<string> = new Set(
  ['true', 'false', 'null', 'none'].concat('debug', 'info', 'warn', 'warning', 'error', 'fatal'),
);
/** JSON string or number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

type Clean = (text: string) => string;

/**
 * Second line of defence: removes known secrets, also in JSON-escaped form, and the user, password and query of each URL. JSON stays valid.
 * Does not remove secrets shorter than four characters, words such as `true` and log levels, or a numeric secret inside a longer number.
 */
export function cleanerOf(known: readonly string[]): (text: string) => string {
  const secrets = known
    .filter((secret) => secret.length >= SHORTEST && !WORDS.has(secret.toLowerCase()))
    // Longest first, because a secret may contain another.
    .sort((one, other) => other.length - one.length)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .map((text) => (/^\d+$/.test(text) ? new RegExp(`(?<!\\d)${text}(?!\\d)`, 'g') : text));
  const clean: Clean = (text) =>
    secrets.reduce<string>(
      (left, secret) => left.replaceAll(secret, REMOVED),
      text.replace(CREDENTIALS, `${REMOVED}@`).replace(QUERY, REMOVED),
    );
  const cleanJson = (text: string): string => (isJson(text) ? cleanTokens(text, clean) : text);
  return (text) => {
    const json = isJson(text) ? cleanJson(text) : text.split('\n').map(cleanJson).join('\n');
    // Cleans text that is not JSON, and removes secrets that span several JSON strings.
    return clean(json);
  };
}

function cleanTokens(json: string, clean: Clean): string {
  return json.replace(TOKEN, (token) => {
    const value = token.startsWith('"') ? String(JSON.parse(token)) : token;
    const cleaned = clean(value);
    return cleaned === value ? token : JSON.stringify(cleaned);
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function knownSecrets(
  config: WinsConfig | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  return [...secretsOf(config), ...proxySecrets(environment)];
}

function secretsOf(config: WinsConfig | undefined): readonly string[] {
  if (config === undefined) return [];
  const { processEnvironment, keep } = config;
  return [
    ...Object.values(processEnvironment),
    ...keep.flatMap(({ envs }) => Object.values(envs)),
    ...[
      ...keep.flatMap(({ args }) => args),
      ...CHECKS.flatMap(({ secrets }) => secrets?.(config) ?? []),
    ].flatMap((text) => [text, valueOf(text)]),
  ];
}

function valueOf(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1);
}

function proxySecrets(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment)
    .filter(([name]) => PROXY_VARIABLES.test(name))
    .flatMap(([, value = '']) => {
      const user = /^[a-z][a-z0-9+.-]*:\/\/([^/@]+)@/i.exec(value)?.[1];
      if (user === undefined) return [];
      const [, password = ''] = user.split(/:(.*)/s);
      return [user, password];
    });
}
