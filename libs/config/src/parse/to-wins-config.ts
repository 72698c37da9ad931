import type { FileContent } from '../schema/file-schema.js';
import { defaultWatchingPath } from '../default-config.js';
import type { ArgumentRules, WinsConfig } from '../wins-config.js';

/** Names the checked content of a file as the program does, and completes it. */
export function toWinsConfig(file: FileContent, platform: NodeJS.Platform): WinsConfig {
  const { white_list: whiteList, upgrade, systemagent } = file;
  const csiProxy = file['csi-proxy'];
  const tlsConfig = file['tls-config'];
  return {
    debug: file.debug,
    listen: file.listen,
    proxy: file.proxy,
    ...(file.pipeAccess !== undefined && { pipeAccess: file.pipeAccess }),
    processEnvironment: file.processEnvironment,
    whiteList: {
      processPaths: whiteList.processPaths.map(
        ({ sha256 = [], envs = [], directories = [], ...entry }) => ({
          path: entry.path,
          sha256,
          envs: envs[0] === 'any' ? 'any' : envs,
          // Words are texts by now, and each form is exactly one of the forms: the schema saw to it.
          ...(entry.args !== undefined && { args: entry.args as ArgumentRules }),
          directories,
          ...(entry.for !== undefined && { for: entry.for }),
          ...(entry.mayBreakAway !== undefined && { mayBreakAway: entry.mayBreakAway }),
          ...(entry.argv0 !== undefined && { argv0: entry.argv0 }),
        }),
      ),
      proxyPorts: [...new Set(whiteList.proxyPorts)],
    },
    tunnel: file.tunnel,
    routes: { allow: [...new Set(file.routes.allow)] },
    reflection: file.reflection,
    debugPipe: file.debugPipe,
    audit: withoutEmpty(file.audit),
    ...(file.metrics && { metrics: file.metrics }),
    ...(file.tracing && { tracing: file.tracing }),
    upgrade: {
      mode: upgrade.mode === 'watching' ? 'watching' : 'none',
      watchingPath: upgrade.watchingPath ?? defaultWatchingPath(platform),
    },
    ...(systemagent && { systemAgent: withoutEmpty(systemagent) }),
    ...(csiProxy && { csiProxy: withoutEmpty(csiProxy) }),
    ...(tlsConfig && { tlsConfig: withoutEmpty(tlsConfig) }),
    agentStrictTlsMode: file.agentStrictTLSMode,
  };
}

/** Leaves out what is not set, which installers also write as an empty text. */
function withoutEmpty<Section extends object>(section: Section): Settled<Section> {
  const entries = Object.entries(section).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  return Object.fromEntries(entries) as Settled<Section>;
}

type Settled<Section> = { [Key in keyof Section]: Exclude<Section[Key], undefined> };
