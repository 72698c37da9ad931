import { onSystemDrive } from '@wins/base';
import { FILE_SCHEMA, type FileContent } from '../schema/file-schema.js';
import { fieldsOf } from '../schema/notation.js';
import { certificatesIn } from '../schema/signature-keys.js';
import { defaultWatchingPath } from '../default-config.js';
import type { ArgumentRules, DetachedRuns, WinsConfig } from '../wins-config.js';

export const SETTING_NAMES = {
  white_list: 'whiteList',
  systemagent: 'systemAgent',
  'csi-proxy': 'csiProxy',
  'tls-config': 'tlsConfig',
  agentStrictTLSMode: 'agentStrictTlsMode',
} as const satisfies Partial<Record<keyof FileContent, keyof WinsConfig>>;

/** Keys whose values are paths that {@link onSystemDrive} resolves. Paths in whitelist rules stay as written. */
const PATHS: ReadonlySet<string> = new Set(
  (
    'workDirectory localPlanDirectory appliedPlanDirectory connectionInfoFile imagesDirectory ' +
    'agentRegistriesFile kubeletPath path certFilePath watchingPath directory kubeconfig'
  ).split(' '),
);

/** Converts the content to a `WinsConfig`. A key without a setting is a compile error. */
export function toWinsConfig(
  file: FileContent,
  platform: NodeJS.Platform,
): WinsConfig | NoKey<KeyWithoutSetting> {
  const { whiteList, keep, routes, upgrade, ...others } = named(file, platform);
  return {
    ...others,
    keep: keep.map(({ limits, restart, ...program }) => ({
      ...withoutEmpty(program),
      restart: withoutEmpty(restart),
      ...(limits && { limits: withoutEmpty(limits) }),
    })),
    whiteList: {
      ...whiteList,
      processPaths: whiteList.processPaths.map(
        ({ sha256 = [], envs = [], directories = [], ...entry }) => {
          const { args, limits, maxLimits, detached, ...others } = entry;
          return {
            ...withoutEmpty(others),
            ...(limits && { limits: withoutEmpty(limits) }),
            ...(maxLimits && { maxLimits: withoutEmpty(maxLimits) }),
            sha256,
            envs: envs[0] === 'any' ? 'any' : envs,
            // The cast is safe, because the schema has checked each argument and converted numbers and booleans to strings.
            ...(args !== undefined && { args: args as ArgumentRules }),
            directories,
            ...(detached && { detached: detachedOf(detached) }),
          };
        },
      ),
      proxyPorts: [...new Set(whiteList.proxyPorts)],
      proxyUdpPorts: [...new Set(whiteList.proxyUdpPorts)],
    },
    routes: { ...routes, allow: [...new Set(routes.allow)] },
    upgrade: {
      mode: upgrade.mode === 'watching' ? 'watching' : 'none',
      watchingPath: upgrade.watchingPath ?? defaultWatchingPath(platform),
      ...(upgrade.signedBy && {
        signedBy: upgrade.signedBy.flatMap(({ certificate: text, ...rest }) =>
          eachCertificate(text).map((certificate) => ({ certificate, ...withoutEmpty(rest) })),
        ),
      }),
      ...(upgrade.timestampedBy && {
        timestampedBy: upgrade.timestampedBy.flatMap(eachCertificate),
      }),
    },
  };
}

function detachedOf({
  restart,
  ...detached
}: NonNullable<FileContent['white_list']['processPaths'][number]['detached']>): DetachedRuns {
  return { ...detached, ...(restart && { restart: withoutEmpty(restart) }) };
}

/** A thumbprint stays one; each certificate of a PEM text becomes an entry of its own. */
function eachCertificate(text: string): readonly string[] {
  const blocks = certificatesIn(text);
  return blocks.length === 0 ? [text] : blocks;
}

type Renamed = typeof SETTING_NAMES;
type Named = Settled<{
  [Key in keyof FileContent as Key extends keyof Renamed ? Renamed[Key] : Key]: Settled<
    FileContent[Key]
  >;
}>;
/** The keys of the file, at any depth, for which the settings have no property. The forms of `args` are no keys. */
type Missing<File, Setting> = File extends readonly (infer FileItem)[]
  ? Setting extends readonly (infer Item)[]
    ? Missing<FileItem, Item>
    : never
  : File extends object
    ? Setting extends object
      ? {
          [Key in Exclude<keyof File & string, 'args'>]: Key extends keyof Setting
            ? Missing<NonNullable<File[Key]>, NonNullable<Setting[Key]>>
            : Key;
        }[Exclude<keyof File & string, 'args'>]
      : never
    : never;
type KeyWithoutSetting = Missing<Named, WinsConfig>;
type NoKey<Key extends never> = Key;

function named(file: FileContent, platform: NodeJS.Platform): Named {
  const names: Readonly<Record<string, string>> = SETTING_NAMES;
  const entries = Object.entries(withoutEmpty(file)).map(([key, value]) => {
    const isSection = fieldsOf(FILE_SCHEMA.shape[key as keyof FileContent]) !== undefined;
    return [names[key] ?? key, isSection ? placed(value as object, platform) : value] as const;
  });
  return Object.fromEntries(entries) as Named;
}

function placed(section: object, platform: NodeJS.Platform): object {
  const settled = Object.entries(withoutEmpty(section) as Readonly<Record<string, unknown>>).map(
    ([key, value]) => {
      const isPath = PATHS.has(key) && typeof value === 'string';
      const isSection = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (isSection) return [key, placed(value, platform)] as const;
      return [key, isPath ? onSystemDrive(value, platform) : value] as const;
    },
  );
  return Object.fromEntries(settled);
}

/** Installers write empty strings for unset values. */
function withoutEmpty<Section extends object>(section: Section): Settled<Section> {
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  return Object.fromEntries(Object.entries(section).filter(isSet)) as Settled<Section>;
}

type Settled<Section> = { [Key in keyof Section]: Exclude<Section[Key], undefined> };
