import { onSystemDrive } from '@wins/base';
import type * as z from 'zod/mini';
import { defaultWatchingPath } from '../default-config.js';
import { FILE_SCHEMA, type FileContent } from '../schema/file-schema.js';
import { bareSchema, fieldsOf, notationOf } from '../schema/notation.js';
import { certificatesIn } from '../schema/signature-keys.js';
import type { ArgumentRules } from '../schema/white-list-schema.js';

/** Settings whose names are not their keys in camel case. */
const SETTING_NAMES = {
  systemagent: 'systemAgent',
  agentStrictTLSMode: 'agentStrictTlsMode',
} as const satisfies Partial<Record<keyof FileContent, string>>;

type SettingNames = typeof SETTING_NAMES;
type CamelCase<Key extends string> = Key extends `${infer Head}${'-' | '_'}${infer Tail}`
  ? `${Head}${Capitalize<Tail>}`
  : Key;

/** Returns the name of the setting of a key. */
export function settingName(key: string): string {
  const names: Readonly<Record<string, string>> = SETTING_NAMES;
  return names[key] ?? key.replace(/[-_](.)/, (_, letter: string) => letter.toUpperCase());
}

/**
 * Converts the content of a file to settings. This is no transform of the schema, because problems and origins need the content: one entry of the file
 * may become several in the settings, or none. `tools/references.mjs` writes the type `WinsConfig` from the type of the result.
 */
export function settingsOf(file: FileContent, platform: NodeJS.Platform) {
  const { whiteList, routes, upgrade, ...others } = renamed(inForce(file, FILE_SCHEMA, platform));
  const { mode, watchingPath = defaultWatchingPath(platform), ...signatures } = upgrade;
  const { signedBy, timestampedBy } = signatures;
  return {
    ...others,
    whiteList: {
      processPaths: whiteList.processPaths.map(allowedPathOf),
      proxyPorts: [...new Set(whiteList.proxyPorts)],
      proxyUdpPorts: [...new Set(whiteList.proxyUdpPorts)],
    },
    routes: { allow: [...new Set(routes.allow)] },
    upgrade: {
      mode: mode === 'watching' ? mode : ('none' as const),
      watchingPath,
      ...(signedBy && {
        signedBy: signedBy.flatMap(({ certificate: text, ...rest }) =>
          eachCertificate(text).map((certificate) => ({ certificate, ...rest })),
        ),
      }),
      ...(timestampedBy && { timestampedBy: timestampedBy.flatMap(eachCertificate) }),
    },
  };
}

function allowedPathOf({
  sha256 = [],
  envs = [],
  args,
  directories = [],
  ...entry
}: FileContent['white_list']['processPaths'][number]) {
  return {
    ...entry,
    sha256,
    envs: envs[0] === 'any' ? ('any' as const) : envs,
    // The cast is safe, because the schema has checked each argument and converted numbers and booleans to strings.
    ...(args !== undefined && { args: args as ArgumentRules }),
    directories,
  };
}

/** A thumbprint stays one; each certificate of a PEM text becomes an entry of its own. */
function eachCertificate(text: string): readonly string[] {
  const blocks = certificatesIn(text);
  return blocks.length === 0 ? [text] : blocks;
}

type Renamed = {
  [
    Key in keyof FileContent as Key extends keyof SettingNames ? SettingNames[Key] : CamelCase<Key>
  ]: FileContent[Key];
};

function renamed(file: FileContent): Renamed {
  const settings = Object.entries(file).map(([key, value]) => [settingName(key), value] as const);
  return Object.fromEntries(settings) as Renamed;
}

/** Returns the setting of a key path, such as `upgrade.signedBy`; no list may be on the path. */
export function settingAt(config: object, keyPath: string): unknown {
  const inside = (value: unknown, key: string): unknown =>
    new Map<string, unknown>(Object.entries(value ?? {})).get(settingName(key));
  return keyPath.split('.').reduce<unknown>(inside, config);
}

/** Omits empty texts, which installers write for unset values, and puts paths on the system drive. Does not look into lists. */
function inForce<Section extends object>(
  section: Section,
  schema: z.core.$ZodType,
  platform: NodeJS.Platform,
): Section {
  const fields = fieldsOf(schema);
  const values = Object.entries(section).flatMap(([key, value]: [string, unknown]) => {
    const field = fields?.get(key);
    if (value === '' || field === undefined) return [];
    const isSection = typeof value === 'object' && fieldsOf(field) !== undefined;
    if (isSection) return [[key, inForce(value as object, field, platform)] as const];
    const isPath = typeof value === 'string' && notationOf(bareSchema(field)).onSystemDrive;
    return [[key, isPath ? onSystemDrive(value, platform) : value] as const];
  });
  return Object.fromEntries(values) as Section;
}
